// SPDX-License-Identifier: Apache-2.0
//
// BlockBasedTableFactory holds the options of the block-based format. The table code reads them
// through BlockBasedOptionsOf(); the factory itself creates nothing. Configure it before it is
// given to a database; afterwards it is immutable and thread safe.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "ashlar/table.h"

namespace ashlar {

// Copies share the block cache and the filter policy.
class BlockBasedTableFactory final : public TableFactory {
 public:
  explicit BlockBasedTableFactory(const BlockBasedTableOptions& options);

  // Distinguishes this class from a user's class with the same Name().
  static const char* kClassName() { return "ashlar.BlockBasedTableFactory"; }
  const char* Name() const override { return kBlockBasedTableName(); }
  bool IsInstanceOf(const std::string& name) const override {
    return name == kClassName() || TableFactory::IsInstanceOf(name);
  }

  using TableFactory::NewTableReader;
  Status NewTableReader(const ReadOptions& ro, const TableReaderOptions& table_reader_options,
                        std::unique_ptr<RandomAccessFileReader>&& file, uint64_t file_size,
                        std::unique_ptr<TableReader>* table_reader,
                        bool prefetch_index_and_filter_in_cache) const override;
  TableBuilder* NewTableBuilder(const TableBuilderOptions& table_builder_options,
                                WritableFileWriter* file) const override;
  std::unique_ptr<TableFactory> Clone() const override;
  bool IsDeleteRangeSupported() const override { return true; }

  std::string GetPrintableOptions() const override;
  Status GetOption(const ConfigOptions& config_options, const std::string& name,
                   std::string* value) const override;
  bool AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                     std::string* name) const override;
  Status ValidateOptions(const DBOptions& db_options,
                         const ColumnFamilyOptions& cf_options) const override;

  // Has a block cache, unless no_block_cache is set: if none was given, the first call creates one
  // of 32 MiB. (Not the constructor, because every default Options has a factory.)
  const BlockBasedTableOptions& options() const;
  // The block cache that the program gave; null if it gave none.
  const std::shared_ptr<Cache>& given_cache() const { return given_cache_; }

 protected:
  // Knows "BlockTableOptions", "BlockCache" (the cache itself) and their older spellings.
  const void* GetOptionsPtr(const std::string& name) const override;
  Status ConfigureOptions(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opts_map,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& prefix) const override;

 private:
  mutable std::once_flag own_cache_once_;
  mutable BlockBasedTableOptions options_;  // block_cache is set once, under own_cache_once_
  std::shared_ptr<Cache> given_cache_;
};

// The options of `factory`; nullptr if it is not the built-in block-based factory. A null factory
// means the default options.
const BlockBasedTableOptions* BlockBasedOptionsOf(const TableFactory* factory);

// The block cache that the program gave to a factory; null if it gave none, or if the factory is
// not the built-in block-based one.
std::shared_ptr<Cache> GivenBlockCache(const TableFactory& factory);

// `options` without the values that RocksDB 7.8 cannot read.
BlockBasedTableOptions ReadableByRocksDb78(BlockBasedTableOptions options);

}  // namespace ashlar
