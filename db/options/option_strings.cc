// SPDX-License-Identifier: Apache-2.0
//
// The functions of convenience.h that turn options into text and back.
//
// Three layers: a text is split into a map of names and values; each pair is set through the option
// tables on a copy of the base options; the copy becomes the result if all pairs were valid.
#include "ashlar/convenience.h"

#include <cassert>
#include <type_traits>

#include "ashlar/table.h"
#include "db/options/option_table.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using OptionMap = std::unordered_map<std::string, std::string>;

// Whether `name`, or its part before the first dot, is in the table.
bool Knows(OptionTable table, const std::string& name) {
  return FindOption(table, name) != nullptr ||
         FindOption(table, name.substr(0, name.find('.'))) != nullptr;
}

// Applies the settings to a copy. After an error *result has the base options.
template <typename Options, typename Setter>
Status FromMap(const Options& base, const OptionMap& map, Options* result, Setter set) {
  assert(result != nullptr);
  // All or nothing: a result with half of the changes would be hard to notice.
  Options changed = base;
  *result = base;
  for (const auto& [name, value] : map) {
    Status status = set(NameValue(name, value), &changed);
    if (!status.ok()) return status;
  }
  *result = std::move(changed);
  return Status::OK();
}

template <typename Options>
using FromMapFunction = Status (*)(const ConfigOptions&, const Options&, const OptionMap&,
                                   Options*);

// Parses the text to a map first; the order of the options does not matter.
template <typename Options>
Status FromString(const ConfigOptions& config, const Options& base, const std::string& text,
                  Options* result, std::type_identity_t<FromMapFunction<Options>> from_map) {
  assert(result != nullptr);
  OptionMap map;
  Status status = StringToMap(text, &map);
  if (!status.ok()) {
    *result = base;
    return status;
  }
  return from_map(config, base, map, result);
}

// The settings of the older forms, which have two flags instead of ConfigOptions.
ConfigOptions ConfigOf(bool input_strings_escaped, bool ignore_unknown_options) {
  ConfigOptions config;
  config.input_strings_escaped = input_strings_escaped;
  config.ignore_unknown_options = ignore_unknown_options;
  return config;
}

// Prints all options of the table, with the delimiter of `config`.
template <typename Options>
Status Print(OptionTable table, const ConfigOptions& config, const Options& options,
             std::string* text) {
  assert(text != nullptr);
  PrintContext context;
  context.config = config;
  text->clear();
  PrintOptions(table, context, &options, text);
  return Status::OK();
}

}  // namespace

// Options from a map of names and texts. An unknown name is InvalidArgument unless
// config_options.ignore_unknown_options is set.
Status GetColumnFamilyOptionsFromMap(const ConfigOptions& config_options,
                                     const ColumnFamilyOptions& base_options,
                                     const OptionMap& opts_map, ColumnFamilyOptions* new_options) {
  const auto set = [&](const NameValue& option, ColumnFamilyOptions* options) {
    return SetOption(ColumnFamilyOptionTable(), config_options, option, options);
  };
  return FromMap(base_options, opts_map, new_options, set);
}

// In all these functions the result starts as a copy of the base options, to which the named
// options are applied.
Status GetDBOptionsFromMap(const ConfigOptions& cfg_options, const DBOptions& base_options,
                           const OptionMap& opts_map, DBOptions* new_options) {
  const auto set = [&](const NameValue& option, DBOptions* options) {
    return SetOption(DbOptionTable(), cfg_options, option, options);
  };
  return FromMap(base_options, opts_map, new_options, set);
}

Status GetBlockBasedTableOptionsFromMap(const ConfigOptions& config_options,
                                        const BlockBasedTableOptions& table_options,
                                        const OptionMap& opts_map,
                                        BlockBasedTableOptions* new_table_options) {
  const auto set = [&](const NameValue& option, BlockBasedTableOptions* options) {
    return SetOption(BlockBasedOptionTable(), config_options, option, options);
  };
  return FromMap(table_options, opts_map, new_table_options, set);
}

Status GetPlainTableOptionsFromMap(const ConfigOptions& config_options,
                                   const PlainTableOptions& table_options,
                                   const OptionMap& opts_map,
                                   PlainTableOptions* new_table_options) {
  const auto set = [&](const NameValue& option, PlainTableOptions* options) {
    return SetOption(PlainTableOptionTable(), config_options, option, options);
  };
  return FromMap(table_options, opts_map, new_table_options, set);
}

// Strings are split into maps first; the maps decide what is known.
Status GetColumnFamilyOptionsFromString(const ConfigOptions& config_options,
                                        const ColumnFamilyOptions& base_options,
                                        const std::string& opts_str,
                                        ColumnFamilyOptions* new_options) {
  return FromString(config_options, base_options, opts_str, new_options,
                    GetColumnFamilyOptionsFromMap);
}

Status GetDBOptionsFromString(const ConfigOptions& config_options, const DBOptions& base_options,
                              const std::string& opts_str, DBOptions* new_options) {
  return FromString(config_options, base_options, opts_str, new_options, GetDBOptionsFromMap);
}

Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config_options,
                                           const BlockBasedTableOptions& table_options,
                                           const std::string& opts_str,
                                           BlockBasedTableOptions* new_table_options) {
  return FromString(config_options, table_options, opts_str, new_table_options,
                    GetBlockBasedTableOptionsFromMap);
}

