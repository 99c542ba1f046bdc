// SPDX-License-Identifier: Apache-2.0
//
// Creates plug-in objects from option texts, by name and with their own options: those that the
// program has registered (ConfigOptions::registry), else the built-in ones. For an unknown name the
// present object is kept if ConfigOptions::ignore_unsupported_options is set (the default);
// otherwise the result is NotSupported.
#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/file_checksum.h"
#include "ashlar/filter_policy.h"
#include "ashlar/flush_block_policy.h"
#include "ashlar/listener.h"
#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "ashlar/utilities/table_properties_collectors.h"
#include "db/options/stock_merge_operators.h"
#include "db/options/table_factory.h"
#include "util/interfaces/filter_policy_impl.h"
#include "util/interfaces/registered_objects.h"
#include "util/result.h"
#include "util/text/option_text.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The parts of "id:parameter:..." or "{id=...;name=value;...}".
struct ObjectText {
  std::string name;                     // without parameters
  std::vector<std::string> parameters;  // the parts after the colons
  std::unordered_map<std::string, std::string> options;

  // Null means "no object", which every kind of plug-in accepts.
  bool is_null() const { return name.empty() || name == "nullptr"; }
  // The result for a name that no built-in class has.
  Status Unknown(const ConfigOptions& config, const char* kind) const {
    if (config.ignore_unsupported_options) return Status::OK();
    return Status::NotSupported(StrCat(kind, " '", name, "': no built-in class has that name"));
  }
};

// Splits the text into name, parameters and options.
Status Parse(const std::string& text, ObjectText* object) {
  assert(object != nullptr);
  std::string id;
  Status status = Configurable::GetOptionsMap(text, "", &id, &object->options);
  if (!status.ok()) return status;
  std::vector<std::string> parts;
  status = SplitList(id, ':', &parts);
  if (!status.ok() || parts.empty()) return status;
  object->name = parts[0];
  object->parameters.assign(parts.begin() + 1, parts.end());
  return Status::OK();
}

// Sets the options of a new object, and hands it out if all of them are valid.
template <typename T>
Status Finish(const ConfigOptions& config, const ObjectText& text, std::unique_ptr<T> object,
              // The object is created unconfigured, so a wrong option leaves the present object in
              // its place.
              std::shared_ptr<T>* result) {
  assert(object != nullptr && result != nullptr);
  Status status = object->ConfigureFromMap(config, text.options);
  if (status.ok()) *result = std::move(object);
  return status;
}

// Creates an object of a kind that has no built-in classes.
template <typename T>
Status OnlyNull(const ConfigOptions& config, const char* kind, const std::string& text,
                std::shared_ptr<T>* result) {
  assert(result != nullptr);
  ObjectText object;
  Status status = Parse(text, &object);
  if (!status.ok()) return status;
  if (!object.is_null()) return object.Unknown(config, kind);
  result->reset();
  return Status::OK();
}

// A parameter that does not fit is treated like an unknown name.
Status BadParameter(const ConfigOptions& config, const ObjectText& text) {
  if (config.ignore_unsupported_options) return Status::OK();
  return Status::NotSupported(StrCat(text.name, ": bad parameter"),
                              text.parameters.empty() ? "" : text.parameters.back());
}

// Creates a memtable factory; null for an unknown name. `parameter` is 0 unless `has_parameter`.
MemTableRepFactory* MemtableFactoryByName(const std::string& name, uint64_t parameter,
                                          bool has_parameter) {
  assert(has_parameter || parameter == 0);
  if (name == SkipListFactory::kClassName() || name == SkipListFactory::kNickName()) {
    return new SkipListFactory(parameter);
  }
  if (name == VectorRepFactory::kClassName() || name == VectorRepFactory::kNickName()) {
    return new VectorRepFactory(parameter);
  }
  if (name == "HashSkipListRepFactory" || name == "prefix_hash") {
    return has_parameter ? NewHashSkipListRepFactory(parameter) : NewHashSkipListRepFactory();
  }
  if (name == "HashLinkListRepFactory" || name == "hash_linkedlist") {
    return has_parameter ? NewHashLinkListRepFactory(parameter) : NewHashLinkListRepFactory();
  }
  return nullptr;
}

