// SPDX-License-Identifier: Apache-2.0
//
// OptionTypeInfo describes a member of a struct of options: where it lies, its type, and how it is
// parsed, printed and compared. A map from names to these describes the struct:
//
//   struct Tuning { int threads = 1; std::vector<double> weights; };
//   const std::unordered_map<std::string, OptionTypeInfo> tuning = {
//       {"threads", {offsetof(Tuning, threads), OptionType::kInt}},
//       {"weights", OptionTypeInfo::Vector<double>(offsetof(Tuning, weights),
//            OptionVerificationType::kNormal, OptionTypeFlags::kNone, {0, OptionType::kDouble})}};
//   OptionTypeInfo::ParseStruct(config, "tuning", &tuning, "tuning", "threads=4;weights=1:2", &t);
//
// Members that are objects (kConfigurable, kCustomizable, kEnv) need functions of the program's
// own; the AsCustom...Ptr makers of RocksDB are not here. Names and texts are those of
// ConfigOptions.
//
// Threads: a description is made by one thread; then any may use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class OptionTypeInfo;
struct ColumnFamilyOptions;
struct DBOptions;

enum class OptionType {
  kBoolean,
  kInt,
  kInt32T,
  kInt64T,
  kUInt,
  kUInt8T,
  kUInt32T,
  kUInt64T,
  kSizeT,
  kString,
  kDouble,
  kCompactionStyle,
  kCompactionPri,
  kCompressionType,
  kCompactionStopStyle,
  kChecksumType,
  kEncodingType,
  kEnv,
  kEnum,
  kStruct,
  kVector,
  kConfigurable,
  kCustomizable,
  kEncodedString,  // a std::string, as hexadecimal digits
  kTemperature,
  kArray,
  kUnknown,
};

enum class OptionVerificationType {
  kNormal,
  kByName,               // objects are the same if their names are
  kByNameAllowNull,      // or if either is null
  kByNameAllowFromNull,  // or if the one of the file is null
  kDeprecated,           // no longer there: any text is accepted
  kAlias,                // another name of an option, which only parses
};

enum class OptionTypeFlags : uint32_t {
  kNone = 0,
  // The lowest ConfigOptions::SanityLevel that compares the option.
  kCompareDefault = 0,
  kCompareNever = ConfigOptions::kSanityLevelNone,
  kCompareLoose = ConfigOptions::kSanityLevelLooselyCompatible,
  kCompareExact = ConfigOptions::kSanityLevelExactMatch,

  kMutable = 0x0100,     // may change while the database is open
  kRawPointer = 0x0200,  // the member is a T*,
  kShared = 0x0400,      // a std::shared_ptr<T>
  kUnique = 0x0800,      // or a std::unique_ptr<T>
  kAllowNull = 0x1000,
  kDontSerialize = 0x2000,
  kDontPrepare = 0x4000,
  kStringNameOnly = 0x8000,  // an object is printed as its name
};

inline OptionTypeFlags operator|(OptionTypeFlags a, OptionTypeFlags b) {
  return static_cast<OptionTypeFlags>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
inline OptionTypeFlags operator&(OptionTypeFlags a, OptionTypeFlags b) {
  return static_cast<OptionTypeFlags>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));
}

// What is done with one member. `addr`: the member itself; `name`: as it was asked for.
using ParseFunc = std::function<Status(const ConfigOptions& config, const std::string& name,
                                       const std::string& value, void* addr)>;
using SerializeFunc = std::function<Status(const ConfigOptions& config, const std::string& name,
                                           const void* addr, std::string* value)>;
// On a difference *mismatch gets the name of what differs.
using EqualsFunc = std::function<bool(const ConfigOptions& config, const std::string& name,
                                      const void* addr1, const void* addr2, std::string* mismatch)>;
using PrepareFunc =
    std::function<Status(const ConfigOptions& config, const std::string& name, void* addr)>;
using ValidateFunc =
    std::function<Status(const DBOptions& db_options, const ColumnFamilyOptions& cf_options,
                         const std::string& name, const void* addr)>;

