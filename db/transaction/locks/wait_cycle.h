// SPDX-License-Identifier: Apache-2.0
//
// FindCycle() searches for a deadlock in the graph of owners and those they wait for. It is a
// function of the graph alone, so point locks and range locks share it.
#pragma once

#include <cstdint>
#include <vector>

#include "db/transaction/locks/key_locks.h"

namespace ashlar {

// An owner that waits, and where: `part` is for the graph only.
struct WaitNode {
  TransactionID id = 0;
  uint32_t part = 0;
};

class WaitGraph {
 public:
  virtual ~WaitGraph() = default;
  // Appends the owners for which this one waits, as far as they wait themselves. False: it does
  // not wait there any more. `detects` is set to whether it may be the victim of a deadlock.
  virtual bool GetBlockers(const WaitNode& waiting, bool* detects,
                           std::vector<WaitNode>* blockers) = 0;
};

struct WaitCycle {
  enum class Kind { kNone, kFound, kTooLong };
  Kind kind = Kind::kNone;
  // kFound: `start` first; each one waits for the next one, the last one for the first.
  std::vector<WaitNode> path;
};

// Searches breadth first from `start` for a cycle through it of which a member detects deadlocks.
// A part of the path that is a cycle by itself counts too; then `start` is not in it. kTooLong:
// there are more than `depth` owners to visit.
//
// The graph may change during the search; the caller checks that a cycle exists.
WaitCycle FindCycle(WaitGraph* graph, const WaitNode& start, int64_t depth);

}  // namespace ashlar
