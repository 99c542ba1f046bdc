// SPDX-License-Identifier: Apache-2.0
//
// The functions of convenience.h that turn options into text and back.
#include "ashlar/convenience.h"
#include "ashlar/table.h"
#include "db/options/option_table.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using OptionMap = std::unordered_map<std::string, std::string>;

// Whether `name` or the part before its first point is in the table.
bool Knows(OptionTable table, const std::string& name) {
  return FindOption(table, name) != nullptr ||
         FindOption(table, name.substr(0, name.find('.'))) != nullptr;
}

// The new options are the base options if anything fails.
template <typename Options, typename Setter>
Status FromMap(const Options& base, const OptionMap& map, Options* result, Setter set) {
  Options changed = base;
  *result = base;
  for (const auto& [name, value] : map) {
    Status status = set(NameValue(name, value), &changed);
    if (!status.ok()) return status;
  }
  *result = std::move(changed);
  return Status::OK();
}

template <typename Options, typename FromMapFunction>
Status FromString(const ConfigOptions& config, const Options& base, const std::string& text,
                  Options* result, FromMapFunction from_map) {
  OptionMap map;
  Status status = StringToMap(text, &map);
  if (!status.ok()) {
    *result = base;
    return status;
  }
  return from_map(config, base, map, result);
}

template <typename Options>
Status Print(OptionTable table, const ConfigOptions& config, const Options& options,
             std::string* text) {
  PrintContext context;
  context.config = config;
  text->clear();
  PrintOptions(table, context, &options, text);
  return Status::OK();
}

}  // namespace

Status GetColumnFamilyOptionsFromMap(const ConfigOptions& config_options,
                                     const ColumnFamilyOptions& base_options,
                                     const OptionMap& opts_map, ColumnFamilyOptions* new_options) {
  const auto set = [&](const NameValue& option, ColumnFamilyOptions* options) {
    return SetOption(ColumnFamilyOptionTable(), config_options, option, options);
  };
  return FromMap(base_options, opts_map, new_options, set);
}

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