// False for a name or a value that the map does not have.
template <typename T>
bool ParseEnum(const std::unordered_map<std::string, T>& type_map, const std::string& type,
               T* value) {
  const auto found = type_map.find(type);
  if (found != type_map.end()) *value = found->second;
  return found != type_map.end();
}
template <typename T>
bool SerializeEnum(const std::unordered_map<std::string, T>& type_map, const T& type,
                   std::string* value) {
  for (const auto& [name, known] : type_map) {
    if (known != type) continue;
    *value = name;
    return true;
  }
  return false;
}

// Lists, joined by the separator. A list that does not parse leaves *result alone. An array takes
// as many elements as it has.
template <typename T>
Status ParseVector(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                   char separator, const std::string& name, const std::string& value,
                   std::vector<T>* result);
template <typename T>
Status SerializeVector(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                       char separator, const std::string& name, const std::vector<T>& vec,
                       std::string* value);
template <typename T>
bool VectorsAreEqual(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                     const std::string& name, const std::vector<T>& vec1,
                     const std::vector<T>& vec2, std::string* mismatch);
template <typename T, size_t kSize>
Status ParseArray(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                  char separator, const std::string& name, const std::string& value,
                  std::array<T, kSize>* result);
template <typename T, size_t kSize>
Status SerializeArray(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                      char separator, const std::string& name, const std::array<T, kSize>& array,
                      std::string* value);
template <typename T, size_t kSize>
bool ArraysAreEqual(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                    const std::string& name, const std::array<T, kSize>& array1,
                    const std::array<T, kSize>& array2, std::string* mismatch);

class ASHLAR_EXPORT OptionTypeInfo {
 public:
  using Map = std::unordered_map<std::string, OptionTypeInfo>;

  // `offset`: bytes from the start of the struct. Without functions those of the type are used.
  OptionTypeInfo(int offset, OptionType type);
  OptionTypeInfo(int offset, OptionType type, OptionVerificationType verification,
                 OptionTypeFlags flags);
  OptionTypeInfo(int offset, OptionType type, OptionVerificationType verification,
                 OptionTypeFlags flags, const ParseFunc& parse_func);
  OptionTypeInfo(int offset, OptionType type, OptionVerificationType verification,
                 OptionTypeFlags flags, const ParseFunc& parse_func,
                 const SerializeFunc& serialize_func, const EqualsFunc& equals_func);

  OptionTypeInfo& SetParseFunc(const ParseFunc& f);
  OptionTypeInfo& SetSerializeFunc(const SerializeFunc& f);
  OptionTypeInfo& SetEqualsFunc(const EqualsFunc& f);
  OptionTypeInfo& SetPrepareFunc(const PrepareFunc& f);
  OptionTypeInfo& SetValidateFunc(const ValidateFunc& f);

  // An enumeration by names; the map outlives the description.
  template <typename T>
  static OptionTypeInfo Enum(int offset, const std::unordered_map<std::string, T>* const map,
                             OptionTypeFlags flags = OptionTypeFlags::kNone);
  // A struct inside, "{name=value;..}" or one member as "struct_name.member"; the map outlives the
  // description.
  static OptionTypeInfo Struct(const std::string& struct_name, const Map* struct_map, int offset,
                               OptionVerificationType verification, OptionTypeFlags flags);
  static OptionTypeInfo Struct(const std::string& struct_name, const Map* struct_map, int offset,
                               OptionVerificationType verification, OptionTypeFlags flags,
                               const ParseFunc& parse_func);
  template <typename T>
  static OptionTypeInfo Vector(int offset, OptionVerificationType verification,
                               OptionTypeFlags flags, const OptionTypeInfo& elem_info,
                               char separator = ':');
  template <typename T, size_t kSize>
  static OptionTypeInfo Array(int offset, OptionVerificationType verification,
                              OptionTypeFlags flags, const OptionTypeInfo& elem_info,
                              char separator = ':');