Status GetPlainTableOptionsFromString(const ConfigOptions& config_options,
                                      const PlainTableOptions& table_options,
                                      const std::string& opts_str,
                                      PlainTableOptions* new_table_options) {
  return FromString(config_options, table_options, opts_str, new_table_options,
                    GetPlainTableOptionsFromMap);
}

// Options contains the options of a database and those of a column family. A name in the string is
// first looked up among the former, then among the latter.
Status GetOptionsFromString(const Options& base_options, const std::string& opts_str,
                            Options* new_options) {
  ConfigOptions config(base_options);
  config.input_strings_escaped = false;
  return GetOptionsFromString(config, base_options, opts_str, new_options);
}

Status GetOptionsFromString(const ConfigOptions& config_options, const Options& base_options,
                            const std::string& opts_str, Options* new_options) {
  const auto from_map = [](const ConfigOptions& config, const Options& base, const OptionMap& map,
                           Options* result) {
    const auto set = [&](const NameValue& option, Options* options) {
      // Few names are in both tables; these belong to the database.
      if (Knows(DbOptionTable(), option.first)) {
        return SetOption(DbOptionTable(), config, option, static_cast<DBOptions*>(options));
      }
      return SetOption(ColumnFamilyOptionTable(), config, option,
                       static_cast<ColumnFamilyOptions*>(options));
    };
    return FromMap(base, map, result, set);
  };
  return FromString(config_options, base_options, opts_str, new_options, from_map);
}

// ---- the forms of RocksDB 7.8, without ConfigOptions

// The functions without a parameter ConfigOptions build one and call the functions that have it.
Status GetColumnFamilyOptionsFromMap(const ColumnFamilyOptions& base_options,
                                     const OptionMap& opts_map, ColumnFamilyOptions* new_options,
                                     bool input_strings_escaped, bool ignore_unknown_options) {
  return GetColumnFamilyOptionsFromMap(ConfigOf(input_strings_escaped, ignore_unknown_options),
                                       base_options, opts_map, new_options);
}

Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base_options,
                                        const std::string& opts_str,
                                        ColumnFamilyOptions* new_options) {
  return GetColumnFamilyOptionsFromString(ConfigOf(false, false), base_options, opts_str,
                                          new_options);
}

Status GetDBOptionsFromMap(const DBOptions& base_options, const OptionMap& opts_map,
                           DBOptions* new_options, bool input_strings_escaped,
                           bool ignore_unknown_options) {
  return GetDBOptionsFromMap(ConfigOf(input_strings_escaped, ignore_unknown_options), base_options,
                             opts_map, new_options);
}

Status GetDBOptionsFromString(const DBOptions& base_options, const std::string& opts_str,
                              DBOptions* new_options) {
  return GetDBOptionsFromString(ConfigOf(false, false), base_options, opts_str, new_options);
}

Status GetBlockBasedTableOptionsFromMap(const BlockBasedTableOptions& table_options,
                                        const OptionMap& opts_map,
                                        BlockBasedTableOptions* new_table_options,
                                        bool input_strings_escaped, bool ignore_unknown_options) {
  return GetBlockBasedTableOptionsFromMap(ConfigOf(input_strings_escaped, ignore_unknown_options),
                                          table_options, opts_map, new_table_options);
}

Status GetBlockBasedTableOptionsFromString(const BlockBasedTableOptions& table_options,
                                           const std::string& opts_str,
                                           BlockBasedTableOptions* new_table_options) {
  return GetBlockBasedTableOptionsFromString(ConfigOf(false, false), table_options, opts_str,
                                             new_table_options);
}

Status GetPlainTableOptionsFromMap(const PlainTableOptions& table_options,
                                   const OptionMap& opts_map, PlainTableOptions* new_table_options,
                                   bool input_strings_escaped, bool ignore_unknown_options) {
  return GetPlainTableOptionsFromMap(ConfigOf(input_strings_escaped, ignore_unknown_options),
                                     table_options, opts_map, new_table_options);
}

Status GetPlainTableOptionsFromString(const PlainTableOptions& table_options,
                                      const std::string& opts_str,
                                      PlainTableOptions* new_table_options) {
  return GetPlainTableOptionsFromString(ConfigOf(false, false), table_options, opts_str,
                                        new_table_options);
}

// ---- options as text

// The delimiter ends every option, also the last one.
Status GetStringFromDBOptions(const ConfigOptions& config_options, const DBOptions& db_options,
                              std::string* opts_str) {
  return Print(DbOptionTable(), config_options, db_options, opts_str);
}

Status GetStringFromDBOptions(std::string* opts_str, const DBOptions& db_options,
                              const std::string& delimiter) {
  ConfigOptions config(db_options);
  config.delimiter = delimiter;
  return GetStringFromDBOptions(config, db_options, opts_str);
}

Status GetStringFromColumnFamilyOptions(const ConfigOptions& config_options,
                                        const ColumnFamilyOptions& cf_options,
                                        std::string* opts_str) {
  return Print(ColumnFamilyOptionTable(), config_options, cf_options, opts_str);
}

Status GetStringFromColumnFamilyOptions(std::string* opts_str,
                                        const ColumnFamilyOptions& cf_options,
                                        const std::string& delimiter) {
  ConfigOptions config;
  config.delimiter = delimiter;
  return GetStringFromColumnFamilyOptions(config, cf_options, opts_str);
}

}  // namespace ashlar
