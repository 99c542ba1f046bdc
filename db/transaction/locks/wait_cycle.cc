// SPDX-License-Identifier: Apache-2.0
//
// A search visits an owner at most twice: as the end of a path without a member that detects
// deadlocks, and of one with such a member.
//
// `depth` bounds the number of visits, and with it the time that the search holds the mutex of its
// caller. The path to a visit is found backwards, through the index of the visit that led to it.
#include "db/transaction/locks/wait_cycle.h"

#include <algorithm>
#include <unordered_set>

namespace ashlar {

namespace {

class CycleSearch {
 public:
  CycleSearch(WaitGraph* graph, const WaitNode& start, int64_t depth)
      : graph_(graph), depth_(depth) {
    visits_.push_back({start, 0, false});
  }

  // Visits are made in the order in which they were added, so shorter cycles are found first.
  WaitCycle Run() {
    std::vector<WaitNode> blockers;
    for (size_t i = 0; i < visits_.size(); i++) {
      if (static_cast<int64_t>(i) > depth_) return {WaitCycle::Kind::kTooLong, {}};
      blockers.clear();
      bool detects = false;
      if (!graph_->GetBlockers(visits_[i].node, &detects, &blockers)) {
        // The owner from which the search began does not wait any more: there is no deadlock to
        // find.
        if (i == 0) return {};
        continue;
      }
      visits_[i].detects |= detects;
      for (const WaitNode& blocker : blockers) {
        if (blocker.id != visits_[0].node.id) {
          Add(blocker, i);
        } else if (visits_[i].detects) {
          if (static_cast<int64_t>(i) >= depth_) return {WaitCycle::Kind::kTooLong, {}};
          return {WaitCycle::Kind::kFound, PathTo(i)};
        }
      }
    }
    return {};
  }

 private:
  struct Visit {
    WaitNode node;
    size_t from;   // index of the visit that led here
    bool detects;  // it or one before it on the path
  };

  // An owner that was reached with a detecting member on the path needs no second visit; one that
  // was reached without may be visited once more, with.
  void Add(const WaitNode& node, size_t from) {
    const bool detects = visits_[from].detects;
    if (seen_[1].contains(node.id) || (!detects && seen_[0].contains(node.id))) return;
    seen_[detects].insert(node.id);
    visits_.push_back({node, from, detects});
  }

  // A path that visits an owner twice has a cycle between the two visits, which is returned: only
  // a member that detects deadlocks, between the visits, leads to an owner for a second time.
  std::vector<WaitNode> PathTo(size_t last) const {
    std::vector<WaitNode> path;
    for (size_t i = last;; i = visits_[i].from) {
      const WaitNode& node = visits_[i].node;
      const auto twice = std::find_if(path.begin(), path.end(),
                                      [&](const WaitNode& one) { return one.id == node.id; });
      if (twice != path.end()) {
        path.erase(path.begin(), twice);
        break;
      }
      path.push_back(node);
      if (i == 0) break;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  WaitGraph* const graph_;
  const int64_t depth_;
  std::vector<Visit> visits_;
  // [0]: reached by a path on which no member detects deadlocks; [1]: by one with such a member.
  std::unordered_set<TransactionID> seen_[2];
};

}  // namespace

WaitCycle FindCycle(WaitGraph* graph, const WaitNode& start, int64_t depth) {
  return CycleSearch(graph, start, depth).Run();
}

}  // namespace ashlar
