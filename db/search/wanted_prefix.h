// SPDX-License-Identifier: Apache-2.0
//
// WantedPrefix holds the prefix to which an iterator is limited since its last seek
// (ReadOptions::prefix_same_as_start and auto_prefix_mode), so that tables without this prefix can
// be skipped.
//
// The DB iterator owns it and sets it with each seek; the level iterators read it. The limit may
// hold in one direction only: an upper bound at the end of the prefix does not limit the entries
// before the prefix. Keys with the same prefix are adjacent in the key order, as the contract of
// SliceTransform requires. Threads: those of the iterator.
#pragma once

#include <string>

#include "ashlar/slice.h"

namespace ashlar {

class Comparator;
class SliceTransform;
struct ReadOptions;

// Whether both find the same prefixes: their texts with all parameters are equal, or both are null.
bool IsSameExtractor(const SliceTransform* a, const SliceTransform* b);

class WantedPrefix {
 public:
  // Whether these options can limit an iterator to a single prefix.
  static bool IsUsedBy(const ReadOptions& options);

  // Removes the limit: all entries are wanted.
  void Clear() { extractor_ = nullptr; }
  // Called when a seek to the user key `target` begins; sets the limit if the options allow it. The
  // extractor (null for none) and the bounds in the options outlive this setting.
  void Set(const SliceTransform* extractor, const Slice& target, const ReadOptions& options,
           const Comparator* comparator);

  // Whether, among the entries at or after (HoldsBefore: at or before) this user key, only those
  // with the prefix are wanted. If so, this key has the prefix too.
  bool HoldsFrom(const Slice& user_key) const {
    return extractor_ != nullptr && holds_forwards_ && Has(user_key);
  }
  bool HoldsBefore(const Slice& user_key) const {
    return extractor_ != nullptr && holds_backwards_ && Has(user_key);
  }
  // Whether the key has a different prefix. False for a key outside the extractor's domain.
  bool IsElsewhere(const Slice& user_key) const;
  // Whether the key has the prefix. Precondition: a limit is set.
  bool Has(const Slice& user_key) const;

  // Not null if HoldsFrom() or HoldsBefore() is true for any key.
  const SliceTransform* extractor() const { return extractor_; }
  const std::string& prefix() const { return prefix_; }

 private:
  const SliceTransform* extractor_ = nullptr;  // null: all entries are wanted
  std::string prefix_;
  bool holds_forwards_ = false;  // see HoldsFrom() and HoldsBefore()
  bool holds_backwards_ = false;
};

}  // namespace ashlar
