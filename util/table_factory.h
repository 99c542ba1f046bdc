// SPDX-License-Identifier: Apache-2.0
//

// BlockBasedTableFactory carries the options of the block-based format. The table code reads them
// through BlockBasedOptionsOf(); the factory itself makes nothing. Configure it before it is given
// to a database; it is immutable then, and thread safe.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/table.h"

namespace ashlar {

class BlockBasedTableFactory final : public TableFactory {
 public:
  explicit BlockBasedTableFactory(const BlockBasedTableOptions& options);

  static const char* kClassName() { return kBlockBasedTableName(); }
  const char* Name() const override { return kClassName(); }

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

  const BlockBasedTableOptions& options() const { return options_; }

 protected:
  // Answers "BlockTableOptions", "BlockCache" (the cache itself) and their older spellings.
  const void* GetOptionsPtr(const std::string& name) const override;
  Status ConfigureOptions(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opts_map,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& prefix) const override;

 private:
  BlockBasedTableOptions options_;
};

// The options behind `factory`; nullptr if it is not the built-in block-based factory. A nullptr
// factory stands for the defaults.
const BlockBasedTableOptions* BlockBasedOptionsOf(const TableFactory* factory);

}  // namespace ashlar
