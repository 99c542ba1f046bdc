// SPDX-License-Identifier: Apache-2.0
//
// How the members of a registered struct of options are parsed, printed and compared. The functions
// are those of OptionTypeInfo, which is on a higher floor than Configurable; RegisterOptions() puts
// them there. Pure functions.
#pragma once

#include <string>
#include <unordered_map>

#include "ashlar/status.h"

namespace ashlar {

class OptionTypeInfo;
struct ConfigOptions;

// Function pointers, because this floor cannot call the functions themselves. `address` is the
// registered struct.
struct RegisteredTypeCalls {
  using Map = std::unordered_map<std::string, OptionTypeInfo>;
  using Texts = std::unordered_map<std::string, std::string>;

  // `unused` receives the names that the map does not describe; it may be null.
  Status (*parse)(const ConfigOptions& config, const Texts& values, const Map& map, void* address,
                  Texts* unused);
  Status (*parse_one)(const ConfigOptions& config, const OptionTypeInfo& info,
                      const std::string& name, const std::string& value, void* address);
  Status (*serialize)(const ConfigOptions& config, const Map& map, const void* address,
                      std::string* text);
  bool (*are_equal)(const ConfigOptions& config, const Map& map, const void* one, const void* other,
                    std::string* mismatch);
};

}  // namespace ashlar
