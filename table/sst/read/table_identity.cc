// SPDX-License-Identifier: Apache-2.0
//
// The tail of the file is read at once, and mostly holds all of it.
#include "table/sst/read/table_identity.h"

#include <algorithm>
#include <array>
#include <optional>

#include "env/random_reader.h"
#include "table/format/footer.h"
#include "table/format/meta_block_names.h"
#include "table/format/plain_block.h"
#include "table/format/properties.h"
#include "table/sst/read/block_fetcher.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

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

}  // namespace

Result<std::string> ReadTableSessionId(FileSystem* fs, const std::string& path) {
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
  if (!handle) return std::string();
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher.ReadProperties(*handle));
  ASSIGN_OR_RETURN(const PropertiesView properties,
                   ViewProperties(block.contents, handle->offset, path));
  return std::string(properties.db_session_id);
}

}  // namespace ashlar
