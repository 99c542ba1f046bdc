// SPDX-License-Identifier: Apache-2.0
//
// The table factories only hold options; those of tables without blocks are in bare_factories.cc.
#include "db/options/table_factory.h"

#include <algorithm>
#include <cassert>

#include "ashlar/advanced_cache.h"
#include "ashlar/convenience.h"
#include "ashlar/flush_block_policy.h"
#include "db/options/bare_factories.h"
#include "db/options/option_table.h"
#include "db/options/options_check.h"
#include "util/interfaces/self_cast.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Invalid numbers are replaced by the valid ones nearest in meaning, as in RocksDB.
BlockBasedTableOptions Sanitized(BlockBasedTableOptions options) {
  options.block_restart_interval = std::max(options.block_restart_interval, 1);
  options.index_block_restart_interval = std::max(options.index_block_restart_interval, 1);
  // The hash index counts in restart points.
  if (options.index_type == BlockBasedTableOptions::kHashSearch) {
    options.index_block_restart_interval = 1;
  }
  const bool is_percentage =
      options.block_size_deviation >= 0 && options.block_size_deviation <= 100;
  if (!is_percentage) options.block_size_deviation = 0;
  // Filters can be partitioned only together with the index.
  const bool has_partitions = options.index_type == BlockBasedTableOptions::kTwoLevelIndexSearch;
  options.partition_filters = options.partition_filters && has_partitions;
  return options;
}

}  // namespace

// Programs read the options of a factory, so defaults are filled in at once.
BlockBasedTableFactory::BlockBasedTableFactory(const BlockBasedTableOptions& options)
    : options_(Sanitized(options)) {
  if (options_.flush_block_policy_factory == nullptr) {
    options_.flush_block_policy_factory = std::make_shared<FlushBlockBySizePolicyFactory>();
  }
  if (options_.no_block_cache) options_.block_cache.reset();
  given_cache_ = options_.block_cache;
  assert(options_.flush_block_policy_factory != nullptr);
}

// The cache is made at the first use, so factories that are only compared or printed need no
// memory.
const BlockBasedTableOptions& BlockBasedTableFactory::options() const {
  // Programs may ask from several threads.
  std::call_once(own_cache_once_, [this] {
    if (options_.no_block_cache || options_.block_cache != nullptr) return;
    constexpr size_t kOwnCacheBytes = 32 << 20;
    // Set under the once flag, after which the options never change.
    options_.block_cache = HyperClockCacheOptions(kOwnCacheBytes).MakeSharedCache();
  });
  return options_;
}

// The two functions exist because the public class declares them. The database opens and writes
// tables itself.
Status BlockBasedTableFactory::NewTableReader(const ReadOptions&, const TableReaderOptions&,
                                              std::unique_ptr<RandomAccessFileReader>&&, uint64_t,
                                              std::unique_ptr<TableReader>*, bool) const {
  return Status::NotSupported("TableFactory::NewTableReader: tables are opened by the database");
}

TableBuilder* BlockBasedTableFactory::NewTableBuilder(const TableBuilderOptions&,
                                                      WritableFileWriter*) const {
  return nullptr;
}

// The clone shares the block cache.
std::unique_ptr<TableFactory> BlockBasedTableFactory::Clone() const {
  auto clone = std::make_unique<BlockBasedTableFactory>(options());
  clone->given_cache_ = given_cache_;
  return clone;
}

// For the info log, in RocksDB's form, which programs search. The cache is shown with its capacity.
std::string BlockBasedTableFactory::GetPrintableOptions() const {
  PrintContext context;
  context.as_numbers = true;
  std::string text;
  for (const OptionRow& row : BlockBasedOptionTable()) {
    if (row.print == nullptr || row.facts.since > context.newest) continue;
    StrAppend(&text, "  ", row.name(), ": ");
    row.Print(context, &options_, &text);
    text.push_back('\n');
  }
  const Cache* cache = options().block_cache.get();
  StrAppend(&text, "  block_cache_name: ", cache == nullptr ? "nullptr" : cache->Name(), "\n");
  if (cache != nullptr) StrAppend(&text, "  block_cache_capacity: ", cache->GetCapacity(), "\n");
  return text;
}

// Options without a text form are looked up in the base class.
Status BlockBasedTableFactory::GetOption(const ConfigOptions& config_options,
                                         const std::string& name, std::string* value) const {
  const OptionRow* row = FindOption(BlockBasedOptionTable(), name);
  if (row == nullptr || row->print == nullptr) {
    return TableFactory::GetOption(config_options, name, value);
  }
  value->clear();
  PrintContext context;
  context.config = config_options;
  row->Print(context, &options_, value);
  return Status::OK();
}

// Names the first option whose text differs.
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

// The checks of DB::Open(), for programs that configure a factory themselves.
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

// Changes a copy first, so a failed call changes nothing.
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
  if (changed.block_cache != options_.block_cache) given_cache_ = changed.block_cache;
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

// The default factory has a cache that is shared by all families without a factory.
const BlockBasedTableOptions* BlockBasedOptionsOf(const TableFactory* factory) {
  // Never deleted, as databases may still be open while static objects are destroyed.
  static const auto* defaults = new BlockBasedTableFactory(BlockBasedTableOptions());
  if (factory == nullptr || BareFormatOfFactory(factory).is_bare()) {
    const TableFactory* const reads = factory == nullptr ? nullptr : BlockBasedReaderOf(*factory);
    return reads == nullptr ? &defaults->options() : BlockBasedOptionsOf(reads);
  }
  if (const TableFactory* const writes = WriterOf(*factory); writes != factory) {
    return BlockBasedOptionsOf(writes);
  }
  const auto* block_based = SelfCast<BlockBasedTableFactory>(factory);
  return block_based == nullptr ? nullptr : &block_based->options();
}

std::shared_ptr<Cache> GivenBlockCache(const TableFactory& factory) {
  const auto* block_based = SelfCast<BlockBasedTableFactory>(&factory);
  return block_based == nullptr ? nullptr : block_based->given_cache();
}

// The factory that programs create.
TableFactory* NewBlockBasedTableFactory(const BlockBasedTableOptions& table_options) {
  return new BlockBasedTableFactory(table_options);
}

// The options with everything replaced that RocksDB 7.8 could not read.
BlockBasedTableOptions ReadableByRocksDb78(BlockBasedTableOptions options) {
  // RocksDB 7.8 reads up to this format_version.
  constexpr uint32_t kNewestFormat = 5;
  options.format_version = std::min(options.format_version, kNewestFormat);
  options.separate_key_value_in_data_block = false;
  options.uniform_cv_threshold = -1;
  return options;
}

}  // namespace ashlar