// Pointer is a unique_ptr or a shared_ptr.
template <typename Pointer>
Status MakeMemtableFactory(const ConfigOptions& config, const std::string& id, Pointer* factory) {
  assert(factory != nullptr);
  Status registered;
  if (MakeRegistered<MemTableRepFactory>(config, id, factory, &registered)) return registered;
  ObjectText text;
  Status status = Parse(id, &text);
  if (!status.ok()) return status;
  if (text.is_null()) {
    factory->reset();
    return Status::OK();
  }
  uint64_t parameter = 0;
  const bool has_parameter = !text.parameters.empty();
  if (text.parameters.size() > 1 ||
      (has_parameter && !ParseUint64Text(text.parameters[0], &parameter))) {
    return BadParameter(config, text);
  }
  // Owned until the options are set, so that an error frees it.
  std::unique_ptr<MemTableRepFactory> made(
      MemtableFactoryByName(text.name, parameter, has_parameter));
  if (made == nullptr) return text.Unknown(config, "memtable factory");
  status = made->ConfigureFromMap(config, text.options);
  if (status.ok()) *factory = std::move(made);
  return status;
}

// Parses bloomfilter:BITS[:ignored] or ribbonfilter:BITS[:LEVEL].
Status MakeFilterPolicy(const ConfigOptions& config, ObjectText text,
                        std::shared_ptr<const FilterPolicy>* result) {
  assert(result != nullptr);
  // The second parameter of a Bloom filter chose a form that no release writes any more. It is
  // checked and ignored.
  const bool is_ribbon = text.name == "ribbonfilter" || text.name == "rocksdb.RibbonFilter";
  double bits = 0;
  int64_t before_level = 0;
  bool ignored;
  if (text.parameters.empty() || text.parameters.size() > 2 ||
      !ParseDoubleText(text.parameters[0], &bits)) {
    return BadParameter(config, text);
  }
  if (text.parameters.size() == 2) {
    const bool is_good = is_ribbon ? ParseInt64Text(text.parameters[1], &before_level)
                                   : ParseBoolText(text.parameters[1], &ignored);
    if (!is_good) return BadParameter(config, text);
  }
  const auto option = text.options.find("bloom_before_level");
  if (is_ribbon && option != text.options.end()) {
    if (!ParseInt64Text(option->second, &before_level)) return BadParameter(config, text);
    text.options.erase(option);
  }
  // Filter policies have no other options.
  // An option that is not known must not be dropped, because the filters would not be those asked
  // for.
  if (!text.options.empty()) {
    return Status::InvalidArgument(StrCat(text.name, ": unknown option"),
                                   text.options.begin()->first);
  }
  // Out of range levels mean "none" or "all".
  before_level = std::clamp<int64_t>(before_level, -1, INT32_MAX);
  if (is_ribbon) {
    result->reset(NewRibbonFilterPolicy(bits, static_cast<int>(before_level)));
  } else {
    result->reset(NewBloomFilterPolicy(bits));
  }
  return Status::OK();
}

// Ends a block after every key.
class EveryKeyPolicy final : public FlushBlockPolicy {
 public:
  // The first key of a block does not end the block before it.
  bool Update(const Slice& /*key*/, const Slice& /*value*/) override {
    // The exchange returns false for the first key, which has no block before it.
    return std::exchange(has_entry_, true);
  }

 private:
  bool has_entry_ = false;
};

class EveryKeyFactory final : public FlushBlockPolicyFactory {
 public:
  static const char* kClassName() { return "FlushBlockEveryKeyPolicyFactory"; }
  const char* Name() const override { return kClassName(); }
  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions&,
                                        const BlockBuilder&) const override {
    return new EveryKeyPolicy;
  }
};

}  // namespace

