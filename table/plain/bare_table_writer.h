// SPDX-License-Identifier: Apache-2.0
//
// BareTableWriter turns entries into the bytes of a PlainTable or a CuckooTable:
// docs/formats/plain_table.md.
//
// It knows no file: rows, and the blocks behind them, are appended to strings, and the properties
// are set in a struct. TableBuilder writes them, and adds the properties, the metaindex and the
// footer. Errors are final: nothing can be added after one. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/table.h"
#include "table/plain/bare_table.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class SliceTransform;

// A kind of tables with its options. Only the options of the kind have a meaning.
struct BareTableFormat {
  BareTableKind kind = BareTableKind::kNone;  // kNone: tables with blocks
  PlainTableOptions plain;
  CuckooTableOptions cuckoo;
  // Outlives all writers; null: none. Only PlainTables use it.
  const SliceTransform* prefix_extractor = nullptr;
  // ColumnFamilyOptions::bloom_locality. If it is not 0, a Bloom filter has its bits of one key in
  // one cache line.
  uint32_t bloom_locality = 0;

  bool is_bare() const { return kind != BareTableKind::kNone; }
  const char* name() const;  // the name of the factory, for messages
};

// InvalidArgument that names an option with which no table can be written.
Status CheckBareFormat(const BareTableFormat& format);

// Whether a table of this format can hold an entry of this type with a user key of this size.
// NotSupported: the format has no such entries. InvalidArgument: the options exclude the key.
Status CheckBareEntry(const BareTableFormat& format, ValueType type, size_t user_key_bytes);

// A block behind the rows, with the name under which the metaindex lists it.
struct BareMetaBlock {
  std::string_view name;
  std::string contents;
};

class BareTableWriter {
 public:
  virtual ~BareTableWriter() = default;
  // `format` is a bare one and passes CheckBareFormat().
  static std::unique_ptr<BareTableWriter> Make(const BareTableFormat& format);

  // Adds an entry, which must sort behind all earlier ones, and appends to `rows` what can be
  // written already. NotSupported or InvalidArgument: a table of this format cannot hold it.
  virtual Status Add(const Slice& internal_key, const Slice& value, std::string* rows) = 0;
  // About the bytes of the entries of which nothing was appended yet.
  virtual uint64_t held_bytes() const = 0;
  // Appends the rest of the rows, and to `blocks` what comes behind them, in the order of the file.
  // Sets those properties that depend on the format; `properties` has the counts of the entries.
  // Called at most once, after at least one entry.
  virtual Status Finish(std::string* rows, std::vector<BareMetaBlock>* blocks,
                        TableProperties* properties) = 0;
};

}  // namespace ashlar
