// SPDX-License-Identifier: Apache-2.0
//
// The option tables have one row for each option. All code that treats options one by one reads
// them: parsing, printing, the OPTIONS file, SetOptions(), comparison, the check at open, tools and
// the reference page.
//
// The default of an option is its value in a default-constructed struct. Tables are constant; the
// functions on them are pure.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "db/options/option_values.h"

namespace ashlar {

enum class TakesEffect : uint8_t {
  kAtOpen,
  kDynamic,  // also by SetOptions() or SetDBOptions(), for work that starts later
  kInside,   // an object with options of its own, each of which has its own row
};

enum class Support : uint8_t {
  kHonoured,
  kHint,         // any value is accepted and has no effect
  kDefaultOnly,  // not built yet: any value but the default is refused at open
  kSomeValues,   // honoured for the values that options_check.cc accepts
};

// The description of an option. Texts are literals; `help` is shown on the reference page.
struct OptionInfo {
  const char* name;
  const char* help;
  Support support = Support::kHonoured;
  TakesEffect takes_effect = TakesEffect::kAtOpen;
  Since since = Since::kRocksDb78;
  // Inclusive bounds of numbers: a value outside is refused with InvalidArgument. A number that no
  // enumerator has is outside the bounds of an enumeration.
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();
};

// One option: its description and the functions for its value.
struct OptionRow {
  OptionInfo facts;
  // All functions get a pointer to the struct to which the table belongs. parse or print is nullptr
  // if the option has no text form and exists only in programs.
  Status (*parse)(const ConfigOptions& config, std::string_view text, void* options);
  void (*print)(const PrintContext& context, const void* options, std::string* text);
  bool (*is_same)(const void* a, const void* b);
  bool (*is_within_bounds)(const OptionInfo& facts, const void* options);

  const char* name() const { return facts.name; }
};

using OptionTable = std::span<const OptionRow>;

OptionTable DbOptionTable();            // of a DBOptions
OptionTable ColumnFamilyOptionTable();  // of a ColumnFamilyOptions
OptionTable BlockBasedOptionTable();    // of a BlockBasedTableOptions
OptionTable PlainTableOptionTable();    // of a PlainTableOptions
OptionTable CompressionOptionTable();   // of a CompressionOptions
OptionTable UniversalOptionTable();     // of a CompactionOptionsUniversal
OptionTable FifoOptionTable();          // of a CompactionOptionsFIFO
OptionTable TemperatureAgeTable();      // of a FileTemperatureAge
OptionTable MetadataCacheTable();       // of a MetadataCacheOptions

// Null if the table has no such row. A linear search, because options are looked up rarely.
const OptionRow* FindOption(OptionTable table, std::string_view name);
// Sets one option of `*options` from text. "member.part" names a member of a nested struct. After
// an error the option has its old value, except for nested structs (see option_values.h).
Status SetOption(OptionTable table, const ConfigOptions& config, const NameValue& option,
                 void* options);
// Appends "name=value" and the delimiter for each option that has a text form.
void PrintOptions(OptionTable table, const PrintContext& context, const void* options,
                  std::string* text);

// NotSupported names the first kDefaultOnly option that differs from `defaults`. InvalidArgument
// names the first option that is out of bounds.
Status CheckRows(OptionTable table, const void* options, const void* defaults);

// InvalidArgument names the first enumeration in a nested struct, as "member.part", whose number
// has no name. Rows of nested structs are not checked by CheckRows().
Status CheckNestedEnums(const ColumnFamilyOptions& options);
Status CheckNestedEnums(const BlockBasedTableOptions& options);

// ---- making rows

inline bool SameValue(const std::vector<DbPath>& a, const std::vector<DbPath>& b) {
  return a.empty() && b.empty();  // `b` is always the default, which is empty
}
inline bool SameValue(const MetadataCacheOptions& a, const MetadataCacheOptions& b) {
  return a.top_level_index_pinning == b.top_level_index_pinning &&
         a.partition_pinning == b.partition_pinning &&
         a.unpartitioned_pinning == b.unpartitioned_pinning;
}
inline bool SameValue(const CacheUsageOptions& a, const CacheUsageOptions& b) {
  return a.options == b.options && a.options_overrides == b.options_overrides;
}
template <typename T>
bool SameValue(const T& a, const T& b) {
  return a == b;
}

// Compression types are checked with the libraries that are linked.
template <typename Enum>
bool HasEnumName(Enum value) {
  if constexpr (std::is_same_v<Enum, CompressionType>) return true;
  const std::span<const EnumName> names = EnumNames(value);
  return names.empty() || std::any_of(names.begin(), names.end(), [value](const EnumName& name) {
           return name.value == static_cast<int64_t>(value);
         });
}

// A row for `Member` of `Struct`, without a text form.
template <typename Struct, auto Member>
constexpr OptionRow ProgramOption(OptionInfo facts) {
  OptionRow row{};
  row.facts = facts;
  row.is_same = [](const void* a, const void* b) {
    return SameValue(static_cast<const Struct*>(a)->*Member,
                     static_cast<const Struct*>(b)->*Member);
  };
  row.is_within_bounds = [](const OptionInfo& limits, const void* options) {
    using Value = std::decay_t<decltype(static_cast<const Struct*>(options)->*Member)>;
    if constexpr (std::is_arithmetic_v<Value>) {
      const auto value = static_cast<double>(static_cast<const Struct*>(options)->*Member);
      return value >= limits.least && value <= limits.greatest;
    } else if constexpr (requires { EnumNames(Value{}); }) {
      return HasEnumName(static_cast<const Struct*>(options)->*Member);
    }
    return true;
  };
  return row;
}

// Like ProgramOption(), for an option that can be given as text but is not printed.
template <typename Struct, auto Member>
constexpr OptionRow ParsedOption(OptionInfo facts) {
  OptionRow row = ProgramOption<Struct, Member>(facts);
  row.parse = [](const ConfigOptions& config, std::string_view text, void* options) {
    return ParseValue(config, text, &(static_cast<Struct*>(options)->*Member));
  };
  return row;
}

// Like ParsedOption(), and printed as well.
template <typename Struct, auto Member>
constexpr OptionRow Option(OptionInfo facts) {
  OptionRow row = ParsedOption<Struct, Member>(facts);
  row.print = [](const PrintContext& context, const void* options, std::string* text) {
    PrintValue(context, static_cast<const Struct*>(options)->*Member, text);
  };
  return row;
}

// A row without a member of its own, or for another name of one: `parse` sets it, and it is not
// printed.
constexpr OptionRow TextOption(OptionInfo facts,
                               Status (*parse)(const ConfigOptions&, std::string_view, void*)) {
  OptionRow row{};
  row.facts = facts;
  row.parse = parse;
  row.is_same = [](const void*, const void*) { return true; };
  row.is_within_bounds = [](const OptionInfo&, const void*) { return true; };
  return row;
}

// A name that older releases write. It is still accepted, with any value, and has no effect.
constexpr OptionRow RetiredOption(const char* name,
                                  TakesEffect takes_effect = TakesEffect::kAtOpen) {
  return TextOption({name, "an option of older releases; ignored", Support::kHint, takes_effect},
                    [](const ConfigOptions&, std::string_view, void*) { return Status::OK(); });
}

}  // namespace ashlar
