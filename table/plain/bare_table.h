// SPDX-License-Identifier: Apache-2.0
//
// What RocksDB's tables without blocks have in common: rows, then properties and metaindex without
// checksums and trailers, and a footer with a magic number of the kind. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "table/format/block_handle.h"
#include "util/result.h"

namespace ashlar {

class RandomReader;

// Names of properties, which are among the user-collected ones.
inline constexpr const char* kPlainEncodingProperty = "rocksdb.plain.table.encoding.type";
inline constexpr const char* kPlainBloomVersionProperty = "rocksdb.plain.table.bloom.version";
inline constexpr const char* kPlainBloomLinesProperty = "rocksdb.plain.table.bloom.numblocks";
inline constexpr const char* kCuckooEmptyKeyProperty = "rocksdb.cuckoo.bucket.empty.key";
inline constexpr const char* kCuckooValueLengthProperty = "rocksdb.cuckoo.value.length";
inline constexpr const char* kCuckooHashCountProperty = "rocksdb.cuckoo.hash.num";
inline constexpr const char* kCuckooBlockSizeProperty = "rocksdb.cuckoo.hash.cuckooblocksize";
inline constexpr const char* kCuckooTableSizeProperty = "rocksdb.cuckoo.hash.size";
inline constexpr const char* kCuckooLastLevelProperty = "rocksdb.cuckoo.file.islastlevel";
inline constexpr const char* kCuckooIdentityProperty = "rocksdb.cuckoo.hash.identityfirst";
inline constexpr const char* kCuckooModuloProperty = "rocksdb.cuckoo.hash.usemodule";
inline constexpr const char* kCuckooUserKeyLengthProperty = "rocksdb.cuckoo.hash.userkeylength";

enum class BareTableKind : uint8_t { kNone, kPlain, kCuckoo };

// The kind of a file that ends in these bytes. `tail`: at least its last eight bytes.
BareTableKind BareTableKindOf(const Slice& tail);

// True if the file ends like a table of one of these kinds. A file that cannot be read is none.
bool IsBareTable(const RandomReader& file);

struct BareTable {
  BareTableKind kind = BareTableKind::kNone;
  TableProperties properties;
};
// Reads footer, metaindex and properties. Corruption: damage, or no table of a known kind.
Result<BareTable> ReadBareTable(const RandomReader& file);

// Appends the footer that RocksDB writes for tables of this kind.
void AppendBareFooter(BareTableKind kind, const BlockHandle& metaindex, std::string* file);

// The error for a damaged file.
Status DamagedBareTable(const RandomReader& file, std::string_view what);

}  // namespace ashlar