  bool IsEnabled(OptionTypeFlags flag) const { return (flags_ & flag) == flag; }
  bool IsEnabled(OptionVerificationType verification) const {
    return verification_ == verification;
  }
  // Whether these ConfigOptions let it change.
  bool IsEditable(const ConfigOptions& config_options) const {
    return !config_options.mutable_options_only || IsMutable();
  }
  bool IsMutable() const { return IsEnabled(OptionTypeFlags::kMutable); }
  bool IsDeprecated() const { return IsEnabled(OptionVerificationType::kDeprecated); }
  bool IsAlias() const { return IsEnabled(OptionVerificationType::kAlias); }
  ConfigOptions::SanityLevel GetSanityLevel() const;
  bool ShouldSerialize() const;
  bool ShouldPrepare() const;
  bool ShouldValidate() const;
  bool CanBeNull() const;
  bool IsSharedPtr() const { return IsEnabled(OptionTypeFlags::kShared); }
  bool IsUniquePtr() const { return IsEnabled(OptionTypeFlags::kUnique); }
  bool IsRawPtr() const { return IsEnabled(OptionTypeFlags::kRawPointer); }
  bool IsByName() const;
  bool IsStruct() const { return type_ == OptionType::kStruct; }
  bool IsConfigurable() const { return type_ == OptionType::kConfigurable || IsCustomizable(); }
  bool IsCustomizable() const { return type_ == OptionType::kCustomizable; }

  // The member of the struct at `base`.
  const void* GetOffset(const void* base) const { return static_cast<const char*>(base) + offset_; }
  void* GetOffset(void* base) const { return static_cast<char*>(base) + offset_; }
  template <typename T>
  const T* GetOffsetAs(const void* base) const {
    return static_cast<const T*>(GetOffset(base));
  }
  template <typename T>
  T* GetOffsetAs(void* base) const {
    return static_cast<T*>(GetOffset(base));
  }
  // The object that the member is or, by the flags, points to.
  template <typename T>
  const T* AsRawPointer(const void* const base) const;
  template <typename T>
  T* AsRawPointer(void* base) const {
    return const_cast<T*>(AsRawPointer<T>(static_cast<const void*>(base)));
  }

  // The member of the struct at `opt_ptr`. InvalidArgument for a text that does not parse, and for
  // one of a type without functions; NotSupported to print such a type.
  Status Parse(const ConfigOptions& config_options, const std::string& opt_name,
               const std::string& opt_value, void* const opt_ptr) const;
  Status Serialize(const ConfigOptions& config_options, const std::string& opt_name,
                   const void* const opt_ptr, std::string* opt_value) const;
  // True also where config_options.sanity_level does not ask for it. Else *mismatch gets the name.
  bool AreEqual(const ConfigOptions& config_options, const std::string& opt_name,
                const void* const this_ptr, const void* const that_ptr,
                std::string* mismatch) const;
  // Compares the texts, as the verification type says of null. False for other verification types.
  bool AreEqualByName(const ConfigOptions& config_options, const std::string& opt_name,
                      const void* const this_ptr, const void* const that_ptr) const;
  bool AreEqualByName(const ConfigOptions& config_options, const std::string& opt_name,
                      const void* const this_ptr, const std::string& that_value) const;
  // Calls the function that was set, if any.
  Status Prepare(const ConfigOptions& config_options, const std::string& name, void* opt_ptr) const;
  Status Validate(const DBOptions& db_opts, const ColumnFamilyOptions& cf_opts,
                  const std::string& name, const void* opt_ptr) const;

  // All members of a struct. Texts of unknown names go to *unused, or are NotFound without.
  static Status ParseType(const ConfigOptions& config_options, const std::string& opts_str,
                          const Map& type_map, void* opt_addr,
                          std::unordered_map<std::string, std::string>* unused = nullptr);
  static Status ParseType(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opts_map,
                          const Map& type_map, void* opt_addr,
                          std::unordered_map<std::string, std::string>* unused = nullptr);
  static Status SerializeType(const ConfigOptions& config_options, const Map& type_map,
                              const void* opt_addr, std::string* value);
  static bool TypesAreEqual(const ConfigOptions& config_options, const Map& map,
                            const void* this_addr, const void* that_addr, std::string* mismatch);

  // All members of the struct if opt_name is its name, else the one that opt_name names, with or
  // without "struct_name." in front.
  static Status ParseStruct(const ConfigOptions& config_options, const std::string& struct_name,
                            const Map* map, const std::string& opt_name,
                            const std::string& opt_value, void* opt_addr);
  static Status SerializeStruct(const ConfigOptions& config_options, const std::string& struct_name,
                                const Map* map, const std::string& opt_name, const void* opt_addr,
                                std::string* value);
  static bool StructsAreEqual(const ConfigOptions& config_options, const std::string& struct_name,
                              const Map* map, const std::string& opt_name, const void* this_addr,
                              const void* that_addr, std::string* mismatch);

