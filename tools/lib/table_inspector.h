// SPDX-License-Identifier: Apache-2.0
//
// TableInspector opens a table file without a database. The caller needs to know nothing about the
// file, because its properties name its comparator.
//
// Opening reads the footer, the metaindex and the properties, and works for every table with a
// known footer; reading entries through Reader() also needs a built-in comparator. Of RocksDB's
// tables without blocks (table/plain) there are only the properties and the entries. Threads: one
// at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/table_properties.h"
#include "table/plain/bare_table.h"
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

  // `fs` outlives the object. Corruption if the footer, the metaindex or the properties are
  // damaged.
  static Result<std::unique_ptr<TableInspector>> Open(FileSystem* fs, const std::string& path);

  const std::string& path() const { return file_->path(); }
  // "block-based", "plain table", "cuckoo table".
  std::string_view FormatName() const;
  uint64_t file_bytes() const { return file_->size(); }
  const Footer& footer() const { return footer_; }
  const MetaBlocks& meta_blocks() const { return meta_blocks_; }
  const TableProperties& properties() const { return properties_; }
  // NotSupported if the table has no blocks; so are the calls below that return their places.
  Status CheckHasBlocks() const;
  // From the footer or, in format versions whose footer does not have it, from the metaindex.
  Result<BlockHandle> IndexHandle() const;

  // NotSupported if nothing has a comparator of this name (program_parts.h).
  Result<InternalKeyComparator> FindComparator() const;
  // The engine's reader of the table, opened by the first call.
  Result<const TableReader*> Reader();
  // All data blocks in order, those of all partitions of the index.
  Result<std::vector<IndexEntry>> DataBlocks() const;
  // The partitions of the index itself; none if the index is one block.
  Result<std::vector<IndexEntry>> IndexPartitions() const;
  // The filter: one block, or its partitions in order; none if the table has no filter.
  Result<std::vector<BlockHandle>> FilterBlocks() const;
  // The compression type in the block's trailer. Nothing is verified.
  Result<CompressionType> StoredAs(const BlockHandle& handle) const;
  // Any block except the properties, verified and uncompressed.
  Result<LooseBlock> ReadBlock(const BlockHandle& handle, std::string_view kind) const {
    return fetcher_.ReadLoose(handle, kind);
  }
  // A data block, which may have been compressed with a dictionary; verified and uncompressed.
  Result<DataBlock*> ReadDataBlock(const BlockHandle& handle);
  // Calls `visit` with each internal key and value of a block that was read from `handle`, until it
  // returns an error. Corruption names the position of an entry that cannot be parsed.
  using EntryVisit = std::function<Status(const Slice& key, const Slice& value)>;
  Status ForEachEntry(const Block& block, const BlockHandle& handle, const EntryVisit& visit) const;
  // Calls `visit` with each range tombstone: its begin as an internal key, its end as the value.
  Status ForEachTombstone(const EntryVisit& visit) const;

 private:
  TableInspector(FileSystem* fs, std::unique_ptr<RandomReader> file, BareTableKind bare_kind,
                 const Footer& footer);
  static Result<std::unique_ptr<TableInspector>> OpenBare(FileSystem* fs,
                                                          std::unique_ptr<RandomReader> file);
  Status LoadMetaBlocks();
  Status LoadProperties();
  Status LoadDictionary();
  Result<uint32_t> IndexType() const;
  Result<FlatIndex::Source> IndexSource(const InternalKeyComparator* comparator) const;
  // The entries of the index block, or of the top-level index if there are partitions.
  Result<std::vector<IndexEntry>> TopIndexEntries() const;
  Status AppendIndexEntries(const BlockHandle& handle, const FlatIndex::Source& source,
                            std::vector<IndexEntry>* entries) const;

  FileSystem* const fs_;  // outlives this
  const std::unique_ptr<RandomReader> file_;
  const BareTableKind bare_kind_;  // if it is not kNone, there is no footer, and no meta blocks
  const Footer footer_;
  BlockFetcher fetcher_;
  MetaBlocks meta_blocks_;
  TableProperties properties_;
  bool is_dictionary_loaded_ = false;
  std::unique_ptr<UncompressionDict> dictionary_;
  std::optional<InternalKeyComparator> comparator_;
  std::unique_ptr<TableReader> reader_;
};

// The properties, one "  name: value" a line, with RocksDB's names; and the properties that
// collectors added, with hexadecimal values.
std::string PropertiesText(const TableProperties& properties);
std::string UserPropertiesText(const TableProperties& properties);

// A walk over the entries of one table in the order of the file: all versions of all keys.
struct TableScan {
  // User keys, without timestamps.
  std::optional<std::string> from;    // inclusive
  std::optional<std::string> to;      // exclusive
  std::optional<std::string> prefix;  // not together with `from`
  uint64_t max_entries = UINT64_MAX;
  bool prints = false;  // print each entry on stdout
  bool hex = false;
  bool decodes_blob_references = false;
};

// Returns the number of entries visited. Every block is verified before it is used.
Result<uint64_t> ScanTable(const TableReader& table, const InternalKeyComparator& comparator,
                           const TableScan& scan);

}  // namespace ashlar
