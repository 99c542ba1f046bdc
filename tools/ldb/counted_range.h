// SPDX-License-Identifier: Apache-2.0
//
// CountedRange counts what dump and idump pass: all of it, or key by key up to a delimiter, as
// --count_only and --count_delim ask. Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ashlar/slice.h"
#include "tools/ldb/command.h"
#include "util/result.h"
#include "util/statistics/histogram.h"

namespace ashlar {

class CountedRange {
 public:
  // `call` outlives the object. InvalidArgument for a delimiter of more than one character.
  static Result<CountedRange> For(const Invocation& call);

  // Whether entries are printed one by one.
  bool prints_entries() const { return !only_counts_ && !delimiter_.has_value(); }
  bool only_counts() const { return only_counts_; }
  const Histogram& value_bytes() const { return value_bytes_; }

  // Keys that share what comes before the delimiter, and follow each other, are printed as one line
  // when another one begins.
  void Add(const Slice& user_key, const Slice& value);
  // Prints the last of those lines or, without a delimiter, the number of all.
  void Finish(const char* what_in_range);

 private:
  explicit CountedRange(const Invocation& call) : call_(&call) {}
  void PrintGroup();

  const Invocation* call_;
  std::optional<char> delimiter_;
  bool only_counts_ = false;
  uint64_t count_ = 0;
  Histogram value_bytes_;
  // Of keys that begin alike.
  std::string group_;
  uint64_t group_count_ = 0;
  uint64_t group_bytes_ = 0;
};

}  // namespace ashlar
