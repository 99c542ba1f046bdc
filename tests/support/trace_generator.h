// SPDX-License-Identifier: Apache-2.0
//
// Draws legal traces from a seed. It knows which objects exist and which keys may be single-deleted
// (keys that begin with "sd", with at most one live version), but nothing else. Threads: one at a
// time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/trace.h"
#include "util/random.h"

namespace ashlar {

struct TraceProfile {
  unsigned pool_keys = 200;
  uint32_t max_value = 40000;
  unsigned sync_percent = 5;
  unsigned no_wal_percent = 0;
  bool has_iterators = true;  // and snapshots
  bool has_reads = true;
  bool has_families = true;  // families are created and dropped
  bool has_reopen = true;
  bool has_set_options = true;
  bool has_copies = false;   // checkpoints, read-only openings
  bool has_pauses = false;   // pauses of background work, jumps of the clock
  bool has_crashes = false;  // reopening the files that a crash left
  bool has_merges = false;
  bool has_failing_merges = false;   // not with crashes: a crash during one would leave its key
  bool has_hidden_failures = false;  // operands that fail, deleted in the same batch
  bool has_big_ones = false;         // keys of 70 KB, values larger than a memtable
};

class TraceGenerator {
 public:
  TraceGenerator(uint64_t seed, const TraceProfile& profile);
  TraceOp Next();

 private:
  std::string Key();
  std::string SingleKey();
  ValueSpec Value();
  int Family();
  BatchPart Part();
  void FillRead(TraceOp* op);
  void FillReadOfFamilies(TraceOp* op);
  void FillPrefixScan(TraceOp* op);
  void FillIter(TraceOp* op);
  bool FillObject(TraceOp* op);
  bool FillFamilyChange(TraceOp* op);
  void FillStructure(TraceOp* op);
  bool Fill(TraceOp* op);
  std::string SetOption();
  std::string SetDbOption();
  void ForgetObjects();

  Random64 random_;
  const TraceProfile profile_;
  std::vector<std::pair<OpKind, unsigned>> weights_;
  unsigned total_weight_ = 0;
  std::vector<std::string> pool_;
  std::vector<int> families_ = {0};
  int next_family_ = 1;
  std::vector<int> iterators_, snapshots_;
  int next_object_ = 1;
  uint32_t next_tag_ = 1;
  int crashes_ = 0;
  std::set<std::pair<int, std::string>> live_single_;  // keys that may be single-deleted
};

}  // namespace ashlar