  // By its name or, of a struct or an object, by "name.member"; then *elem_name is the member. Null
  // if there is none.
  static const OptionTypeInfo* Find(const std::string& opt_name, const Map& opt_map,
                                    std::string* elem_name);
  // The text from position `start` to the delimiter, without spaces and outer braces, and where it
  // ends: npos, or behind a brace the size, at the end of the text. InvalidArgument for braces that
  // do not match.
  static Status NextToken(const std::string& opts, char delimiter, size_t start, size_t* end,
                          std::string* token);

  constexpr static const char* kIdPropName() { return "id"; }
  constexpr static const char* kIdPropSuffix() { return ".id"; }

 private:
  int offset_;
  OptionType type_;
  OptionVerificationType verification_;
  OptionTypeFlags flags_;
  ParseFunc parse_func_;
  SerializeFunc serialize_func_;
  EqualsFunc equals_func_;
  PrepareFunc prepare_func_;
  ValidateFunc validate_func_;
};

// ---- the bodies of the templates

template <typename T>
OptionTypeInfo OptionTypeInfo::Enum(int offset, const std::unordered_map<std::string, T>* const map,
                                    OptionTypeFlags flags) {
  const auto parse = [map](const ConfigOptions&, const std::string& name, const std::string& value,
                           void* addr) {
    if (ParseEnum<T>(*map, value, static_cast<T*>(addr))) return Status::OK();
    return Status::InvalidArgument("no such value of option " + name, value);
  };
  const auto serialize = [map](const ConfigOptions&, const std::string& name, const void* addr,
                               std::string* value) {
    if (SerializeEnum<T>(*map, *static_cast<const T*>(addr), value)) return Status::OK();
    return Status::InvalidArgument("its value has no name", name);
  };
  const auto equals = [](const ConfigOptions&, const std::string&, const void* addr1,
                         const void* addr2, std::string*) {
    return *static_cast<const T*>(addr1) == *static_cast<const T*>(addr2);
  };
  return OptionTypeInfo(offset, OptionType::kEnum, OptionVerificationType::kNormal, flags, parse,
                        serialize, equals);
}

template <typename T>
OptionTypeInfo OptionTypeInfo::Vector(int offset, OptionVerificationType verification,
                                      OptionTypeFlags flags, const OptionTypeInfo& elem_info,
                                      char separator) {
  using Value = std::vector<T>;
  const auto parse = [elem_info, separator](const ConfigOptions& config, const std::string& name,
                                            const std::string& value, void* addr) {
    return ParseVector<T>(config, elem_info, separator, name, value, static_cast<Value*>(addr));
  };
  const auto serialize = [elem_info, separator](const ConfigOptions& config,
                                                const std::string& name, const void* addr,
                                                std::string* value) {
    const auto& list = *static_cast<const Value*>(addr);
    return SerializeVector<T>(config, elem_info, separator, name, list, value);
  };
  const auto equals = [elem_info](const ConfigOptions& config, const std::string& name,
                                  const void* addr1, const void* addr2, std::string* mismatch) {
    return VectorsAreEqual<T>(config, elem_info, name, *static_cast<const Value*>(addr1),
                              *static_cast<const Value*>(addr2), mismatch);
  };
  return OptionTypeInfo(offset, OptionType::kVector, verification, flags, parse, serialize, equals);
}

template <typename T, size_t kSize>
OptionTypeInfo OptionTypeInfo::Array(int offset, OptionVerificationType verification,
                                     OptionTypeFlags flags, const OptionTypeInfo& elem_info,
                                     char separator) {
  using Value = std::array<T, kSize>;
  const auto parse = [elem_info, separator](const ConfigOptions& config, const std::string& name,
                                            const std::string& value, void* addr) {
    return ParseArray<T, kSize>(config, elem_info, separator, name, value,
                                static_cast<Value*>(addr));
  };
  const auto serialize = [elem_info, separator](const ConfigOptions& config,
                                                const std::string& name, const void* addr,
                                                std::string* value) {
    const auto& list = *static_cast<const Value*>(addr);
    return SerializeArray<T, kSize>(config, elem_info, separator, name, list, value);
  };
  const auto equals = [elem_info](const ConfigOptions& config, const std::string& name,
                                  const void* addr1, const void* addr2, std::string* mismatch) {
    return ArraysAreEqual<T, kSize>(config, elem_info, name, *static_cast<const Value*>(addr1),
                                    *static_cast<const Value*>(addr2), mismatch);
  };
  return OptionTypeInfo(offset, OptionType::kArray, verification, flags, parse, serialize, equals);
}

