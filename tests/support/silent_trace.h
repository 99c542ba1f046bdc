// SPDX-License-Identifier: Apache-2.0
//
// A trace that records nothing; tests override the functions that they need.
#pragma once

#include <cstddef>

#include "table/iterator/read_trace.h"

namespace ashlar {

class SilentTrace : public ReadTrace {
 public:
  void EnterMemTable(const MemTablePlace&) override {}
  void EnterTable(const Table&) override {}
  void OnRowFound() override {}
  void OnBlock(const Block&) override {}
  void OnTombstone(const Tombstone&) override {}
  void OnFilter(bool, bool) override {}
  void BeginLookup(const PointLookup&) override {}
  void EndLookup(const PointLookup&) override {}
  void AddRun(size_t, const MemTablePlace*) override {}
  void EnterRun(size_t) override {}
  void OnEntryShown(const Slice&) override {}
  void OnEntryLeft(const Slice&) override {}
};

}  // namespace ashlar
