// SPDX-License-Identifier: Apache-2.0
//
// Customizable: base of the named plug-in objects (comparators, merge operators, listeners, ...).
//
// A subclass has to give Name(), which identifies the implementation: it is written to option files
// and, for some kinds, into data files. Names of built-in classes can be used in option strings.
#pragma once

#include <string>
#include <unordered_map>

#include "ashlar/configurable.h"
#include "ashlar/export.h"

namespace ashlar {

class ASHLAR_EXPORT Customizable : public Configurable {
 public:
  ~Customizable() override {}

  virtual const char* Name() const = 0;
  // Identifies this object with its parameters; Name() unless overridden.
  virtual std::string GetId() const { return Name(); }
  // True for the object's name and its short name.
  virtual bool IsInstanceOf(const std::string& name) const;

  // This object, or one it wraps, as a T if it is an instance of T::kClassName(); else nullptr.
  template <typename T>
  const T* CheckedCast() const {
    if (IsInstanceOf(T::kClassName())) return static_cast<const T*>(this);
    const Customizable* inner = Inner();
    return inner != nullptr ? inner->CheckedCast<T>() : nullptr;
  }
  template <typename T>
  T* CheckedCast() {
    return const_cast<T*>(static_cast<const Customizable*>(this)->CheckedCast<T>());
  }

  bool AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                     std::string* mismatch) const override;
  Status GetOption(const ConfigOptions& config_options, const std::string& opt_name,
                   std::string* opt_value) const override;
  using Configurable::ToString;
  std::string ToString(const ConfigOptions& config_options,
                       const std::string& prefix) const override;

  // Splits "id" or "{id=name;option=value}"; the name defaults to that of `custom`, if given.
  static Status GetOptionsMap(const ConfigOptions& config_options, const Customizable* custom,
                              const std::string& opt_value, std::string* id,
                              std::unordered_map<std::string, std::string>* options);
  static Status ConfigureNewObject(const ConfigOptions& config_options, Customizable* object,
                                   const std::unordered_map<std::string, std::string>& options);

  // The object this one wraps, if any.
  virtual const Customizable* Inner() const { return nullptr; }

 protected:
  // Name() made unique for this object in this process.
  std::string GenerateIndividualId() const;
  // A short name accepted in option strings; "" for none.
  virtual const char* NickName() const { return ""; }
  std::string GetOptionName(const std::string& long_name) const override;
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& prefix) const override;
};

}  // namespace ashlar
