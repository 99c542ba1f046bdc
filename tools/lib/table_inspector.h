// SPDX-License-Identifier: Apache-2.0
//
// TableInspector opens a table file to look at it, without a database: nothing needs to be known
// about the file beforehand, because its own properties name its comparator.
//
// Opening reads the footer, the metaindex and the properties, and works for every table whose
// footer is known; Reader(), for the entries, needs a built-in comparator as well. Threads: one at
// a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/table_properties.h"
#include "table/sst/read/block_fetcher.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/internal_key.h"
#include "util/result.h"

namespace ashlar {

class TableInspector {
 public:
  using MetaBlocks = std::map<std::string, BlockHandle>;
  struct IndexEntry {
    std::string separator;  // a user key at or after all of the block
    BlockHandle handle;
  };

  static Result<std::unique_ptr<TableInspector>> Open(FileSystem* fs, const std::string& path);

  const std::string& path() const { return file_->path(); }
  uint64_t file_bytes() const { return file_->size(); }
  const Footer& footer() const { return footer_; }
  const MetaBlocks& meta_blocks() const { return meta_blocks_; }
  const TableProperties& properties() const { return properties_; }
  // In format versions where the footer has no handle of it, the one of the metaindex.
  Result<BlockHandle> IndexHandle() const;

  // NotSupported if the comparator is not built in.
  Result<InternalKeyComparator> FindComparator() const;
  // The table as the engine reads it; opened by the first call.
  Result<const TableReader*> Reader();
  // All data blocks in order, through the partitions of the index if there are any.
  Result<std::vector<IndexEntry>> DataBlocks() const;
  // The same of the blocks that the index itself is cut into; none if it is in one piece.
  Result<std::vector<IndexEntry>> IndexPartitions() const;
  // The filter: one block, or its partitions in order; none for a table without.
  Result<std::vector<BlockHandle>> FilterBlocks() const;
  // How the block is stored, by its trailer. Nothing is verified.
  Result<CompressionType> StoredAs(const BlockHandle& handle) const;
  // Any block but the properties, checked and uncompressed.
  Result<LooseBlock> ReadBlock(const BlockHandle& handle, std::string_view kind) const {
    return fetcher_.ReadLoose(handle, kind);
  }
  // The same for data blocks, which a dictionary may have compressed; opens the reader's parts.
  Result<DataBlock*> ReadDataBlock(const BlockHandle& handle);
  // Calls `visit` with each internal key and value of a block that was read from `handle`, until it
  // answers with an error. Corruption names the place of an entry that is none.
  using EntryVisit = std::function<Status(const Slice& key, const Slice& value)>;
  Status ForEachEntry(const Block& block, const BlockHandle& handle, const EntryVisit& visit) const;
  // The same for the range tombstones, whose value is the end; none for a table without.
  Status ForEachTombstone(const EntryVisit& visit) const;

 private:
  TableInspector(FileSystem* fs, std::unique_ptr<RandomReader> file, const Footer& footer);
  Status LoadMetaBlocks();
  Status LoadProperties();
  Status LoadDictionary();
  Result<uint32_t> IndexType() const;
  Result<FlatIndex::Source> IndexSource(const InternalKeyComparator* comparator) const;
  // What the one index block has, or the top of several.
  Result<std::vector<IndexEntry>> TopIndexEntries() const;
  Status AppendIndexEntries(const BlockHandle& handle, const FlatIndex::Source& source,
                            std::vector<IndexEntry>* entries) const;

  FileSystem* const fs_;  // outlives this
  const std::unique_ptr<RandomReader> file_;
  const Footer footer_;
  BlockFetcher fetcher_;
  MetaBlocks meta_blocks_;
  TableProperties properties_;
  bool is_dictionary_loaded_ = false;
  std::unique_ptr<UncompressionDict> dictionary_;
  std::optional<InternalKeyComparator> comparator_;
  std::unique_ptr<TableReader> reader_;
};

// What properties() says, one "  name: value" a line in RocksDB's words, and the same for those
// that collectors added, in hexadecimal.
std::string PropertiesText(const TableProperties& properties);
std::string UserPropertiesText(const TableProperties& properties);

}  // namespace ashlar
