// SPDX-License-Identifier: Apache-2.0
//
// Factories of tables without blocks differ in their options only, so they are one template.
#include "db/options/bare_factories.h"

#include <cassert>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/options.h"
#include "db/options/option_table.h"
#include "db/options/options_check.h"
#include "db/options/table_factory.h"
#include "table/plain/bare_table.h"
#include "util/interfaces/self_cast.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// What is the same for all of them: the database opens and writes tables itself.
class HeldOptions : public TableFactory {
 public:
  using TableFactory::NewTableReader;
  Status NewTableReader(const ReadOptions&, const TableReaderOptions&,
                        std::unique_ptr<RandomAccessFileReader>&&, uint64_t,
                        std::unique_ptr<TableReader>*, bool) const override {
    return Status::NotSupported("TableFactory::NewTableReader: tables are opened by the database");
  }
  TableBuilder* NewTableBuilder(const TableBuilderOptions&, WritableFileWriter*) const override {
    return nullptr;
  }
};

// `kTable`: the table of `Options`.
template <typename Options, OptionTable (*kTable)()>
class BareTableFactory : public HeldOptions {
 public:
  explicit BareTableFactory(const Options& options) : options_(options) {}
  const Options& options() const { return options_; }

  // For the info log, in RocksDB's form.
  std::string GetPrintableOptions() const override {
    PrintContext context;
    context.as_numbers = true;
    std::string text;
    for (const OptionRow& row : kTable()) {
      StrAppend(&text, "  ", row.name(), ": ");
      row.Print(context, &options_, &text);
      text.push_back('\n');
    }
    return text;
  }
  // Options without a text form are looked up in the base class.
  Status GetOption(const ConfigOptions& config, const std::string& name,
                   std::string* value) const override {
    const OptionRow* const row = FindOption(kTable(), name);
    if (row == nullptr) return TableFactory::GetOption(config, name, value);
    assert(value != nullptr);
    value->clear();
    PrintContext context;
    context.config = config;
    row->Print(context, &options_, value);
    return Status::OK();
  }
  bool AreEquivalent(const ConfigOptions& config, const Configurable* other,
                     std::string* name) const override {
    // Factories of different classes differ in their names, which the base class has compared.
    if (TableFactory::AreEquivalent(config, other, name)) return true;
    const Options* const theirs = other == nullptr ? nullptr : other->GetOptions<Options>();
    if (theirs != nullptr) *name = FirstDifference(kTable(), config, &options_, theirs);
    return false;
  }
  Status ValidateOptions(const DBOptions&, const ColumnFamilyOptions& family) const override {
    // The prefix extractor belongs to the family, but decides which tables can be written.
    BareTableFormat format = BareFormatOfFactory(this);
    format.prefix_extractor = family.prefix_extractor.get();
    return CheckBareFormat(format);
  }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    return name == Options::kName() ? &options_ : TableFactory::GetOptionsPtr(name);
  }
  // Changes a copy first, so a failed call changes nothing.
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& opts_map,
                          std::unordered_map<std::string, std::string>* unused) override {
    Options changed = options_;
    for (const auto& option : opts_map) {
      if (unused != nullptr && FindOption(kTable(), option.first) == nullptr) {
        unused->insert(option);
        continue;
      }
      RETURN_IF_ERROR(SetOption(kTable(), config, {option.first, option.second}, &changed));
    }
    options_ = changed;
    return Status::OK();
  }
  std::string SerializeOptions(const ConfigOptions& config, const std::string&) const override {
    PrintContext context;
    context.config = config;
    // Nested options are printed in braces, where a line feed would end the value too early.
    context.config.delimiter = ";";
    std::string text;
    PrintOptions(kTable(), context, &options_, &text);
    return text;
  }

 private:
  Options options_;
};

// The class names tell these classes from those of a program with the same Name().
class PlainTableFactory final : public BareTableFactory<PlainTableOptions, PlainTableOptionTable> {
 public:
  using BareTableFactory::BareTableFactory;
  static const char* kClassName() { return "ashlar.PlainTableFactory"; }
  const char* Name() const override { return kPlainTableName(); }
  bool IsInstanceOf(const std::string& name) const override {
    return name == kClassName() || TableFactory::IsInstanceOf(name);
  }
  std::unique_ptr<TableFactory> Clone() const override {
    return std::make_unique<PlainTableFactory>(options());
  }
};

class CuckooTableFactory final
    : public BareTableFactory<CuckooTableOptions, CuckooTableOptionTable> {
 public:
  using BareTableFactory::BareTableFactory;
  static const char* kClassName() { return "ashlar.CuckooTableFactory"; }
  const char* Name() const override { return kCuckooTableName(); }
  bool IsInstanceOf(const std::string& name) const override {
    return name == kClassName() || TableFactory::IsInstanceOf(name);
  }
  std::unique_ptr<TableFactory> Clone() const override {
    return std::make_unique<CuckooTableFactory>(options());
  }
};

// The factories that it does not write with only matter in RocksDB, except for the block cache and
// the other options for reading tables with blocks.
class AdaptiveTableFactory final : public HeldOptions {
 public:
  // A null factory is the default one; without one to write with, tables have blocks.
  AdaptiveTableFactory(std::shared_ptr<TableFactory> writes,
                       std::shared_ptr<TableFactory> block_based)
      : block_based_(block_based != nullptr
                         ? std::move(block_based)
                         : std::shared_ptr<TableFactory>(NewBlockBasedTableFactory())),
        writes_(writes != nullptr ? std::move(writes) : block_based_) {}

