// SPDX-License-Identifier: Apache-2.0
//
// From the end of the file to its begin: footer, metaindex, properties.
#include "table/plain/bare_table.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <utility>

#include "env/random_reader.h"
#include "table/format/block_handle.h"
#include "table/format/plain_block.h"
#include "table/format/properties.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr uint64_t kPlainMagic = 0x8242229663bf9564ull;
constexpr uint64_t kLegacyPlainMagic = 0x4f3418eb7a8f13b8ull;  // in a footer without version
constexpr uint64_t kCuckooMagic = 0x926789d0c5f17873ull;
constexpr size_t kMagicBytes = 8;
constexpr size_t kLegacyFooterBytes = 48;
constexpr size_t kFooterBytesWithVersion = 53;

// Meta blocks have neither checksum nor trailer.
Result<std::string> ReadMetaBlock(const RandomReader& file, const BlockHandle& handle) {
  if (handle.size > file.size() || handle.offset > file.size() - handle.size) {
    return DamagedBareTable(file,
                            StrCat("a block of ", handle.size, " bytes at offset ", handle.offset,
                                   " reaches beyond the file of ", file.size(), " bytes"));
  }
  std::string block(static_cast<size_t>(handle.size), '\0');
  Slice read;
  RETURN_IF_ERROR(file.ReadExactly(handle.offset, block.size(), block.data(), &read));
  if (read.data() != block.data()) block.assign(read.data(), read.size());
  return block;
}

// Parses the footer: the position of the metaindex. The two kinds of footers differ in length and
// in one byte.
Result<BlockHandle> ReadMetaindexHandle(const RandomReader& file) {
  std::array<char, kFooterBytesWithVersion> memory;
  const size_t n = static_cast<size_t>(std::min<uint64_t>(file.size(), memory.size()));
  Slice tail;
  RETURN_IF_ERROR(file.ReadExactly(file.size() - n, n, memory.data(), &tail));
  if (BareTableKindOf(tail) == BareTableKind::kNone)
    return DamagedBareTable(file, "the footer is that of another kind of table");
  const uint64_t magic = DecodeFixed64(tail.data() + n - kMagicBytes);
  const bool is_legacy = magic == kLegacyPlainMagic;
  const size_t footer_bytes = is_legacy ? kLegacyFooterBytes : kFooterBytesWithVersion;
  if (n < footer_bytes) return DamagedBareTable(file, StrCat("a footer of ", n, " bytes"));
  // In front of the handle a newer footer has the type of the checksums.
  const char* const begin = tail.data() + (n - footer_bytes) + (is_legacy ? 0 : 1);
  BlockHandle handle;
  if (ParseBlockHandle(begin, tail.data() + n - kMagicBytes, &handle) == nullptr) {
    return DamagedBareTable(file, "the footer has no place of the metaindex");
  }
  return handle;
}

// Finds the properties block through the metaindex. Both are checked against the size of the file
// before they are read.
Result<BlockHandle> FindProperties(const RandomReader& file) {
  BlockHandle handle;
  ASSIGN_OR_RETURN(handle, ReadMetaindexHandle(file));
  std::string metaindex;
  ASSIGN_OR_RETURN(metaindex, ReadMetaBlock(file, handle));
  PlainBlockParser entries(metaindex);
  while (entries.Next()) {
    if (entries.key() != Slice("rocksdb.properties")) continue;
    Slice value = entries.value();
    if (!GetBlockHandle(&value, &handle))
      return DamagedBareTable(file, "the place of the properties");
    return handle;
  }
  if (!entries.status().ok()) return DamagedBareTable(file, entries.status().ToString());
  return DamagedBareTable(file, "the metaindex names no properties");
}

}  // namespace

Status DamagedBareTable(const RandomReader& file, std::string_view what) {
  return Status::Corruption(StrCat("table ", file.path(), ": ", what));
}

BareTableKind BareTableKindOf(const Slice& tail) {
  if (tail.size() < kMagicBytes) return BareTableKind::kNone;
  switch (DecodeFixed64(tail.data() + tail.size() - kMagicBytes)) {
    case kPlainMagic:
    case kLegacyPlainMagic: return BareTableKind::kPlain;
    case kCuckooMagic: return BareTableKind::kCuckoo;
    default: return BareTableKind::kNone;
  }
}

bool IsBareTable(const RandomReader& file) {
  std::array<char, kMagicBytes> memory;
  if (file.size() < memory.size()) return false;
  Slice tail;
  return file.ReadExactly(file.size() - memory.size(), memory.size(), memory.data(), &tail).ok() &&
         BareTableKindOf(tail) != BareTableKind::kNone;
}

// PlainTables have the older form. In the newer one, the byte in front says that blocks have no
// checksums. The place of an index block, which is not used, follows that of the metaindex.
void AppendBareFooter(BareTableKind kind, const BlockHandle& metaindex, std::string* file) {
  assert(file != nullptr);
  assert(kind != BareTableKind::kNone);
  constexpr size_t kPlacesBytes = 40;
  constexpr uint32_t kFormatVersion = 1;
  if (kind == BareTableKind::kCuckoo) file->push_back('\0');
  std::string places;
  metaindex.AppendTo(&places);
  assert(places.size() <= kPlacesBytes);
  places.resize(kPlacesBytes);
  file->append(places);
  if (kind == BareTableKind::kCuckoo) PutFixed32(file, kFormatVersion);
  PutFixed64(file, kind == BareTableKind::kCuckoo ? kCuckooMagic : kLegacyPlainMagic);
}

// The last check makes sure that the rows end before the properties begin.
Result<BareTable> ReadBareTable(const RandomReader& file) {
  std::array<char, kMagicBytes> magic;
  if (file.size() < magic.size()) return DamagedBareTable(file, "a file without footer");
  Slice tail;
  RETURN_IF_ERROR(file.ReadExactly(file.size() - magic.size(), magic.size(), magic.data(), &tail));
  BlockHandle handle;
  ASSIGN_OR_RETURN(handle, FindProperties(file));
  std::string block;
  ASSIGN_OR_RETURN(block, ReadMetaBlock(file, handle));
  BareTable table{.kind = BareTableKindOf(tail)};
  ASSIGN_OR_RETURN(table.properties, ParsePropertiesBlock(block, handle.offset, file.path()));
  // The properties have no checksum: damaged names could make a table with rows seem to be empty.
  const uint64_t data_size = table.properties.data_size;
  if (data_size <= handle.offset && (data_size > 0) == (handle.offset > 0)) return table;
  return DamagedBareTable(file, StrCat("rows of ", table.properties.data_size,
                                       " bytes in front of offset ", handle.offset));
}

}  // namespace ashlar
