// SPDX-License-Identifier: Apache-2.0
//
// Options of objects as text: splitting the text, and the defaults for an object without options.
#include "ashlar/configurable.h"

#include <cassert>

#include <unistd.h>

#include "ashlar/convenience.h"
#include "ashlar/customizable.h"
#include "util/result.h"
#include "util/text/option_text.h"
#include "util/text/registered_types.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Unknown names are an error unless the configuration ignores them.
Status Configurable::ConfigureFromMap(const ConfigOptions& config_options,
                                      const std::unordered_map<std::string, std::string>& opt_map) {
  return ConfigureOptions(config_options, opt_map, nullptr);
}

Status Configurable::ConfigureFromMap(const ConfigOptions& config_options,
                                      const std::unordered_map<std::string, std::string>& opt_map,
                                      std::unordered_map<std::string, std::string>* unused) {
  return ConfigureOptions(config_options, opt_map, unused);
}

Status Configurable::ConfigureOption(const ConfigOptions& config_options, const std::string& name,
                                     const std::string& value) {
  return ConfigureOptions(config_options, {{name, value}}, nullptr);
}

// An empty text only prepares the object.
Status Configurable::ConfigureFromString(const ConfigOptions& config_options,
                                         const std::string& opts) {
  if (opts.empty()) return PrepareOptions(config_options);
  if (opts.find('=') == std::string::npos) return ParseStringOptions(config_options, opts);
  std::unordered_map<std::string, std::string> map;
  Status status = StringToMap(opts, &map);
  if (!status.ok()) return status;
  return ConfigureOptions(config_options, map, nullptr);
}

Status Configurable::GetOptionString(const ConfigOptions& config_options,
                                     std::string* result) const {
  *result = SerializeOptions(config_options, "");
  return Status::OK();
}

std::string Configurable::ToString(const ConfigOptions& config_options) const {
  return ToString(config_options, "");
}

// Text with several options gets braces, so that it can be the value of another option.
std::string Configurable::ToString(const ConfigOptions& config_options,
                                   const std::string& prefix) const {
  const std::string text = SerializeOptions(config_options, prefix);
  return text.find('=') == std::string::npos ? text : StrCat("{", text, "}");
}

Status Configurable::GetOptionNames(const ConfigOptions& config_options,
                                    std::unordered_set<std::string>* result) const {
  std::unordered_map<std::string, std::string> map;
  Status status = StringToMap(SerializeOptions(config_options, ""), &map);
  if (!status.ok()) return status;
  for (const auto& [name, value] : map) result->insert(name);
  return Status::OK();
}

Status Configurable::GetOption(const ConfigOptions& config_options, const std::string& name,
                               std::string* value) const {
  std::unordered_map<std::string, std::string> map;
  Status status = StringToMap(SerializeOptions(config_options, ""), &map);
  if (!status.ok()) return status;
  const auto found = map.find(GetOptionName(name));
  if (found == map.end()) return Status::NotFound("this object has no such option", name);
  *value = found->second;
  return Status::OK();
}

// Registered members are compared first, because they name the one that differs.
bool Configurable::AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                                 std::string* name) const {
  assert(name != nullptr);
  name->clear();
  if (this == other || config_options.IsCheckDisabled()) return true;
  if (other == nullptr || options_.size() != other->options_.size()) return false;
  for (size_t i = 0; i < options_.size(); ++i) {
    const RegisteredOptions& mine = options_[i];
    if (mine.type_map == nullptr || mine.type_map != other->options_[i].type_map) continue;
    if (!mine.calls->are_equal(
            config_options, *mine.type_map, reinterpret_cast<const char*>(this) + mine.opt_offset,
            reinterpret_cast<const char*>(other) + other->options_[i].opt_offset, name)) {
      return false;
    }
  }
  return SerializeOptions(config_options, "") == other->SerializeOptions(config_options, "");
}

Status Configurable::PrepareOptions(const ConfigOptions& /*config_options*/) {
  return Status::OK();
}

Status Configurable::ValidateOptions(const DBOptions& /*db_opts*/,
                                     const ColumnFamilyOptions& /*cf_opts*/) const {
  return Status::OK();
}

Status Configurable::GetOptionsMap(const std::string& opt_value, const std::string& default_id,
                                   std::string* id,
                                   std::unordered_map<std::string, std::string>* options) {
  assert(id != nullptr);
  assert(options != nullptr);
  options->clear();
  id->clear();
  const std::string value = StripBraces(opt_value);
  if (value.empty() || value == "nullptr") {
    if (value.empty()) *id = default_id;
    return Status::OK();
  }
  // A text without "=" is only a name.
  if (value.find('=') == std::string::npos) {
    *id = value;
    return Status::OK();
  }
  Status status = StringToMap(value, options);
  if (!status.ok()) return status;
  const auto found = options->find("id");
  if (found == options->end()) {
    *id = default_id;
  } else {
    *id = found->second;
    options->erase(found);
  }
  // Options without an object that they could be for.
  if (id->empty()) {
    return Status::InvalidArgument("object options without a name: expected id=...", opt_value);
  }
  return Status::OK();
}

const void* Configurable::GetOptionsPtr(const std::string& name) const {
  for (const RegisteredOptions& options : options_) {
    if (options.name == name) {
      return reinterpret_cast<const char*>(this) + options.opt_offset;
    }
  }
  return nullptr;
}

Status Configurable::ParseStringOptions(const ConfigOptions& config_options,
                                        const std::string& opts_str) {
  if (config_options.ignore_unknown_options) return Status::OK();
  return Status::InvalidArgument("object options: expected name=value", opts_str);
}