  static const char* kClassName() { return "ashlar.AdaptiveTableFactory"; }
  const char* Name() const override { return "AdaptiveTableFactory"; }
  bool IsInstanceOf(const std::string& name) const override {
    return name == kClassName() || TableFactory::IsInstanceOf(name);
  }
  const TableFactory& writes() const { return *writes_; }
  const TableFactory& block_based() const { return *block_based_; }

  std::unique_ptr<TableFactory> Clone() const override {
    return std::make_unique<AdaptiveTableFactory>(writes_, block_based_);
  }
  bool IsDeleteRangeSupported() const override { return writes_->IsDeleteRangeSupported(); }
  std::string GetPrintableOptions() const override {
    return StrCat("  write factory (", writes_->Name(), ") options:\n",
                  writes_->GetPrintableOptions(), "\n");
  }
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& family) const override {
    return writes_->ValidateOptions(db, family);
  }

 private:
  const std::shared_ptr<TableFactory> block_based_;
  const std::shared_ptr<TableFactory> writes_;
};

}  // namespace

BareTableFormat BareFormatOfFactory(const TableFactory* factory) {
  BareTableFormat format;
  if (factory == nullptr) return format;
  // An adaptive factory writes with another one, so the format is that of the other.
  const TableFactory& writes = *WriterOf(*factory);
  if (const auto* plain = SelfCast<PlainTableFactory>(&writes)) {
    format.kind = BareTableKind::kPlain;
    format.plain = plain->options();
  } else if (const auto* cuckoo = SelfCast<CuckooTableFactory>(&writes)) {
    format.kind = BareTableKind::kCuckoo;
    format.cuckoo = cuckoo->options();
  }
  return format;
}

BareTableFormat BareFormatOf(const ColumnFamilyOptions& options) {
  BareTableFormat format = BareFormatOfFactory(options.table_factory.get());
  format.prefix_extractor = options.prefix_extractor.get();
  format.bloom_locality = options.bloom_locality;
  return format;
}

Status CheckBareFamily(const ColumnFamilyOptions& options) {
  const BareTableFormat format = BareFormatOf(options);
  if (!format.is_bare()) return Status::OK();
  std::string_view excluded;
  if (options.comparator->timestamp_size() != 0) {
    excluded = "a comparator with timestamps";
  } else if (options.min_tombstones_for_range_conversion != 0) {
    excluded = "min_tombstones_for_range_conversion";
  } else if (format.kind == BareTableKind::kCuckoo && options.enable_blob_files) {
    excluded = "enable_blob_files";
  }
  if (excluded.empty()) return CheckBareFormat(format);
  return Status::InvalidArgument(
      StrCat("option table_factory: ", format.name(), " and ", excluded, " exclude each other"));
}

const TableFactory* WriterOf(const TableFactory& factory) {
  const auto* const adaptive = SelfCast<AdaptiveTableFactory>(&factory);
  // A factory may write through several adaptive ones, so the last of them decides.
  return adaptive == nullptr ? &factory : WriterOf(adaptive->writes());
}

const TableFactory* BlockBasedReaderOf(const TableFactory& factory) {
  const auto* const adaptive = SelfCast<AdaptiveTableFactory>(&factory);
  return adaptive == nullptr ? nullptr : &adaptive->block_based();
}

TableFactory* NewPlainTableFactory(const PlainTableOptions& options) {
  return new PlainTableFactory(options);
}

TableFactory* NewCuckooTableFactory(const CuckooTableOptions& table_options) {
  return new CuckooTableFactory(table_options);
}

// Each table is read by its footer, so the factories for reading other formats are not needed.
TableFactory* NewAdaptiveTableFactory(std::shared_ptr<TableFactory> table_factory_to_write,
                                      std::shared_ptr<TableFactory> block_based_table_factory,
                                      std::shared_ptr<TableFactory> /*plain_table_factory*/,
                                      std::shared_ptr<TableFactory> /*cuckoo_table_factory*/) {
  return new AdaptiveTableFactory(std::move(table_factory_to_write),
                                  std::move(block_based_table_factory));
}

// For programs that read the properties.
const std::string PlainTablePropertyNames::kEncodingType = kPlainEncodingProperty;
const std::string PlainTablePropertyNames::kBloomVersion = kPlainBloomVersionProperty;
const std::string PlainTablePropertyNames::kNumBloomBlocks = kPlainBloomLinesProperty;
const std::string CuckooTablePropertyNames::kEmptyKey = kCuckooEmptyKeyProperty;
const std::string CuckooTablePropertyNames::kValueLength = kCuckooValueLengthProperty;
const std::string CuckooTablePropertyNames::kNumHashFunc = kCuckooHashCountProperty;
const std::string CuckooTablePropertyNames::kCuckooBlockSize = kCuckooBlockSizeProperty;
const std::string CuckooTablePropertyNames::kHashTableSize = kCuckooTableSizeProperty;
const std::string CuckooTablePropertyNames::kIsLastLevel = kCuckooLastLevelProperty;
const std::string CuckooTablePropertyNames::kIdentityAsFirstHash = kCuckooIdentityProperty;
const std::string CuckooTablePropertyNames::kUseModuleHash = kCuckooModuloProperty;
const std::string CuckooTablePropertyNames::kUserKeyLength = kCuckooUserKeyLengthProperty;

}  // namespace ashlar
