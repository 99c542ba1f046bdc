// SPDX-License-Identifier: Apache-2.0
//
// Options strings: every text that can be parsed is printed as a text that is parsed to the same
// options.
//
// The first byte chooses the kind: an OPTIONS file, database, family or table options.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ashlar/convenience.h"
#include "cache/block_cache.h"
#include "db/options/options_file.h"
#include "env/filename.h"
#include "util/text/option_text.h"

namespace {

using ashlar::ConfigOptions;
using ashlar::Status;

void Require(bool holds) {
  if (!holds) std::abort();
}

void FuzzFile(const std::string& text) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  auto parsed = ashlar::ParseOptionsText(config, text);
  if (!parsed.ok()) return;
  const std::string once = ashlar::WriteOptionsText(*parsed);
  auto again = ashlar::ParseOptionsText(ConfigOptions(), once);
  Require(again.ok());
  Require(ashlar::WriteOptionsText(*again) == once);
}

void FuzzDb(const std::string& text) {
  ashlar::DBOptions options, parsed;
  const ConfigOptions config;
  if (!ashlar::GetDBOptionsFromString(config, options, text, &parsed).ok()) return;
  std::string once, twice;
  Require(ashlar::GetStringFromDBOptions(config, parsed, &once).ok());
  if (once.find_first_of("{}") != std::string::npos)
    return;  // a path with braces cannot be printed
  Require(ashlar::GetDBOptionsFromString(config, options, once, &parsed).ok());
  Require(ashlar::GetStringFromDBOptions(config, parsed, &twice).ok());
  Require(once == twice);
}

void FuzzFamily(const std::string& text) {
  ashlar::ColumnFamilyOptions options, parsed;
  const ConfigOptions config;
  if (!ashlar::GetColumnFamilyOptionsFromString(config, options, text, &parsed).ok()) return;
  std::string once, twice;
  Require(ashlar::GetStringFromColumnFamilyOptions(config, parsed, &once).ok());
  Require(ashlar::GetColumnFamilyOptionsFromString(config, options, once, &parsed).ok());
  Require(ashlar::GetStringFromColumnFamilyOptions(config, parsed, &twice).ok());
  Require(once == twice);
}

void FuzzSyntax(const std::string& text) {
  std::unordered_map<std::string, std::string> map, again;
  if (!ashlar::StringToMap(text, &map).ok()) return;
  std::string printed;
  Require(ashlar::MapToString(map, &printed).ok());
  Require(ashlar::StringToMap(printed, &again).ok());
  Require(ashlar::UnescapeOptionString(ashlar::EscapeOptionString(text)) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: FuzzFile(text); break;
    case 1: FuzzDb(text); break;
    case 2: FuzzFamily(text); break;
    default: FuzzSyntax(text);
  }
  return 0;
}
