// SPDX-License-Identifier: Apache-2.0
//
// Names in option texts that are not members of an option struct: older spellings, objects that
// otherwise only programs can set, and a rate in the place of a rate limiter. Parsers for
// TextOption() rows; pure functions.
//
// An object that is not built in leaves the option unchanged, as for options that are members.
#pragma once

#include <string_view>

#include "ashlar/convenience.h"

namespace ashlar {

// The following parsers set a DBOptions.
Status ParseEnv(const ConfigOptions& config, std::string_view text, void* options);
// Makes the listeners that the program has registered. If none of the list is, the listeners of the
// program stay.
Status ParseListeners(const ConfigOptions& config, std::string_view text, void* options);
Status ParseStatistics(const ConfigOptions& config, std::string_view text, void* options);
// Parses rate_limiter_bytes_per_sec and creates a rate limiter.
Status ParseRateLimit(const ConfigOptions& config, std::string_view text, void* options);

// The following parsers set a ColumnFamilyOptions.
// Parses block_based_table_factory={name=value;...}. The values are set on top of the options of
// the present factory if that is of the same kind.
Status ParseBlockBasedTable(const ConfigOptions& config, std::string_view text, void* options);
Status ParsePlainTable(const ConfigOptions& config, std::string_view text, void* options);
// Parses `memtable`, an older name of memtable_factory.
Status ParseMemtable(const ConfigOptions& config, std::string_view text, void* options);
// Parses table_properties_collectors, a list of collector factories. Only those that are built in
// are used.
Status ParseCollectors(const ConfigOptions& config, std::string_view text, void* options);

}  // namespace ashlar
