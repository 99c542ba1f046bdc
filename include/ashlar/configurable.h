// SPDX-License-Identifier: Apache-2.0
//
// Configurable: an object whose options can be read and set as text ("name=value;name={...}").
//
// A class of a program registers structs of options with a description of their members
// (RegisterOptions, ashlar/utilities/options_type.h), or overrides the protected virtual functions.
// A class that does neither has no text options: every name is refused with InvalidArgument.
// Threads: only one thread may configure an object, before the object is used.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class Logger;
class OptionTypeInfo;
struct RegisteredTypeCalls;
struct ColumnFamilyOptions;
struct ConfigOptions;
struct DBOptions;

// An object whose options can be set from text.
class ASHLAR_EXPORT Configurable {
 public:
  // A struct of options inside the object, which GetOptions<T>(name) returns.
  struct RegisteredOptions {
    std::string name;
    intptr_t opt_offset;  // bytes from the start of this Configurable
    const std::unordered_map<std::string, OptionTypeInfo>* type_map;  // may be nullptr
    const RegisteredTypeCalls* calls;  // how members are parsed and printed
  };

  virtual ~Configurable() {}

  // Returns the options struct with the name T::kName() or `name`; nullptr if there is none.
  template <typename T>
  const T* GetOptions() const {
    return GetOptions<T>(T::kName());
  }
  template <typename T>
  T* GetOptions() {
    return GetOptions<T>(T::kName());
  }
  template <typename T>
  const T* GetOptions(const std::string& name) const {
    return reinterpret_cast<const T*>(GetOptionsPtr(name));
  }
  template <typename T>
  T* GetOptions(const std::string& name) {
    return reinterpret_cast<T*>(const_cast<void*>(GetOptionsPtr(name)));
  }

  // Set options by name. InvalidArgument for an unknown name or an invalid value; no option is
  // changed then. If `unused` is passed, it receives the unknown names instead.
  Status ConfigureFromMap(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opt_map);
  Status ConfigureFromMap(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opt_map,
                          std::unordered_map<std::string, std::string>* unused);
  Status ConfigureOption(const ConfigOptions& config_options, const std::string& name,
                         const std::string& value);
  Status ConfigureFromString(const ConfigOptions& config_options, const std::string& opts);

  // Return all options as text, or their names.
  Status GetOptionString(const ConfigOptions& config_options, std::string* result) const;
  std::string ToString(const ConfigOptions& config_options) const;
  virtual std::string ToString(const ConfigOptions& config_options,
                               const std::string& prefix) const;
  Status GetOptionNames(const ConfigOptions& config_options,
                        std::unordered_set<std::string>* result) const;
  // Returns one option as text. NotFound if there is no option with this name.
  virtual Status GetOption(const ConfigOptions& config_options, const std::string& name,
                           std::string* value) const;

  // Whether both objects have the same options. If not, *name receives the first one that differs.
  virtual bool AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                             std::string* name) const;
  // Returns the options in a form for the info log.
  virtual std::string GetPrintableOptions() const { return ""; }

  // Called once after the object was configured; sets options that depend on others.
  virtual Status PrepareOptions(const ConfigOptions& config_options);
  // Returns InvalidArgument or NotSupported if the object cannot be used with these options.
  virtual Status ValidateOptions(const DBOptions& db_opts,
                                 const ColumnFamilyOptions& cf_opts) const;

  // Splits "id" or "id=name;option=value" into the name and the options.
  static Status GetOptionsMap(const std::string& opt_value, const std::string& default_id,
                              std::string* id,
                              std::unordered_map<std::string, std::string>* options);

 protected:
  virtual const void* GetOptionsPtr(const std::string& name) const;
  virtual Status ParseStringOptions(const ConfigOptions& config_options,
                                    const std::string& opts_str);
  virtual Status ConfigureOptions(const ConfigOptions& config_options,
                                  const std::unordered_map<std::string, std::string>& opts_map,
                                  std::unordered_map<std::string, std::string>* unused);
  virtual Status ParseOption(const ConfigOptions& config_options, const OptionTypeInfo& opt_info,
                             const std::string& opt_name, const std::string& opt_value,
                             void* opt_ptr);
  virtual bool OptionsAreEqual(const ConfigOptions& config_options, const OptionTypeInfo& opt_info,
                               const std::string& name, const void* const this_ptr,
                               const void* const that_ptr, std::string* bad_name) const;
  virtual std::string SerializeOptions(const ConfigOptions& config_options,
                                       const std::string& header) const;
  virtual std::string GetOptionName(const std::string& long_name) const;

  // Makes *opt_ptr available to GetOptions<T>(); it must be a part of this object. Its members that
  // the map describes can be set and read as text. The map must outlive the object; nullptr: no
  // members. Call it in the constructor.
  template <typename T>
  void RegisterOptions(T* opt_ptr, const std::unordered_map<std::string, OptionTypeInfo>* opt_map) {
    RegisterOptions(T::kName(), opt_ptr, opt_map);
  }
  void RegisterOptions(const std::string& name, void* opt_ptr,
                       const std::unordered_map<std::string, OptionTypeInfo>* opt_map);
  bool HasRegisteredOptions() const { return !options_.empty(); }

 private:
  // Sets the members of registered structs, and removes them from the map.
  Status ConfigureRegistered(const ConfigOptions& config_options,
                             std::unordered_map<std::string, std::string>* opts_map);

  std::vector<RegisteredOptions> options_;
};

}  // namespace ashlar
