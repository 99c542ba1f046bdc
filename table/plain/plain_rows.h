// SPDX-License-Identifier: Apache-2.0
//
// RocksDB's PlainTable, read row by row: docs/formats/plain_table.md.
//
//   rows | Bloom block | index block | properties | metaindex | footer
//
// The format has no checksums, so a damaged file may only show in rows that cannot be parsed. Every
// length is checked. Threads: values and pure functions; a PlainRows for one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "util/result.h"

namespace ashlar {

class RandomReader;

// How the rows of a file are stored.
struct PlainRowFormat {
  // False: every row has its whole key. True: rows of one prefix store it once.
  bool shares_prefixes = false;
  // Bytes of every user key, which the rows then do not store; 0: keys have different lengths.
  // Without meaning if prefixes are shared.
  uint32_t fixed_key_bytes = 0;
};

// From the properties of the table. NotSupported: an unknown encoding.
Result<PlainRowFormat> PlainRowFormatOf(const RandomReader& file,
                                        const TableProperties& properties);

class PlainRows {
 public:
  // `rows` outlives the object.
  PlainRows(const Slice& rows, const PlainRowFormat& format) : rows_(rows), format_(format) {}

  // Moves to the next row. False at the end, and after damage.
  bool Next();
  // The internal key; valid until the next call of Next().
  Slice key() const { return key_; }
  Slice value() const { return value_; }
  // OK, or Corruption that names the offset and not the file.
  const Status& status() const { return status_; }

 private:
  bool Fail(std::string_view what);
  // Each takes a part of the row from rest_. The user key is put into key_.
  bool TakeUserKey(Slice* rest);
  bool TakeSharedKey(Slice* rest);
  bool TakeTrailer(Slice* rest);
  // A control byte: the kind, and a number of bytes.
  bool TakeControl(Slice* rest, uint8_t* kind, uint32_t* bytes);

  const Slice rows_;
  const PlainRowFormat format_;
  size_t offset_ = 0;  // of the next row
  std::string key_;
  std::string full_key_;     // the last user key that was stored whole, if prefixes are shared
  size_t prefix_bytes_ = 0;  // of it, with which the rows behind it begin
  bool has_prefix_ = false;  // such a row was met
  Slice value_;
  Status status_;
};

}  // namespace ashlar