template <typename T>
const T* OptionTypeInfo::AsRawPointer(const void* const base) const {
  if (base == nullptr) return nullptr;
  if (IsRawPtr()) return *GetOffsetAs<T*>(base);
  if (IsSharedPtr()) return GetOffsetAs<std::shared_ptr<T>>(base)->get();
  if (IsUniquePtr()) return GetOffsetAs<std::unique_ptr<T>>(base)->get();
  return GetOffsetAs<T>(base);
}

template <typename T>
Status ParseVector(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                   char separator, const std::string& name, const std::string& value,
                   std::vector<T>* result) {
  std::vector<T> parsed;
  for (size_t start = 0, end = 0; start < value.size() && end != std::string::npos;
       start = end + 1) {
    std::string token;
    Status status = OptionTypeInfo::NextToken(value, separator, start, &end, &token);
    if (!status.ok()) return status;
    T element{};
    status = elem_info.Parse(config_options, name, token, &element);
    if (!status.ok()) return status;
    parsed.push_back(std::move(element));
  }
  *result = std::move(parsed);
  return Status::OK();
}

namespace option_lists {

// Of a vector or an array.
template <typename List>
Status Serialize(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                 char separator, const std::string& name, const List& list, std::string* value) {
  ConfigOptions embedded = config_options;
  embedded.delimiter = ";";
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) {
    std::string element;
    const auto& stored = list[i];
    Status status = elem_info.Serialize(embedded, name, &stored, &element);
    if (!status.ok()) return status;
    const bool needs_braces = element.find(separator) != std::string::npos && element[0] != '{';
    if (i > 0) text.push_back(separator);
    text += needs_braces ? "{" + element + "}" : element;
  }
  // A brace that closes would end the list.
  const bool is_nested = text.find('=') != std::string::npos;
  *value = is_nested ? "{" + text + "}" : text;
  return Status::OK();
}

template <typename List>
bool AreEqual(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
              const std::string& name, const List& list1, const List& list2,
              std::string* mismatch) {
  if (list1.size() != list2.size()) {
    *mismatch = name;
    return false;
  }
  for (size_t i = 0; i < list1.size(); ++i) {
    const auto& one = list1[i];
    const auto& other = list2[i];
    if (!elem_info.AreEqual(config_options, name, &one, &other, mismatch)) return false;
  }
  return true;
}

}  // namespace option_lists

template <typename T>
Status SerializeVector(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                       char separator, const std::string& name, const std::vector<T>& vec,
                       std::string* value) {
  return option_lists::Serialize(config_options, elem_info, separator, name, vec, value);
}
template <typename T>
bool VectorsAreEqual(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                     const std::string& name, const std::vector<T>& vec1,
                     const std::vector<T>& vec2, std::string* mismatch) {
  return option_lists::AreEqual(config_options, elem_info, name, vec1, vec2, mismatch);
}

template <typename T, size_t kSize>
Status ParseArray(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                  char separator, const std::string& name, const std::string& value,
                  std::array<T, kSize>* result) {
  std::vector<T> parsed;
  Status status = ParseVector<T>(config_options, elem_info, separator, name, value, &parsed);
  if (!status.ok()) return status;
  if (parsed.size() != kSize) {
    return Status::InvalidArgument(name + ": expected " + std::to_string(kSize) + " elements",
                                   value);
  }
  for (size_t i = 0; i < kSize; ++i) (*result)[i] = std::move(parsed[i]);
  return Status::OK();
}
template <typename T, size_t kSize>
Status SerializeArray(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                      char separator, const std::string& name, const std::array<T, kSize>& array,
                      std::string* value) {
  return option_lists::Serialize(config_options, elem_info, separator, name, array, value);
}
template <typename T, size_t kSize>
bool ArraysAreEqual(const ConfigOptions& config_options, const OptionTypeInfo& elem_info,
                    const std::string& name, const std::array<T, kSize>& array1,
                    const std::array<T, kSize>& array2, std::string* mismatch) {
  return option_lists::AreEqual(config_options, elem_info, name, array1, array2, mismatch);
}

}  // namespace ashlar
