// SPDX-License-Identifier: Apache-2.0
//
// WantedPrefix says that an iterator, since its last seek, wants entries of one prefix only, so
// that tables without it may be spared: ReadOptions::prefix_same_as_start and auto_prefix_mode.
//
// The DB iterator owns it and sets it with each seek; the level iterators below ask it. What holds
// for one direction need not hold for the other: an upper bound next to the prefix says nothing
// about the entries in front of it. Keys of a prefix lie side by side, as extractors promise.
// Threads: those of the iterator.
#pragma once

#include <string>

#include "ashlar/slice.h"

namespace ashlar {

class Comparator;
class SliceTransform;
struct ReadOptions;

class WantedPrefix {
 public:
  // Whether a reader with these options ever wants a single prefix.
  static bool IsUsedBy(const ReadOptions& options);

  // All entries are wanted.
  void Clear() { extractor_ = nullptr; }
  // A seek to the user key begins, which stays wherever the options let it. The extractor, null for
  // none, outlives what is set here; so do the bounds of the options.
  void Set(const SliceTransform* extractor, const Slice& target, const ReadOptions& options,
           const Comparator* comparator);

  // Whether of the entries at or behind this user key (at or in front of it) only those of the
  // prefix are wanted, which then is this key's too.
  bool HoldsFrom(const Slice& user_key) const {
    return extractor_ != nullptr && holds_forwards_ && Has(user_key);
  }
  bool HoldsBefore(const Slice& user_key) const {
    return extractor_ != nullptr && holds_backwards_ && Has(user_key);
  }
  // Whether the key has another prefix. Of one that has none nothing can be said.
  bool IsElsewhere(const Slice& user_key) const;
  bool Has(const Slice& user_key) const;

  // Not null while anything HoldsFrom() or HoldsBefore() a key.
  const SliceTransform* extractor() const { return extractor_; }
  const std::string& prefix() const { return prefix_; }

 private:
  const SliceTransform* extractor_ = nullptr;  // null: all entries are wanted
  std::string prefix_;
  bool holds_forwards_ = false;
  bool holds_backwards_ = false;
};

}  // namespace ashlar
