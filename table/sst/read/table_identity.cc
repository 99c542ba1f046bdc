// SPDX-License-Identifier: Apache-2.0
//
// The end of the file is read with one call; it usually contains all blocks that are needed.
#include "table/sst/read/table_identity.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "env/random_reader.h"
#include "table/format/footer.h"
#include "table/format/meta_block_names.h"
#include "table/format/plain_block.h"
#include "table/format/properties.h"
#include "table/plain/bare_table.h"
#include "table/sst/read/block_fetcher.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The handle of the properties block; empty if the table has none.
Result<std::optional<BlockHandle>> FindProperties(const BlockFetcher& fetcher,
                                                  const BlockHandle& metaindex) {
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher.ReadLoose(metaindex, "metaindex"));
  PlainBlockParser parser(block.contents);
  while (parser.Next()) {
    if (parser.key() != Slice(kPropertiesBlockName)) continue;
    Slice value = parser.value();
    BlockHandle handle;
    if (GetBlockHandle(&value, &handle)) return std::optional<BlockHandle>(handle);
  }
  if (!parser.status().ok()) return fetcher.Describe(parser.status(), "metaindex", metaindex);
  return std::optional<BlockHandle>();
}

// The properties block, uncompressed, and its place in the file.
struct StoredProperties {
  LooseBlock block;
  uint64_t offset = 0;
};

// Nothing if the table has no properties.
Result<std::optional<StoredProperties>> ReadProperties(FileSystem* fs, const std::string& path) {
  constexpr uint64_t kTailBytes = 16 * 1024;
  ASSIGN_OR_RETURN(const auto file, RandomReader::Open(fs, path, FileOptions()));
  RETURN_IF_ERROR(file->KeepTail(static_cast<size_t>(std::min(kTailBytes, file->size()))));
  std::array<char, kFooterBytes> memory;
  const auto n = static_cast<size_t>(std::min<uint64_t>(file->size(), kFooterBytes));
  Slice tail;
  RETURN_IF_ERROR(file->ReadExactly(file->size() - n, n, memory.data(), &tail));
  ASSIGN_OR_RETURN(const Footer footer, DecodeFooter(tail, file->size(), path));
  const BlockFetcher fetcher(file.get(), footer.checksum, file->size() - kFooterBytes);
  ASSIGN_OR_RETURN(const std::optional<BlockHandle> handle,
                   FindProperties(fetcher, footer.metaindex));
  if (!handle) return std::optional<StoredProperties>();
  StoredProperties stored;
  stored.offset = handle->offset;
  ASSIGN_OR_RETURN(stored.block, fetcher.ReadProperties(*handle));
  return std::optional<StoredProperties>(std::move(stored));
}

// Nothing if the table has blocks.
Result<std::optional<BareTable>> ReadIfBare(FileSystem* fs, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, RandomReader::Open(fs, path, FileOptions()));
  if (!IsBareTable(*file)) return std::optional<BareTable>();
  ASSIGN_OR_RETURN(BareTable table, ReadBareTable(*file));
  return std::optional<BareTable>(std::move(table));
}

}  // namespace

Result<TableProperties> ReadTableProperties(FileSystem* fs, const std::string& path) {
  ASSIGN_OR_RETURN(const std::optional<BareTable> bare, ReadIfBare(fs, path));
  if (bare) return bare->properties;
  ASSIGN_OR_RETURN(const std::optional<StoredProperties> stored, ReadProperties(fs, path));
  if (!stored) return Status::Corruption(StrCat("table: ", path, ": no properties block"));
  return ParsePropertiesBlock(stored->block.contents, stored->offset, path);
}

}  // namespace ashlar
