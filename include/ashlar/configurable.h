// SPDX-License-Identifier: Apache-2.0
//
// Configurable: an object whose options can be read and set as text ("name=value;name={...}").
//
// Built-in objects (table factory, filter policies, memtable factories, ...) override the protected
// virtuals; a class that overrides nothing has no text options and refuses every name with
// InvalidArgument. Threads: configuring is for one thread, before the object is used.
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
struct ColumnFamilyOptions;
struct ConfigOptions;
struct DBOptions;

class ASHLAR_EXPORT Configurable {
 public:
  // A struct of options inside the object, reachable by name through GetOptions<T>(name).
  struct RegisteredOptions {
    std::string name;
    intptr_t opt_offset;  // from the start of this Configurable
    const std::unordered_map<std::string, OptionTypeInfo>* type_map;
  };

  virtual ~Configurable() {}

  // The options struct named T::kName() (or `name`); nullptr if the object has none of that name.
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

  // Sets the named options. InvalidArgument for an unknown name or a bad value, and then nothing
  // has changed. With `unused`, unknown names are returned there instead.
  Status ConfigureFromMap(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opt_map);
  Status ConfigureFromMap(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opt_map,
                          std::unordered_map<std::string, std::string>* unused);
  Status ConfigureOption(const ConfigOptions& config_options, const std::string& name,
                         const std::string& value);
  Status ConfigureFromString(const ConfigOptions& config_options, const std::string& opts);

  // All options as text.
  Status GetOptionString(const ConfigOptions& config_options, std::string* result) const;
  std::string ToString(const ConfigOptions& config_options) const;
  virtual std::string ToString(const ConfigOptions& config_options,
                               const std::string& prefix) const;
  Status GetOptionNames(const ConfigOptions& config_options,
                        std::unordered_set<std::string>* result) const;
  // NotFound if there is no option of that name.
  virtual Status GetOption(const ConfigOptions& config_options, const std::string& name,
                           std::string* value) const;

  // True if both have the same options; else *name is the first that differs.
  virtual bool AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                             std::string* name) const;
  virtual std::string GetPrintableOptions() const { return ""; }

  // Called once after configuring; fills in what depends on other options.
  virtual Status PrepareOptions(const ConfigOptions& config_options);
  // InvalidArgument or NotSupported if the object does not fit these options.
  virtual Status ValidateOptions(const DBOptions& db_opts,
                                 const ColumnFamilyOptions& cf_opts) const;

  // Splits "id" or "id=name;option=value" into the name and its options.
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

  // Makes *opt_ptr reachable by GetOptions<T>(); it must be a part of this object. The type map is
  // kept but not interpreted: an own class parses its text by overriding ConfigureOptions().
  template <typename T>
  void RegisterOptions(T* opt_ptr, const std::unordered_map<std::string, OptionTypeInfo>* opt_map) {
    RegisterOptions(T::kName(), opt_ptr, opt_map);
  }
  void RegisterOptions(const std::string& name, void* opt_ptr,
                       const std::unordered_map<std::string, OptionTypeInfo>* opt_map);
  bool HasRegisteredOptions() const { return !options_.empty(); }

 private:
  std::vector<RegisteredOptions> options_;
};

}  // namespace ashlar
