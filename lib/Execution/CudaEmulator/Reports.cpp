// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects what goes wrong, and says often repeated things once.

#include "Reports.h"

using namespace mlir::attn::emulator;

void Reports::add(const std::string &kind, Site site, Site other,
                  std::string text) {
  std::lock_guard<std::mutex> lock(mutex);
  Key key(kind, site, other);
  auto place = places.find(key);
  if (place != places.end()) {
    ++entries[place->second].count;
    return;
  }
  if (entries.size() >= most) {
    ++others;
    return;
  }
  places[key] = entries.size();
  entries.push_back({kind + ": " + std::move(text), 1});
}

std::string Reports::describe(Site site) const {
  return site < sites.size() ? sites[site] : "an unknown place";
}

std::vector<std::string> Reports::take() {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<std::string> texts;
  for (Entry &entry : entries) {
    if (entry.count > 1)
      entry.text += " (" + std::to_string(entry.count) + " times)";
    texts.push_back(std::move(entry.text));
  }
  if (others > 0)
    texts.push_back("more: " + std::to_string(others) +
                    " problems at other places");
  entries.clear();
  places.clear();
  others = 0;
  return texts;
}
