// SPDX-License-Identifier: Apache-2.0
//
// Extensions of a program for the walk over all counters: a comparator, a merge operator, a
// compaction filter, and a listener that interferes.
#pragma once

#include <functional>
#include <semaphore>
#include <string>

#include "ashlar/compaction_filter.h"
#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"

namespace ashlar {

class OwnOrder final : public Comparator {
 public:
  const char* Name() const override { return "OwnOrder"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class NeverMerges final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "NeverMerges"; }
  bool Merge(const Slice&, const Slice*, const Slice&, std::string*, Logger*) const override {
    return false;
  }
};

class DropsOneKey final : public CompactionFilter {
 public:
  explicit DropsOneKey(const std::string& key) : key_(key) {}
  const char* Name() const override { return "DropsOneKey"; }
  bool Filter(int, const Slice& key, const Slice&, std::string*, bool*) const override {
    return key == key_;
  }

 private:
  const std::string key_;
};

// Calls a function when a compaction begins.
class CompactionHook final : public EventListener {
 public:
  void OnCompactionBegin(DB* db, const CompactionJobInfo&) override {
    if (on_begin) on_begin(db);
  }
  void OnErrorRecoveryCompleted(Status) override { recovered.release(); }
  std::binary_semaphore recovered{0};
  std::function<void(DB*)> on_begin;  // changed only while no compaction runs
};

}  // namespace ashlar
