// SPDX-License-Identifier: Apache-2.0
//
// Comparator defines the order of user keys. Its name is stored in the database and must be the
// same at every open; the order of a comparator with a given name must never change.
//
// Implementations are called from many threads at the same time without locking, must not throw,
// and must outlive every database that uses them.
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

// The part of Comparator that compares.
class ASHLAR_EXPORT CompareInterface {
 public:
  virtual ~CompareInterface() {}

  // Returns a negative number, zero or a positive number if `a` sorts before, equals or sorts after
  // `b`. Must be a strict weak order.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;
};

// An order of user keys.
class ASHLAR_EXPORT Comparator : public Customizable, public CompareInterface {
 public:
  Comparator() : timestamp_size_(0) {}
  // ts_sz: number of bytes of the user timestamp at the end of every key; 0 = no timestamps.
  Comparator(size_t ts_sz) : timestamp_size_(ts_sz) {}  // NOLINT: implicit in the compatible API
  Comparator(const Comparator& orig) : timestamp_size_(orig.timestamp_size_) {}
  Comparator& operator=(const Comparator& rhs) {
    timestamp_size_ = rhs.timestamp_size_;
    return *this;
  }
  ~Comparator() override {}

  // Returns the built-in comparator with this name; nullptr for an empty id. For an unknown name
  // *comp is not changed, and the status is OK if opts.ignore_unsupported_options is set, else
  // NotSupported.
  static Status CreateFromString(const ConfigOptions& opts, const std::string& id,
                                 const Comparator** comp);
  static const char* Type() { return "Comparator"; }

  // The name to be stored. Names that begin with "rocksdb." are reserved.
  const char* Name() const override = 0;

  // Must return Compare(a, b) == 0. Override it if that can be computed faster.
  virtual bool Equal(const Slice& a, const Slice& b) const { return Compare(a, b) == 0; }

  // May replace *start by a shorter key in [*start, limit). It is correct to do nothing.
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;
  // May replace *key by a shorter key >= *key. It is correct to do nothing.
  virtual void FindShortSuccessor(std::string* key) const = 0;

  // Returns true if `t` has the same length as `s` and no other key of that length sorts between
  // them. Used for ReadOptions::auto_prefix_mode. It is always correct to return false.
  virtual bool IsSameLengthImmediateSuccessor(const Slice& /*s*/, const Slice& /*t*/) const {
    return false;
  }

  // If it returns false, keys that compare equal must have the same bytes; this allows hash
  // indexes.
  virtual bool CanKeysWithDifferentByteContentsBeEqual() const { return true; }

  // The comparator inside a wrapper; this object if it is not a wrapper.
  virtual const Comparator* GetRootComparator() const { return this; }

  // Number of bytes of the user timestamp; 0 = no timestamps.
  size_t timestamp_size() const { return timestamp_size_; }

  // The largest and the smallest timestamp; empty if there are no timestamps.
  virtual Slice GetMaxTimestamp() const;
  virtual Slice GetMinTimestamp() const;
  // Formats a timestamp for messages. Empty if there are no timestamps.
  virtual std::string TimestampToString(const Slice& /*timestamp*/) const { return ""; }

  // Compare two keys without their timestamps. The flags tell whether a key has one.
  int CompareWithoutTimestamp(const Slice& a, const Slice& b) const {
    return CompareWithoutTimestamp(a, /*a_has_ts=*/true, b, /*b_has_ts=*/true);
  }
  virtual int CompareWithoutTimestamp(const Slice& a, bool /*a_has_ts*/, const Slice& b,
                                      bool /*b_has_ts*/) const {
    return Compare(a, b);
  }

  // Compares two timestamps. The newer one is greater.
  virtual int CompareTimestamp(const Slice& /*ts1*/, const Slice& /*ts2*/) const { return 0; }

  virtual bool EqualWithoutTimestamp(const Slice& a, const Slice& b) const {
    return CompareWithoutTimestamp(a, /*a_has_ts=*/true, b, /*b_has_ts=*/true) == 0;
  }

 private:
  size_t timestamp_size_;
};

// Ascending order of unsigned bytes, the default: "leveldb.BytewiseComparator". These four
// comparators are singletons and must not be deleted.
ASHLAR_EXPORT const Comparator* BytewiseComparator();
// The reverse order: "rocksdb.ReverseBytewiseComparator".
ASHLAR_EXPORT const Comparator* ReverseBytewiseComparator();

// The same two orders for keys that end with an 8-byte timestamp; if two keys are equal, the one
// with the newer timestamp sorts first. Their names are the names above with the suffix ".u64ts".
// With them every write and every read needs a timestamp. Each key should be written with
// timestamps that do not decrease.
ASHLAR_EXPORT const Comparator* BytewiseComparatorWithU64Ts();
ASHLAR_EXPORT const Comparator* ReverseBytewiseComparatorWithU64Ts();

// Functions for the timestamps of these comparators, which are 64-bit little-endian numbers.
// DecodeU64Ts() returns InvalidArgument unless `ts` has 8 bytes. EncodeU64Ts() writes to *ts_buf
// and returns a slice of it. The results of the last two functions are always valid.
ASHLAR_EXPORT Status DecodeU64Ts(const Slice& ts, uint64_t* int_ts);
ASHLAR_EXPORT Slice EncodeU64Ts(uint64_t ts, std::string* ts_buf);
ASHLAR_EXPORT Slice MaxU64Ts();
ASHLAR_EXPORT Slice MinU64Ts();

}  // namespace ashlar
