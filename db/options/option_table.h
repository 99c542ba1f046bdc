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
#include <type_traits>
#include <utility>

#include "db/options/option_values.h"

namespace ashlar {

// When a changed value is used.
enum class TakesEffect : uint8_t {
  kAtOpen,
  kDynamic,  // also by SetOptions() or SetDBOptions(), for work that starts later
  kInside,   // an object with options of its own, each of which has its own row
};

// How far the option is built.
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

// One option: its description, its place, and the functions for values of its type. Hundreds of
// options have few types, so only the place is a function of each option.
struct OptionRow {
  OptionInfo facts;
  // The value in the struct to which the table belongs. The functions below get its address. parse
  // or print is nullptr if the option has no text form and exists only in programs.
  void* (*value_in)(void* options);
  Status (*parse)(const ConfigOptions& config, std::string_view text, void* value);
  void (*print)(const PrintContext& context, const void* value, std::string* text);
  bool (*is_same)(const void* a, const void* b);
  bool (*is_within_bounds)(const OptionInfo& facts, const void* value);

  const char* name() const { return facts.name; }

  // The functions for the value in a struct.
  const void* ValueIn(const void* options) const { return value_in(const_cast<void*>(options)); }
  Status Parse(const ConfigOptions& config, std::string_view text, void* options) const {
    return parse(config, text, value_in(options));
  }
  void Print(const PrintContext& context, const void* options, std::string* text) const {
    print(context, ValueIn(options), text);
  }
  bool IsSame(const void* a, const void* b) const { return is_same(ValueIn(a), ValueIn(b)); }
  bool IsWithinBounds(const void* options) const {
    return is_within_bounds(facts, ValueIn(options));
  }
};

using OptionTable = std::span<const OptionRow>;

// The tables. Each is made of constants, and may be used by any thread at any time.
OptionTable DbOptionTable();            // of a DBOptions
OptionTable ColumnFamilyOptionTable();  // of a ColumnFamilyOptions
OptionTable BlockBasedOptionTable();    // of a BlockBasedTableOptions
OptionTable PlainTableOptionTable();    // of a PlainTableOptions
OptionTable CuckooTableOptionTable();   // of a CuckooTableOptions
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
// bool SameValue
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

template <typename Value>
Status ParseAs(const ConfigOptions& config, std::string_view text, void* value) {
  return ParseValue(config, text, static_cast<Value*>(value));
}
template <typename Value>
void PrintAs(const PrintContext& context, const void* value, std::string* text) {
  PrintValue(context, *static_cast<const Value*>(value), text);
}
template <typename Value>
bool IsSameAs(const void* a, const void* b) {
  return SameValue(*static_cast<const Value*>(a), *static_cast<const Value*>(b));
}
template <typename Value>
bool IsWithinBoundsAs(const OptionInfo& limits, const void* untyped) {
  const Value& value = *static_cast<const Value*>(untyped);
  if constexpr (std::is_arithmetic_v<Value>) {
    const auto number = static_cast<double>(value);
    return number >= limits.least && number <= limits.greatest;
  } else if constexpr (requires { EnumNames(Value{}); }) {
    return HasEnumName(value);
  }
  return true;
}

// The type of `Member` of `Struct`, which may be a member of a base class.
template <typename Struct, auto Member>
using ValueOf = std::decay_t<decltype(std::declval<const Struct&>().*Member)>;

// A row for `Member` of `Struct`, without a text form.
template <typename Struct, auto Member>
constexpr OptionRow ProgramOption(OptionInfo facts) {
  OptionRow row{};
  row.facts = facts;
  row.value_in = [](void* options) -> void* { return &(static_cast<Struct*>(options)->*Member); };
  row.is_same = IsSameAs<ValueOf<Struct, Member>>;
  row.is_within_bounds = IsWithinBoundsAs<ValueOf<Struct, Member>>;
  return row;
}

// Like ProgramOption(), for an option that can be given as text but is not printed.
template <typename Struct, auto Member>
constexpr OptionRow ParsedOption(OptionInfo facts) {
  OptionRow row = ProgramOption<Struct, Member>(facts);
  row.parse = ParseAs<ValueOf<Struct, Member>>;
  return row;
}

// Like ParsedOption(), and printed as well.
template <typename Struct, auto Member>
constexpr OptionRow Option(OptionInfo facts) {
  OptionRow row = ParsedOption<Struct, Member>(facts);
  row.print = PrintAs<ValueOf<Struct, Member>>;
  return row;
}

// A row without a member of its own, or for another name of one: `parse` gets the struct and sets
// it; it is not printed.
constexpr OptionRow TextOption(OptionInfo facts,
                               Status (*parse)(const ConfigOptions&, std::string_view, void*)) {
  OptionRow row{};
  row.facts = facts;
  row.value_in = [](void* options) { return options; };
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