Status MemTableRepFactory::CreateFromString(const ConfigOptions& config_options,
                                            const std::string& id,
                                            std::unique_ptr<MemTableRepFactory>* factory) {
  return MakeMemtableFactory(config_options, id, factory);
}

Status MemTableRepFactory::CreateFromString(const ConfigOptions& config_options,
                                            const std::string& id,
                                            std::shared_ptr<MemTableRepFactory>* factory) {
  return MakeMemtableFactory(config_options, id, factory);
}

// Unlike CreateFromString() this function of RocksDB's API never ignores an unknown name.
Status GetMemTableRepFactoryFromString(const std::string& opts_str,
                                       std::unique_ptr<MemTableRepFactory>* new_mem_factory) {
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  return MakeMemtableFactory(strict, opts_str, new_mem_factory);
}

// Classes that the program has registered go before the built-in ones.
Status FilterPolicy::CreateFromString(const ConfigOptions& config, const std::string& value,
                                      std::shared_ptr<const FilterPolicy>* result) {
  assert(result != nullptr);
  Status registered;
  if (MakeRegistered<const FilterPolicy>(config, value, result, &registered) ||
      MakeRegistered<FilterPolicy>(config, value, result, &registered)) {
    return registered;
  }
  ObjectText text;
  Status status = Parse(value, &text);
  if (!status.ok()) return status;
  if (text.is_null()) {
    result->reset();
    return Status::OK();
  }
  if (text.name == "bloomfilter" || text.name == "rocksdb.BloomFilter" ||
      text.name == "ribbonfilter" || text.name == "rocksdb.RibbonFilter") {
    return MakeFilterPolicy(config, std::move(text), result);
  }
  if (text.name == kBuiltinFilterName) {  // the name in files: enough to read, writes no filters
    *result = std::make_shared<BuiltinFilterPolicy>(FilterKind::kBloom, 0, 0);
    return Status::OK();
  }
  return text.Unknown(config, "filter policy");
}

Status TableFactory::CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                      std::shared_ptr<TableFactory>* factory) {
  assert(factory != nullptr);
  Status registered;
  if (MakeRegistered<TableFactory>(config_options, id, factory, &registered)) return registered;
  ObjectText text;
  Status status = Parse(id, &text);
  if (!status.ok()) return status;
  if (text.is_null()) {
    factory->reset();
    return Status::OK();
  }
  std::unique_ptr<TableFactory> made;
  if (text.name == kBlockBasedTableName()) {
    made.reset(NewBlockBasedTableFactory());
  } else if (text.name == kPlainTableName()) {
    made.reset(NewPlainTableFactory());
  } else if (text.name == kCuckooTableName()) {
    made.reset(NewCuckooTableFactory());
  } else {
    return text.Unknown(config_options, "table factory");
  }
  return Finish(config_options, text, std::move(made), factory);
}

// No name means the default policy, which ends blocks by size.
Status FlushBlockPolicyFactory::CreateFromString(const ConfigOptions& config_options,
                                                 const std::string& value,
                                                 std::shared_ptr<FlushBlockPolicyFactory>* result) {
  assert(result != nullptr);
  Status registered;
  if (MakeRegistered<FlushBlockPolicyFactory>(config_options, value, result, &registered))
    return registered;
  ObjectText text;
  Status status = Parse(value, &text);
  if (!status.ok()) return status;
  if (text.is_null() || text.name == FlushBlockBySizePolicyFactory::kClassName()) {
    std::unique_ptr<FlushBlockPolicyFactory> made(new FlushBlockBySizePolicyFactory());
    return Finish(config_options, text, std::move(made), result);
  }
  if (text.name == EveryKeyFactory::kClassName()) {
    std::unique_ptr<FlushBlockPolicyFactory> made(new EveryKeyFactory());
    return Finish(config_options, text, std::move(made), result);
  }
  return text.Unknown(config_options, "flush block policy factory");
}

