// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector clocks. They are as long as the highest agent that somebody has heard of.

#include "Clocks.h"

#include <algorithm>

using namespace mlir::attn::emulator;

/// Raise each time in `to` to that in `from`.
static void raise(std::vector<Time> &to, const std::vector<Time> &from) {
  if (to.size() < from.size())
    to.resize(from.size(), 0);
  Time *into = to.data();
  const Time *out = from.data();
  size_t count = from.size();
  for (size_t i = 0; i < count; ++i)
    into[i] = into[i] < out[i] ? out[i] : into[i];
}

/// Lower each time in `to` to that in `from`.
static void lower(std::vector<Time> &to, const std::vector<Time> &from) {
  if (to.size() > from.size())
    to.resize(from.size());
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = std::min(to[i], from[i]);
}

void Knowledge::clear() {
  order.clear();
  fenced.clear();
}

void Knowledge::join(const Knowledge &other) {
  raise(order, other.order);
  if (!other.fenced.empty())
    raise(fenced, other.fenced);
}

void Knowledge::meet(const Knowledge &other) {
  lower(order, other.order);
  lower(fenced, other.fenced);
}

void Knowledge::learn(Agent agent, Time time) {
  if (order.size() <= agent)
    order.resize(agent + 1, 0);
  order[agent] = std::max(order[agent], time);
}

void Clocks::reset(unsigned threads) {
  known.resize(threads);
  for (unsigned i = 0; i < threads; ++i) {
    known[i].fenced.clear();
    known[i].order.assign(threads, 0);
    known[i].order[i] = 1;
  }
  nextAgent = static_cast<Agent>(threads);
}

void Clocks::release(unsigned thread, Knowledge &to) {
  to.join(known[thread]);
  ++known[thread].order[thread];
}

void Clocks::acquire(unsigned thread, const Knowledge &from) {
  known[thread].join(from);
}

void Clocks::fence(unsigned thread) {
  raise(known[thread].fenced, known[thread].order);
  // What the thread writes after the fence is not covered by it.
  ++known[thread].order[thread];
}
