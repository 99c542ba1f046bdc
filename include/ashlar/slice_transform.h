// SPDX-License-Identifier: Apache-2.0
//
// SliceTransform extracts a prefix from a key, for prefix Bloom filters and prefix seeks. Its name
// is stored in tables; the function with a given name must never change.
//
// Implementations are called from many threads at the same time without locking, and must not
// throw.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

struct ConfigOptions;

// Programs may implement it or use one of the functions below.
class ASHLAR_EXPORT SliceTransform : public Customizable {
 public:
  ~SliceTransform() override {}

  const char* Name() const override = 0;
  static const char* Type() { return "SliceTransform"; }

  // Creates a built-in transform from its name ("rocksdb.FixedPrefix.8", "fixed:8",
  // "rocksdb.CappedPrefix.8", "capped:8", "rocksdb.Noop"). An empty id or "nullptr" gives nullptr.
  // For any other name *result is not changed, and the status is OK if
  // config_options.ignore_unsupported_options is set, else NotSupported.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::shared_ptr<const SliceTransform>* result);

  // Returns a text from which CreateFromString() creates an equal transform.
  std::string AsString() const;

  // Returns the prefix of `key`, which points into its bytes. Only allowed if InDomain(key).
  virtual Slice Transform(const Slice& key) const = 0;

  // Whether `key` has a prefix.
  virtual bool InDomain(const Slice& key) const = 0;

  // Returns true if all prefixes have a maximum length, which is stored in *len.
  virtual bool FullLengthEnabled(size_t* /*len*/) const { return false; }

  // Never called. Kept so that programs which override it, as older releases demanded, compile.
  virtual bool InRange(const Slice& /*dst*/) const { return false; }

  // Returns true if Transform(prefix + any bytes) is always equal to Transform(prefix).
  virtual bool SameResultWhenAppended(const Slice& /*prefix*/) const { return false; }
};

// The first prefix_len bytes of a key; shorter keys have no prefix. Name:
// "rocksdb.FixedPrefix.<n>". The caller owns the result of these three functions.
ASHLAR_EXPORT const SliceTransform* NewFixedPrefixTransform(size_t prefix_len);
// The first cap_len bytes of a key, or the whole key if it is shorter. Name:
// "rocksdb.CappedPrefix.<n>".
ASHLAR_EXPORT const SliceTransform* NewCappedPrefixTransform(size_t cap_len);
// The whole key. Name: "rocksdb.Noop".
ASHLAR_EXPORT const SliceTransform* NewNoopTransform();

}  // namespace ashlar
