// SPDX-License-Identifier: Apache-2.0
//
// The option tables: one row per option, from which everything reads that treats options one by
// one - parsing, printing, the OPTIONS file, SetOptions(), comparison, the check at open, tools and
// the reference page.
//
// The default of an option is that of a default-constructed struct. Tables are constant; the
// functions on them are pure.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "db/options/option_values.h"

namespace ashlar {

enum class TakesEffect : uint8_t {
  kAtOpen,
  kDynamic,  // SetOptions(), SetDBOptions(): for work that starts later
  kInside,   // an object whose own options say it, each for itself
};

enum class Support : uint8_t {
  kHonoured,
  kHint,         // any value is accepted and has no effect
  kDefaultOnly,  // not built yet: another value than the default is refused at open
  kSomeValues,   // honoured for the values that option_support.cc accepts
};

// What a row says about its option, for people to write and read.
struct OptionFacts {
  const char* name;
  const char* help;
  Support support = Support::kHonoured;
  TakesEffect takes_effect = TakesEffect::kAtOpen;
  Since since = Since::kRocksDb78;
  // Inclusive bounds of numbers: a value outside is refused with InvalidArgument.
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();
};

struct OptionRow {
  OptionFacts facts;
  // On the struct the table belongs to. parse or print are nullptr where an option has no text
  // form: it exists in programs only.
  Status (*parse)(const ConfigOptions& config, std::string_view text, void* options);
  void (*print)(const PrintContext& context, const void* options, std::string* text);
  bool (*is_same)(const void* a, const void* b);
  bool (*is_within_bounds)(const OptionFacts& facts, const void* options);

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

// nullptr if there is none.
const OptionRow* FindOption(OptionTable table, std::string_view name);
// Sets one option of *options from text. "member.part" reaches into a nested struct.
Status SetOption(OptionTable table, const ConfigOptions& config, const NameValue& option,
                 void* options);
// "name=value" and the delimiter for each option that has a text form.
void PrintOptions(OptionTable table, const PrintContext& context, const void* options,
                  std::string* text);

// NotSupported, naming the first kDefaultOnly option that differs from `defaults`; InvalidArgument,
// naming the first that is out of bounds.
Status CheckRows(OptionTable table, const void* options, const void* defaults);

// ---- making rows

inline bool SameValue(const std::vector<DbPath>& a, const std::vector<DbPath>& b) {
  return a.empty() && b.empty();  // asked only against the default, which is empty
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

// A row for `Member` of `Struct`, without a text form.
template <typename Struct, auto Member>
constexpr OptionRow ProgramOption(OptionFacts facts) {
  OptionRow row{};
  row.facts = facts;
  row.is_same = [](const void* a, const void* b) {
    return SameValue(static_cast<const Struct*>(a)->*Member,
                     static_cast<const Struct*>(b)->*Member);
  };
  row.is_within_bounds = [](const OptionFacts& limits, const void* options) {
    using Value = std::decay_t<decltype(static_cast<const Struct*>(options)->*Member)>;
    if constexpr (std::is_arithmetic_v<Value>) {
      const auto value = static_cast<double>(static_cast<const Struct*>(options)->*Member);
      return value >= limits.least && value <= limits.greatest;
    }
    return true;
  };
  return row;
}

// The same for one that can be given as text, but is not printed.
template <typename Struct, auto Member>
constexpr OptionRow ParsedOption(OptionFacts facts) {
  OptionRow row = ProgramOption<Struct, Member>(facts);
  row.parse = [](const ConfigOptions& config, std::string_view text, void* options) {
    return ParseValue(config, text, &(static_cast<Struct*>(options)->*Member));
  };
  return row;
}

// The same with a text form.
template <typename Struct, auto Member>
constexpr OptionRow Option(OptionFacts facts) {
  OptionRow row = ParsedOption<Struct, Member>(facts);
  row.print = [](const PrintContext& context, const void* options, std::string* text) {
    PrintValue(context, static_cast<const Struct*>(options)->*Member, text);
  };
  return row;
}

// A row for what is no member, or for another name of one: `parse` sets it, nothing prints it.
constexpr OptionRow TextOption(OptionFacts facts,
                               Status (*parse)(const ConfigOptions&, std::string_view, void*)) {
  OptionRow row{};
  row.facts = facts;
  row.parse = parse;
  row.is_same = [](const void*, const void*) { return true; };
  row.is_within_bounds = [](const OptionFacts&, const void*) { return true; };
  return row;
}

// A name that older releases write and newer ones still read, without anything behind it: any value
// is accepted.
constexpr OptionRow RetiredOption(const char* name,
                                  TakesEffect takes_effect = TakesEffect::kAtOpen) {
  return TextOption({name, "an option of older releases; ignored", Support::kHint, takes_effect},
                    [](const ConfigOptions&, std::string_view, void*) { return Status::OK(); });
}

}  // namespace ashlar
