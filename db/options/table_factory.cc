// SPDX-License-Identifier: Apache-2.0
//
// The table factories. All of them carry options only; see util/table_factory.h.
#include "db/options/table_factory.h"

#include <algorithm>
#include <cassert>

#include "ashlar/advanced_cache.h"
#include "ashlar/convenience.h"
#include "ashlar/flush_block_policy.h"
#include "db/options/option_table.h"
#include "db/options/options_check.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A format that can be named, but not used. Its options, if they are known, are kept and shown.
class NamedTableFactory final : public TableFactory {
 public:
  explicit NamedTableFactory(const char* name) : name_(name) {}
  explicit NamedTableFactory(const PlainTableOptions& options)
      : name_(kPlainTableName()), plain_(options) {}
  const char* Name() const override { return name_; }
  using TableFactory::NewTableReader;
  Status NewTableReader(const ReadOptions&, const TableReaderOptions&,
                        std::unique_ptr<RandomAccessFileReader>&&, uint64_t,
                        std::unique_ptr<TableReader>*, bool) const override {
    return Status::NotSupported("table format is not built", name_);
  }
  TableBuilder* NewTableBuilder(const TableBuilderOptions&, WritableFileWriter*) const override {
    return nullptr;
  }
  std::unique_ptr<TableFactory> Clone() const override {
    return is_plain() ? std::make_unique<NamedTableFactory>(plain_)
                      : std::make_unique<NamedTableFactory>(name_);
  }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    if (is_plain() && name == PlainTableOptions::kName()) return &plain_;
    return TableFactory::GetOptionsPtr(name);
  }
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& opts_map,
                          std::unordered_map<std::string, std::string>*) override {
    if (!is_plain()) return Status::OK();
    for (const auto& [name, value] : opts_map) {
      RETURN_IF_ERROR(SetOption(PlainTableOptionTable(), config, {name, value}, &plain_));
    }
    return Status::OK();
  }
  std::string SerializeOptions(const ConfigOptions& config, const std::string&) const override {
    PrintContext context;
    context.config = config;
    context.config.delimiter = ";";
    std::string text;
    if (is_plain()) PrintOptions(PlainTableOptionTable(), context, &plain_, &text);
    return text;
  }

 private:
  bool is_plain() const { return name_ == std::string_view(kPlainTableName()); }

  const char* name_;
  PlainTableOptions plain_;
};

// Numbers that mean nothing become those that are nearest in meaning, as RocksDB has it.
BlockBasedTableOptions Sanitized(BlockBasedTableOptions options) {
  options.block_restart_interval = std::max(options.block_restart_interval, 1);
  options.index_block_restart_interval = std::max(options.index_block_restart_interval, 1);
  // Readers of a hash index count in restart points.
  if (options.index_type == BlockBasedTableOptions::kHashSearch) {
    options.index_block_restart_interval = 1;
  }
  const bool is_percentage =
      options.block_size_deviation >= 0 && options.block_size_deviation <= 100;
  if (!is_percentage) options.block_size_deviation = 0;
  // Without index partitions there is nothing to partition filters by.
  const bool has_partitions = options.index_type == BlockBasedTableOptions::kTwoLevelIndexSearch;
  options.partition_filters = options.partition_filters && has_partitions;
  return options;
}

}  // namespace

BlockBasedTableFactory::BlockBasedTableFactory(const BlockBasedTableOptions& options)
    : options_(Sanitized(options)) {
  if (options_.flush_block_policy_factory == nullptr) {
    options_.flush_block_policy_factory = std::make_shared<FlushBlockBySizePolicyFactory>();
  }
  if (options_.no_block_cache) options_.block_cache.reset();
  assert(options_.flush_block_policy_factory != nullptr);
}

const BlockBasedTableOptions& BlockBasedTableFactory::options() const {
  std::call_once(own_cache_once_, [this] {
    if (options_.no_block_cache || options_.block_cache != nullptr) return;
    constexpr size_t kOwnCacheBytes = 32 << 20;
    options_.block_cache = HyperClockCacheOptions(kOwnCacheBytes).MakeSharedCache();
  });
  return options_;
}

Status BlockBasedTableFactory::NewTableReader(const ReadOptions&, const TableReaderOptions&,
                                              std::unique_ptr<RandomAccessFileReader>&&, uint64_t,
                                              std::unique_ptr<TableReader>*, bool) const {
  return Status::NotSupported("TableFactory::NewTableReader: tables are opened by the database");
}

TableBuilder* BlockBasedTableFactory::NewTableBuilder(const TableBuilderOptions&,
                                                      WritableFileWriter*) const {
  return nullptr;
}

std::unique_ptr<TableFactory> BlockBasedTableFactory::Clone() const {
  return std::make_unique<BlockBasedTableFactory>(options());
}

std::string BlockBasedTableFactory::GetPrintableOptions() const {
  PrintContext context;
  context.config.delimiter = "\n  ";
  std::string text = "  ";
  PrintOptions(BlockBasedOptionTable(), context, &options_, &text);
  const Cache* cache = options().block_cache.get();
  StrAppend(&text, "block_cache=", cache == nullptr ? "nullptr" : cache->Name(), "\n");
  if (cache != nullptr) StrAppend(&text, "  block_cache_capacity=", cache->GetCapacity(), "\n");
  return text;
}