// After an error the members have their former values again: the text of the former values is
// parsed back.
Status Configurable::ConfigureRegistered(const ConfigOptions& config_options,
                                         std::unordered_map<std::string, std::string>* opts_map) {
  for (const RegisteredOptions& options : options_) {
    if (options.type_map == nullptr) continue;
    void* const address = reinterpret_cast<char*>(this) + options.opt_offset;
    std::string former;
    RETURN_IF_ERROR(options.calls->serialize(config_options, *options.type_map, address, &former));
    std::unordered_map<std::string, std::string> unused;
    const Status status =
        options.calls->parse(config_options, *opts_map, *options.type_map, address, &unused);
    if (!status.ok()) {
      std::unordered_map<std::string, std::string> values;
      RETURN_IF_ERROR(StringToMap(former, &values));
      RETURN_IF_ERROR(
          options.calls->parse(config_options, values, *options.type_map, address, nullptr));
      return status;
    }
    *opts_map = std::move(unused);
  }
  return Status::OK();
}

// Names that no member has go to `unused`, or are an error.
Status Configurable::ConfigureOptions(const ConfigOptions& config_options,
                                      const std::unordered_map<std::string, std::string>& opts_map,
                                      std::unordered_map<std::string, std::string>* unused) {
  std::unordered_map<std::string, std::string> rest = opts_map;
  RETURN_IF_ERROR(ConfigureRegistered(config_options, &rest));
  for (const auto& [name, value] : rest) {
    if (unused != nullptr) {
      (*unused)[name] = value;
    } else if (!config_options.ignore_unknown_options) {
      return Status::InvalidArgument("this object has no such option", name);
    }
  }
  return config_options.invoke_prepare_options ? PrepareOptions(config_options) : Status::OK();
}

Status Configurable::ParseOption(const ConfigOptions& config_options,
                                 const OptionTypeInfo& opt_info, const std::string& opt_name,
                                 const std::string& opt_value, void* opt_ptr) {
  if (options_.empty()) return Status::InvalidArgument("this object has no such option", opt_name);
  return options_.front().calls->parse_one(config_options, opt_info, opt_name, opt_value, opt_ptr);
}

bool Configurable::OptionsAreEqual(const ConfigOptions& /*config_options*/,
                                   const OptionTypeInfo& /*opt_info*/, const std::string& name,
                                   const void* const this_ptr, const void* const that_ptr,
                                   std::string* bad_name) const {
  if (this_ptr == that_ptr) return true;
  *bad_name = name;
  return false;
}

// The text of all registered members, one struct after the other.
std::string Configurable::SerializeOptions(const ConfigOptions& config_options,
                                           const std::string& /*header*/) const {
  std::string all;
  for (const RegisteredOptions& options : options_) {
    if (options.type_map == nullptr) continue;
    std::string text;
    const void* const address = reinterpret_cast<const char*>(this) + options.opt_offset;
    IgnoreError(options.calls->serialize(config_options, *options.type_map, address, &text),
                "a member without a text form is left out");
    all += text;
  }
  return all;
}

std::string Configurable::GetOptionName(const std::string& long_name) const { return long_name; }

// ---- Customizable

bool Customizable::IsInstanceOf(const std::string& name) const {
  if (name.empty()) return false;
  return name == Name() || name == NickName();
}

// Objects of different ids are never equivalent, whatever their options are.
bool Customizable::AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                                 std::string* mismatch) const {
  assert(mismatch != nullptr);
  mismatch->clear();
  if (this == other || config_options.IsCheckDisabled()) return true;
  const auto* that = static_cast<const Customizable*>(other);
  if (that == nullptr || GetId() != that->GetId()) {
    *mismatch = "id";
    return false;
  }
  return config_options.sanity_level <= ConfigOptions::kSanityLevelLooselyCompatible ||
         Configurable::AreEquivalent(config_options, other, mismatch);
}

Status Customizable::GetOption(const ConfigOptions& config_options, const std::string& opt_name,
                               std::string* opt_value) const {
  if (opt_name == "id") {
    *opt_value = GetId();
    return Status::OK();
  }
  return Configurable::GetOption(config_options, opt_name, opt_value);
}

// A shallow text has only the id.
std::string Customizable::ToString(const ConfigOptions& config_options,
                                   const std::string& prefix) const {
  if (config_options.IsShallow()) return GetId();
  const std::string own = SerializeOptions(config_options, prefix);
  return own.empty() ? GetId() : StrCat("{id=", GetId(), ";", own, "}");
}

Status Customizable::GetOptionsMap(const ConfigOptions& /*config_options*/,
                                   const Customizable* custom, const std::string& opt_value,
                                   std::string* id,
                                   std::unordered_map<std::string, std::string>* options) {
  const std::string default_id = custom == nullptr ? "" : custom->GetId();
  return Configurable::GetOptionsMap(opt_value, default_id, id, options);
}

Status Customizable::ConfigureNewObject(
    const ConfigOptions& config_options, Customizable* object,
    const std::unordered_map<std::string, std::string>& options) {
  if (object != nullptr) return object->ConfigureFromMap(config_options, options);
  if (options.empty()) return Status::OK();
  return Status::InvalidArgument("options for an object that does not exist");
}

// Unique in this process, and unlikely to be reused in another.
std::string Customizable::GenerateIndividualId() const {
  return StrCat(Name(), "@", Hex(reinterpret_cast<uintptr_t>(this)), "#", getpid());
}

std::string Customizable::GetOptionName(const std::string& long_name) const {
  const std::string prefix = StrCat(Name(), ".");
  if (long_name.compare(0, prefix.size(), prefix) == 0) return long_name.substr(prefix.size());
  return long_name;
}

std::string Customizable::SerializeOptions(const ConfigOptions& config_options,
                                           const std::string& prefix) const {
  return Configurable::SerializeOptions(config_options, prefix);
}

}  // namespace ashlar
