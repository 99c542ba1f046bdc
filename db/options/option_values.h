// SPDX-License-Identifier: Apache-2.0
//
// Conversion of option values to text and back: ParseValue() and PrintValue() have one overload for
// each type.
//
// ParseValue() changes `*value` only on success, except for nested structs, whose members are set
// one by one on top of the present values. Objects that are not built in leave `*value` unchanged,
// without an error, if ConfigOptions::ignore_unsupported_options is set. Pure functions.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/flush_block_policy.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "util/text/option_text.h"

namespace ashlar {

// The oldest release whose OPTIONS files may contain a name.
enum class Since : uint8_t {
  kRocksDb78,
  kRocksDb119,
  kAshlar,  // our own option: never written to OPTIONS files as a key
};

// How values are printed.
struct PrintContext {
  ConfigOptions config;
  // Names that are newer than this are not printed.
  Since newest = Since::kRocksDb119;
  bool as_numbers = false;  // flags and enumerations too, for the info log
};

// InvalidArgument with what was expected and the beginning of what was found.
Status BadOptionValue(std::string_view expected, std::string_view text);

// ---- numbers, flags and text

Status ParseValue(const ConfigOptions& config, std::string_view text, bool* value);
Status ParseValue(const ConfigOptions& config, std::string_view text, double* value);
Status ParseValue(const ConfigOptions& config, std::string_view text, std::string* value);
void PrintValue(const PrintContext& context, bool value, std::string* text);
void PrintValue(const PrintContext& context, double value, std::string* text);
void PrintValue(const PrintContext& context, const std::string& value, std::string* text);

template <typename T>
concept OptionInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// Parses with 64 bits and refuses a number that the type of the option cannot hold. `*value` is
// changed only on success.
template <OptionInteger T>
Status ParseValue(const ConfigOptions&, std::string_view text, T* value) {
  if constexpr (std::is_signed_v<T>) {
    int64_t wide;
    if (!ParseInt64Text(text, &wide) || static_cast<int64_t>(static_cast<T>(wide)) != wide) {
      return BadOptionValue("a number that fits", text);
    }
    *value = static_cast<T>(wide);
  } else {
    uint64_t wide;
    if (!ParseUint64Text(text, &wide) || static_cast<uint64_t>(static_cast<T>(wide)) != wide) {
      return BadOptionValue("a number that fits, not negative", text);
    }
    *value = static_cast<T>(wide);
  }
  return Status::OK();
}
template <OptionInteger T>
void PrintValue(const PrintContext&, T value, std::string* text) {
  text->append(std::to_string(value));
}

// ---- enumerations, by the name of the enumerator

// The names are those of the enumerators in the public headers, which the OPTIONS files of RocksDB
// use.
struct EnumName {
  const char* name;
  int64_t value;
  const char* name_for_7_8 = nullptr;  // the nearest value that 7.8 knows; null: it knows this one
};

// The names of one enumeration; the argument only selects the overload.
std::span<const EnumName> EnumNames(CompressionType);
std::span<const EnumName> EnumNames(CompactionStyle);
std::span<const EnumName> EnumNames(CompactionPri);
std::span<const EnumName> EnumNames(CompactionStopStyle);
std::span<const EnumName> EnumNames(ChecksumType);
std::span<const EnumName> EnumNames(BlockBasedTableOptions::IndexType);
std::span<const EnumName> EnumNames(BlockBasedTableOptions::BlockSearchType);
std::span<const EnumName> EnumNames(BlockBasedTableOptions::DataBlockIndexType);
std::span<const EnumName> EnumNames(BlockBasedTableOptions::IndexShorteningMode);
std::span<const EnumName> EnumNames(BlockBasedTableOptions::PrepopulateBlockCache);
std::span<const EnumName> EnumNames(PinningTier);
std::span<const EnumName> EnumNames(PrepopulateBlobCache);
std::span<const EnumName> EnumNames(WALRecoveryMode);
std::span<const EnumName> EnumNames(InfoLogLevel);
std::span<const EnumName> EnumNames(Temperature);
std::span<const EnumName> EnumNames(CacheTier);
std::span<const EnumName> EnumNames(EncodingType);
std::span<const EnumName> EnumNames(VerifyOutputFlags);  // empty: printed as a number

Status ParseEnum(std::span<const EnumName> names, std::string_view text, int64_t* value);
// Prints a number if no enumerator has the value.
void PrintEnum(const PrintContext& context, std::span<const EnumName> names, int64_t value,
               std::string* text);

template <typename T>
requires std::is_enum_v<T> Status ParseValue(const ConfigOptions&, std::string_view text,
                                             T* value) {
  int64_t number;
  Status status = ParseEnum(EnumNames(T{}), text, &number);
  if (status.ok()) *value = static_cast<T>(number);
  return status;
}
template <typename T>
requires std::is_enum_v<T>
void PrintValue(const PrintContext& context, T value, std::string* text) {
  PrintEnum(context, EnumNames(T{}), static_cast<int64_t>(value), text);
}

// ---- nested structs

Status ParseValue(const ConfigOptions& config, std::string_view text, CompressionOptions* value);
Status ParseValue(const ConfigOptions& config, std::string_view text,
                  CompactionOptionsUniversal* value);
Status ParseValue(const ConfigOptions& config, std::string_view text, CompactionOptionsFIFO* value);
Status ParseValue(const ConfigOptions& config, std::string_view text, FileTemperatureAge* value);
Status ParseValue(const ConfigOptions& config, std::string_view text, MetadataCacheOptions* value);
void PrintValue(const PrintContext& context, const CompressionOptions& value, std::string* text);
void PrintValue(const PrintContext& context, const CompactionOptionsUniversal& value,
                std::string* text);
void PrintValue(const PrintContext& context, const CompactionOptionsFIFO& value, std::string* text);
void PrintValue(const PrintContext& context, const FileTemperatureAge& value, std::string* text);
void PrintValue(const PrintContext& context, const MetadataCacheOptions& value, std::string* text);

// ---- lists, joined by colons

template <typename T>
Status ParseValue(const ConfigOptions& config, std::string_view text, std::vector<T>* value) {
  std::vector<std::string> items;
  Status status = SplitList(text, ':', &items);
  if (!status.ok()) return status;
  std::vector<T> parsed;
  for (const std::string& item : items) {
    parsed.emplace_back();
    status = ParseValue(config, item, &parsed.back());
    if (!status.ok()) return status;
  }
  *value = std::move(parsed);
  return Status::OK();
}
template <typename T>
void PrintValue(const PrintContext& context, const std::vector<T>& value, std::string* text) {
  const char* separator = "";
  std::string items;
  for (const T& item : value) {
    items.append(separator);
    PrintValue(context, item, &items);
    separator = ":";
  }
  // RocksDB takes the first closing brace for the end of the whole list, so the list gets its own.
  const bool is_nested = items.find('=') != std::string::npos;
  text->append(is_nested ? "{" : "").append(items).append(is_nested ? "}" : "");
}

// ---- objects, by name

// The result for an object that is not built in: OK, so that it is ignored, or NotSupported.
Status UnknownObject(const ConfigOptions& config, const char* kind, std::string_view text);

// Types whose objects CreateFromString() can create.
template <typename T>
concept NamedObject = requires(const ConfigOptions& config, const std::string& text,
                               std::shared_ptr<T>* object) {
  { std::remove_const_t<T>::CreateFromString(config, text, object) } -> std::same_as<Status>;
};

template <NamedObject T>
Status ParseValue(const ConfigOptions& config, std::string_view text, std::shared_ptr<T>* value) {
  const std::string name = StripBraces(text);
  if (name.empty() || name == "nullptr") {
    value->reset();
    return Status::OK();
  }
  Status status = std::remove_const_t<T>::CreateFromString(config, name, value);
  if (status.IsNotSupported()) return UnknownObject(config, std::remove_const_t<T>::Type(), text);
  return status;
}
template <NamedObject T>
void PrintValue(const PrintContext& context, const std::shared_ptr<T>& value, std::string* text) {
  text->append(value == nullptr ? "nullptr" : value->ToString(context.config));
}

// Plug-in types that are only declared. Their option can only be unset.
template <typename T>
concept DeclaredObject = !requires {
  sizeof(T);
};

template <DeclaredObject T>
Status ParseValue(const ConfigOptions& config, std::string_view text, std::shared_ptr<T>* value) {
  if (TrimSpaces(text) != "nullptr") return UnknownObject(config, "plug-in", text);
  value->reset();
  return Status::OK();
}
template <DeclaredObject T>
void PrintValue(const PrintContext&, const std::shared_ptr<T>&, std::string* text) {
  text->append("nullptr");
}

// Options without a name are set on top of those of the present factory. With
// config.mutable_options_only that is the only possibility.
Status ParseValue(const ConfigOptions& config, std::string_view text,
                  std::shared_ptr<TableFactory>* value);
Status ParseValue(const ConfigOptions& config, std::string_view text, const Comparator** value);
Status ParseValue(const ConfigOptions& config, std::string_view text,
                  const CompactionFilter** value);
Status ParseValue(const ConfigOptions& config, std::string_view text, WalFilter** value);
void PrintValue(const PrintContext& context, const Comparator* value, std::string* text);
void PrintValue(const PrintContext& context, const CompactionFilter* value, std::string* text);
void PrintValue(const PrintContext& context, WalFilter* value, std::string* text);

Status ParseValue(const ConfigOptions& config, std::string_view text,
                  std::shared_ptr<MergeOperator>* value);
Status ParseValue(const ConfigOptions& config, std::string_view text,
                  std::shared_ptr<CompactionFilterFactory>* value);
void PrintValue(const PrintContext& context, const std::shared_ptr<MergeOperator>& value,
                std::string* text);
void PrintValue(const PrintContext& context, const std::shared_ptr<CompactionFilterFactory>& value,
                std::string* text);

}  // namespace ashlar