// The only built-in partitioner cuts by fixed prefixes.
Status SstPartitionerFactory::CreateFromString(const ConfigOptions& options,
                                               const std::string& value,
                                               std::shared_ptr<SstPartitionerFactory>* result) {
  assert(result != nullptr);
  Status registered;
  if (MakeRegistered<SstPartitionerFactory>(options, value, result, &registered)) return registered;
  ObjectText text;
  Status status = Parse(value, &text);
  if (!status.ok()) return status;
  if (text.name != SstPartitionerFixedPrefixFactory::kClassName()) {
    return OnlyNull(options, "SST partitioner factory", value, result);
  }
  std::unique_ptr<SstPartitionerFactory> made(new SstPartitionerFixedPrefixFactory(0));
  return Finish(options, text, std::move(made), result);
}

// Parameters after a colon are not supported by any merge operator.
Status MergeOperator::CreateFromString(const ConfigOptions& config, const std::string& id,
                                       std::shared_ptr<MergeOperator>* result) {
  assert(result != nullptr);
  Status registered;
  if (MakeRegistered<MergeOperator>(config, id, result, &registered)) return registered;
  ObjectText text;
  Status status = Parse(id, &text);
  if (!status.ok()) return status;
  if (text.is_null()) {
    result->reset();
    return Status::OK();
  }
  std::unique_ptr<MergeOperator> made;
  if (text.parameters.empty()) made = NewStockMergeOperator(text.name);
  if (made == nullptr) return text.Unknown(config, "merge operator");
  return Finish(config, text, std::move(made), result);
}

// Only the CRC32C factory is built in; it has two names.
Status FileChecksumGenFactory::CreateFromString(const ConfigOptions& options,
                                                const std::string& value,
                                                std::shared_ptr<FileChecksumGenFactory>* result) {
  assert(result != nullptr);
  Status registered;
  if (MakeRegistered<FileChecksumGenFactory>(options, value, result, &registered))
    return registered;
  ObjectText text;
  Status status = Parse(value, &text);
  if (!status.ok()) return status;
  const auto& standard = GetFileChecksumGenCrc32cFactory();
  if (text.name == standard->Name() || text.name == kStandardDbFileChecksumFuncName) {
    *result = standard;
    return Status::OK();
  }
  return OnlyNull(options, "file checksum factory", value, result);
}

Status EventListener::CreateFromString(const ConfigOptions& options, const std::string& id,
                                       std::shared_ptr<EventListener>* result) {
  assert(result != nullptr);
  Status registered;
  if (MakeRegistered<EventListener>(options, id, result, &registered)) return registered;
  return OnlyNull(options, "event listener", id, result);
}

// The only built-in collector marks files with many deletions for compaction.
Status TablePropertiesCollectorFactory::CreateFromString(
    const ConfigOptions& options, const std::string& value,
    std::shared_ptr<TablePropertiesCollectorFactory>* result) {
  assert(result != nullptr);
  Status registered;
  if (MakeRegistered<TablePropertiesCollectorFactory>(options, value, result, &registered))
    return registered;
  ObjectText text;
  RETURN_IF_ERROR(Parse(value, &text));
  if (text.name != CompactOnDeletionCollectorFactory::kClassName()) {
    return OnlyNull(options, "table properties collector factory", value, result);
  }
  size_t window = 0, trigger = 0, least_bytes = 0;
  double ratio = 0;
  RETURN_IF_ERROR(TakeSizeOption("window_size", &text.options, &window));
  RETURN_IF_ERROR(TakeSizeOption("deletion_trigger", &text.options, &trigger));
  RETURN_IF_ERROR(TakeSizeOption("min_file_size", &text.options, &least_bytes));
  const auto given = text.options.find("deletion_ratio");
  if (given != text.options.end()) {
    if (!ParseDoubleText(given->second, &ratio)) return BadParameter(options, text);
    text.options.erase(given);
  }
  if (!text.options.empty() && !options.ignore_unknown_options) {
    return Status::InvalidArgument(StrCat(text.name, ": unknown option"),
                                   text.options.begin()->first);
  }
  *result = NewCompactOnDeletionCollectorFactory(window, trigger, ratio, least_bytes);
  return Status::OK();
}

}  // namespace ashlar