Status BlockBasedTableFactory::GetOption(const ConfigOptions& config_options,
                                         const std::string& name, std::string* value) const {
  const OptionRow* row = FindOption(BlockBasedOptionTable(), name);
  if (row == nullptr || row->print == nullptr) {
    return TableFactory::GetOption(config_options, name, value);
  }
  value->clear();
  PrintContext context;
  context.config = config_options;
  row->print(context, &options_, value);
  return Status::OK();
}

bool BlockBasedTableFactory::AreEquivalent(const ConfigOptions& config_options,
                                           const Configurable* other, std::string* name) const {
  if (!TableFactory::AreEquivalent(config_options, other, name)) {
    const BlockBasedTableOptions* theirs =
        other == nullptr ? nullptr : other->GetOptions<BlockBasedTableOptions>();
    if (theirs != nullptr) {
      *name = FirstDifference(BlockBasedOptionTable(), config_options, &options_, theirs);
    }
    return false;
  }
  return true;
}

Status BlockBasedTableFactory::ValidateOptions(const DBOptions& /*db_options*/,
                                               const ColumnFamilyOptions& cf_options) const {
  return CheckTableOfFamily(options_, cf_options);
}

const void* BlockBasedTableFactory::GetOptionsPtr(const std::string& name) const {
  if (name == BlockBasedTableOptions::kName() || name == "BlockBasedTableOptions") {
    return &options();
  }
  if (name == kBlockCacheOpts()) return options().block_cache.get();
  return TableFactory::GetOptionsPtr(name);
}

Status BlockBasedTableFactory::ConfigureOptions(
    const ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    std::unordered_map<std::string, std::string>* unused) {
  BlockBasedTableOptions changed = options_;
  for (const auto& option : opts_map) {
    if (unused != nullptr && FindOption(BlockBasedOptionTable(), option.first) == nullptr) {
      unused->insert(option);
      continue;
    }
    Status status =
        SetOption(BlockBasedOptionTable(), config_options, {option.first, option.second}, &changed);
    if (!status.ok()) return status;
  }
  if (changed.no_block_cache) changed.block_cache.reset();
  options_ = Sanitized(std::move(changed));
  return Status::OK();
}

std::string BlockBasedTableFactory::SerializeOptions(const ConfigOptions& config_options,
                                                     const std::string& /*prefix*/) const {
  PrintContext context;
  context.config = config_options;
  context.config.delimiter = ";";
  std::string text;
  PrintOptions(BlockBasedOptionTable(), context, &options_, &text);
  return text;
}

const BlockBasedTableOptions* BlockBasedOptionsOf(const TableFactory* factory) {
  static const auto* defaults = new BlockBasedTableFactory(BlockBasedTableOptions());
  if (factory == nullptr) return &defaults->options();
  const auto* block_based = factory->CheckedCast<BlockBasedTableFactory>();
  return block_based == nullptr ? nullptr : &block_based->options();
}

TableFactory* NewBlockBasedTableFactory(const BlockBasedTableOptions& table_options) {
  return new BlockBasedTableFactory(table_options);
}

TableFactory* NewPlainTableFactory(const PlainTableOptions& options) {
  return new NamedTableFactory(options);
}

TableFactory* NewCuckooTableFactory(const CuckooTableOptions& /*table_options*/) {
  return new NamedTableFactory(TableFactory::kCuckooTableName());
}

TableFactory* NewAdaptiveTableFactory(std::shared_ptr<TableFactory> /*table_factory_to_write*/,
                                      std::shared_ptr<TableFactory> /*block_based_table_factory*/,
                                      std::shared_ptr<TableFactory> /*plain_table_factory*/,
                                      std::shared_ptr<TableFactory> /*cuckoo_table_factory*/) {
  return new NamedTableFactory("AdaptiveTableFactory");
}

BlockBasedTableOptions ReadableByRocksDb78(BlockBasedTableOptions options) {
  constexpr uint32_t kNewestFormat = 5;
  options.format_version = std::min(options.format_version, kNewestFormat);
  options.separate_key_value_in_data_block = false;
  options.uniform_cv_threshold = -1;
  return options;
}

// Names in files of the other formats, for programs that look at foreign properties.
const std::string PlainTablePropertyNames::kEncodingType = "rocksdb.plain.table.encoding.type";
const std::string PlainTablePropertyNames::kBloomVersion = "rocksdb.plain.table.bloom.version";
const std::string PlainTablePropertyNames::kNumBloomBlocks = "rocksdb.plain.table.bloom.numblocks";
const std::string CuckooTablePropertyNames::kEmptyKey = "rocksdb.cuckoo.bucket.empty.key";
const std::string CuckooTablePropertyNames::kValueLength = "rocksdb.cuckoo.value.length";
const std::string CuckooTablePropertyNames::kNumHashFunc = "rocksdb.cuckoo.hash.num";
const std::string CuckooTablePropertyNames::kCuckooBlockSize =
    "rocksdb.cuckoo.hash.cuckooblocksize";
const std::string CuckooTablePropertyNames::kHashTableSize = "rocksdb.cuckoo.hash.size";
const std::string CuckooTablePropertyNames::kIsLastLevel = "rocksdb.cuckoo.file.islastlevel";
const std::string CuckooTablePropertyNames::kIdentityAsFirstHash =
    "rocksdb.cuckoo.hash.identityfirst";
const std::string CuckooTablePropertyNames::kUseModuleHash = "rocksdb.cuckoo.hash.usemodule";
const std::string CuckooTablePropertyNames::kUserKeyLength = "rocksdb.cuckoo.hash.userkeylength";

}  // namespace ashlar
