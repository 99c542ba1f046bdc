// SPDX-License-Identifier: Apache-2.0
//
// Comparator gives the order of user keys. Its name is stored in the database and must be the same
// at every open; the order behind a name must never change.
//
// Implementations are called from many threads at once without locking, must not throw, and must
// outlive every database that uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

struct ConfigOptions;

class ASHLAR_EXPORT CompareInterface {
 public:
  virtual ~CompareInterface() {}

  // Negative, zero or positive as a sorts before, equals or sorts after b: a strict weak order.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;
};

class ASHLAR_EXPORT Comparator : public Customizable, public CompareInterface {
 public:
  Comparator() : timestamp_size_(0) {}
  // ts_sz: bytes of user timestamp at the end of every key; 0 for none.
  Comparator(size_t ts_sz) : timestamp_size_(ts_sz) {}  // NOLINT: implicit in the compatible API
  Comparator(const Comparator& orig) : timestamp_size_(orig.timestamp_size_) {}
  Comparator& operator=(const Comparator& rhs) {
    timestamp_size_ = rhs.timestamp_size_;
    return *this;
  }
  ~Comparator() override {}

  // Finds a built-in comparator by name; an empty id gives null. For an unknown name *comp stays
  // unset: OK if opts.ignore_unsupported_options, else NotSupported.
  static Status CreateFromString(const ConfigOptions& opts, const std::string& id,
                                 const Comparator** comp);
  static const char* Type() { return "Comparator"; }

  // Names that begin with "rocksdb." are reserved.
  const char* Name() const override = 0;

  // Same as Compare(a, b) == 0; override it if that can be had cheaper.
  virtual bool Equal(const Slice& a, const Slice& b) const { return Compare(a, b) == 0; }

  // May shorten *start to any key in [*start, limit). Doing nothing is correct.
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;
  // May shorten *key to any key >= *key. Doing nothing is correct.
  virtual void FindShortSuccessor(std::string* key) const = 0;

  // True if t has the length of s and no other key of that length sorts between them. Used by
  // ReadOptions::auto_prefix_mode; false is always correct.
  virtual bool IsSameLengthImmediateSuccessor(const Slice& /*s*/, const Slice& /*t*/) const {
    return false;
  }

  // False promises that equal keys have equal bytes, which permits indexes by hash.
  virtual bool CanKeysWithDifferentByteContentsBeEqual() const { return true; }

  // The comparator behind a wrapper; itself without one.
  virtual const Comparator* GetRootComparator() const { return this; }

  size_t timestamp_size() const { return timestamp_size_; }

  // The largest and smallest timestamp; empty without timestamps.
  virtual Slice GetMaxTimestamp() const;
  virtual Slice GetMinTimestamp() const;
  // For messages. Empty without timestamps.
  virtual std::string TimestampToString(const Slice& /*timestamp*/) const { return ""; }

  // Order two keys without regard to their timestamps. The flags say whether a key has one.
  int CompareWithoutTimestamp(const Slice& a, const Slice& b) const {
    return CompareWithoutTimestamp(a, /*a_has_ts=*/true, b, /*b_has_ts=*/true);
  }
  virtual int CompareWithoutTimestamp(const Slice& a, bool /*a_has_ts*/, const Slice& b,
                                      bool /*b_has_ts*/) const {
    return Compare(a, b);
  }

  // Order two timestamps; newer is greater.
  virtual int CompareTimestamp(const Slice& /*ts1*/, const Slice& /*ts2*/) const { return 0; }

  virtual bool EqualWithoutTimestamp(const Slice& a, const Slice& b) const {
    return CompareWithoutTimestamp(a, /*a_has_ts=*/true, b, /*b_has_ts=*/true) == 0;
  }

 private:
  size_t timestamp_size_;
};

// Unsigned bytes, ascending: "leveldb.BytewiseComparator", the default order. These four are
// singletons of the process and must not be deleted.
ASHLAR_EXPORT const Comparator* BytewiseComparator();
// The opposite order: "rocksdb.ReverseBytewiseComparator".
ASHLAR_EXPORT const Comparator* ReverseBytewiseComparator();

// The same two orders for keys that end with an 8-byte timestamp; for equal keys the newer
// timestamp comes first. Names as above with ".u64ts" added. Timestamps are not built yet: a
// database with one of these is refused with NotSupported.
ASHLAR_EXPORT const Comparator* BytewiseComparatorWithU64Ts();
ASHLAR_EXPORT const Comparator* ReverseBytewiseComparatorWithU64Ts();

// Timestamps of those comparators: 64-bit little-endian numbers. DecodeU64Ts returns
// InvalidArgument unless ts has 8 bytes; EncodeU64Ts writes to *ts_buf and refers to it; the slices
// of the last two are valid for ever.
ASHLAR_EXPORT Status DecodeU64Ts(const Slice& ts, uint64_t* int_ts);
ASHLAR_EXPORT Slice EncodeU64Ts(uint64_t ts, std::string* ts_buf);
ASHLAR_EXPORT Slice MaxU64Ts();
ASHLAR_EXPORT Slice MinU64Ts();

}  // namespace ashlar
