// SPDX-License-Identifier: Apache-2.0
//
// What option texts can say that is no member of an option struct: older spellings, objects that
// only programs have otherwise, and a rate instead of a limiter. Parsers for TextOption() rows;
// pure functions.
//
// An object that is not built in is left as it is, as for the options that are members.
#pragma once

#include <string_view>

#include "ashlar/convenience.h"

namespace ashlar {

// On a DBOptions.
Status ParseEnv(const ConfigOptions& config, std::string_view text, void* options);
// There are no built-in listeners, so that a list of them leaves those of the program.
Status ParseListeners(const ConfigOptions& config, std::string_view text, void* options);
Status ParseStatistics(const ConfigOptions& config, std::string_view text, void* options);
// rate_limiter_bytes_per_sec: makes a rate limiter.
Status ParseRateLimit(const ConfigOptions& config, std::string_view text, void* options);

// On a ColumnFamilyOptions.
// block_based_table_factory={name=value;...}: on top of the options that the factory has, if it is
// of that kind.
Status ParseBlockBasedTable(const ConfigOptions& config, std::string_view text, void* options);
Status ParsePlainTable(const ConfigOptions& config, std::string_view text, void* options);
// memtable: a memtable_factory.
Status ParseMemtable(const ConfigOptions& config, std::string_view text, void* options);
// table_properties_collectors: a list of collector factories, of which those that are built in
// stay.
Status ParseCollectors(const ConfigOptions& config, std::string_view text, void* options);

}  // namespace ashlar
