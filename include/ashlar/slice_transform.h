// SPDX-License-Identifier: Apache-2.0
//
// SliceTransform cuts a prefix out of a key, for prefix Bloom filters and prefix seeks. Its name is
// stored in tables; the function behind a name must never change.
//
// Implementations are called from many threads at once without locking and must not throw.
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

class ASHLAR_EXPORT SliceTransform : public Customizable {
 public:
  ~SliceTransform() override {}

  const char* Name() const override = 0;
  static const char* Type() { return "SliceTransform"; }

  // Makes a built-in transform from its name ("rocksdb.FixedPrefix.8", "fixed:8",
  // "rocksdb.CappedPrefix.8", "capped:8", "rocksdb.Noop"); an empty id or "nullptr" gives none. For
  // another name *result stays unset: OK if config_options.ignore_unsupported_options, else
  // NotSupported.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::shared_ptr<const SliceTransform>* result);

  // The text from which CreateFromString makes an equal transform.
  std::string AsString() const;

  // The prefix of key: part of its bytes, valid as long as they are. Only for keys in the domain.
  virtual Slice Transform(const Slice& key) const = 0;

  // Whether this key has a prefix.
  virtual bool InDomain(const Slice& key) const = 0;

  // True, and the length in *len, if every prefix has at most that length.
  virtual bool FullLengthEnabled(size_t* /*len*/) const { return false; }

  // True if Transform(prefix + any bytes) equals Transform(prefix).
  virtual bool SameResultWhenAppended(const Slice& /*prefix*/) const { return false; }
};

// The first prefix_len bytes; shorter keys have no prefix. "rocksdb.FixedPrefix.<n>".
ASHLAR_EXPORT const SliceTransform* NewFixedPrefixTransform(size_t prefix_len);
// The first cap_len bytes, or the whole of a shorter key. "rocksdb.CappedPrefix.<n>".
ASHLAR_EXPORT const SliceTransform* NewCappedPrefixTransform(size_t cap_len);
// The whole key. "rocksdb.Noop". The caller owns the result of all three.
ASHLAR_EXPORT const SliceTransform* NewNoopTransform();

}  // namespace ashlar
