// SPDX-License-Identifier: Apache-2.0
//
// LengthFirstComparator is an order that the head of a key cannot express, for tests of the
// memtable.
#pragma once

#include <string>

#include "ashlar/comparator.h"

namespace ashlar {

// Orders keys by length, then bytewise.
class LengthFirstComparator : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : +1;
    return a.compare(b);
  }
  const char* Name() const override { return "test.LengthFirst"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};
inline const LengthFirstComparator kLengthFirst;

}  // namespace ashlar
