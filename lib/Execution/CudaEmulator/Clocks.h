// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who knows of what: vector clocks over the threads of a block and over what runs beside them.
//
// An agent is whatever accesses memory by itself: a thread; the copies that a thread has started (cp.async); the
// products that a warpgroup has started; the copies that arrive at one mbarrier. Each agent's accesses have times that
// grow. A thread knows for each agent up to which time its accesses are done and visible. An access happened before
// what a thread does now if the thread knows its time. Barriers hand knowledge on.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_CLOCKS_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_CLOCKS_H

#include <cstdint>
#include <vector>

namespace mlir::attn::emulator {

using Agent = uint32_t;
using Time = uint32_t;

/// An access: whose and when. Time 0 is no access.
struct Moment {
  Time time = 0;
  Agent agent = 0;
};

/// What somebody knows: for each agent a time. Of what was written through the
/// generic proxy, `fenced` says what the asynchronous proxy sees too.
struct Knowledge {
  std::vector<Time> order;
  std::vector<Time> fenced;

  void clear();
  /// Know what `other` knows, too.
  void join(const Knowledge &other);
  /// Know only what `other` knows, too.
  void meet(const Knowledge &other);
  /// Know of `agent` up to `time`.
  void learn(Agent agent, Time time);
  bool knows(Moment moment) const {
    return moment.agent < order.size() && order[moment.agent] >= moment.time;
  }
  bool sees(Moment moment) const {
    return moment.agent < fenced.size() && fenced[moment.agent] >= moment.time;
  }
};

/// The clocks of a block. The first agents are its threads.
class Clocks {
public:
  /// Start a block of `threads` threads that know nothing of each other.
  void reset(unsigned threads);

  /// Return a new agent that is no thread.
  Agent addAgent() { return nextAgent++; }

  unsigned getThreads() const { return static_cast<unsigned>(known.size()); }
  const Knowledge &get(unsigned thread) const { return known[thread]; }

  /// Return the moment at which `thread` does something now.
  Moment now(unsigned thread) const {
    return {known[thread].order[thread], static_cast<Agent>(thread)};
  }

  /// Hand to `to` what `thread` knows and has done. What it does from here on is
  /// not in it.
  void release(unsigned thread, Knowledge &to);
  /// Let `thread` know what is in `from`.
  void acquire(unsigned thread, const Knowledge &from);
  void learn(unsigned thread, Agent agent, Time time) {
    known[thread].learn(agent, time);
  }
  /// Let the asynchronous proxy see all that `thread` knows of.
  void fence(unsigned thread);

private:
  std::vector<Knowledge> known;
  Agent nextAgent = 0;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_CLOCKS_H
