// SPDX-License-Identifier: Apache-2.0
//
// Version strings. Nothing here depends on the date or the machine, so that builds are repeatable.
#include "ashlar/version.h"

#include <map>

namespace ashlar {

namespace {

// "major.minor.patch".
std::string Dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace

// Never destroyed, so that it can be asked at any time.
const std::unordered_map<std::string, std::string>& GetRocksBuildProperties() {
  static const auto* properties = new std::unordered_map<std::string, std::string>{
      {"engine", "ashlar"},
      {"engine_version", Dotted(ASHLAR_MAJOR, ASHLAR_MINOR, ASHLAR_PATCH)},
      {"api_version", Dotted(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)},
      {"compiler", __VERSION__},
#ifdef NDEBUG
      {"asserts", "off"},
#else
      {"asserts", "on"},
#endif
  };
  return *properties;
}

std::string GetRocksVersionAsString(bool with_patch) {
  if (with_patch) return Dotted(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
  return std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);
}

// The properties are sorted, so that two outputs can be compared.
std::string GetRocksBuildInfoAsString(const std::string& program, bool verbose) {
  std::string info = program + " (Ashlar) " + GetRocksVersionAsString(true);
  if (!verbose) return info;
  const auto& properties = GetRocksBuildProperties();
  for (const auto& [name, value] :
       std::map<std::string, std::string>(properties.begin(), properties.end())) {
    info += "\n    " + name + ": " + value;
  }
  return info;
}

}  // namespace ashlar
