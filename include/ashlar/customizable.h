// SPDX-License-Identifier: Apache-2.0
//
// Customizable is the base class of named objects that a program can supply: comparators, merge
// operators, listeners and so on.
//
// A subclass must implement Name(), which identifies the implementation. Names are written to
// OPTIONS files and, for some kinds of objects, to data files. Names of built-in classes can be
// used in option strings.
#pragma once

#include <string>
#include <unordered_map>

#include "ashlar/configurable.h"
#include "ashlar/export.h"

namespace ashlar {

// An object with a name and options.
class ASHLAR_EXPORT Customizable : public Configurable {
 public:
  ~Customizable() override {}

  // The name of the implementation. It must stay the same for the life of all files that contain
  // it.
  virtual const char* Name() const = 0;
  // Identifies the object together with its parameters. Default: Name().
  virtual std::string GetId() const { return Name(); }
  // Whether `name` is the object's name or its short name.
  virtual bool IsInstanceOf(const std::string& name) const;

  // Returns this object, or an object that it wraps, as a T if it is an instance of
  // T::kClassName(); otherwise nullptr.
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

  // Splits "id" or "{id=name;option=value}" into name and options. If there is no name, the name of
  // `custom` is used, which may be null.
  static Status GetOptionsMap(const ConfigOptions& config_options, const Customizable* custom,
                              const std::string& opt_value, std::string* id,
                              std::unordered_map<std::string, std::string>* options);
  // Sets options of an object; `object` may be null if `options` is empty.
  static Status ConfigureNewObject(const ConfigOptions& config_options, Customizable* object,
                                   const std::unordered_map<std::string, std::string>& options);

  // The object that this object wraps, or nullptr.
  virtual const Customizable* Inner() const { return nullptr; }

 protected:
  // Returns Name() with a suffix that no other object in this process has.
  std::string GenerateIndividualId() const;
  // A short name that option strings may use; "" = none.
  virtual const char* NickName() const { return ""; }
  std::string GetOptionName(const std::string& long_name) const override;
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& prefix) const override;
};

}  // namespace ashlar
