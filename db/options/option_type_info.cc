// SPDX-License-Identifier: Apache-2.0
//
// OptionTypeInfo supports the types of the option tables, with the same texts.
//
// A program describes its own structs by maps from names to OptionTypeInfo. Each description has
// the offset of a member in its struct and its type, or functions that parse, print and compare it.
// All functions here get untyped addresses: the program guarantees that they are of the described
// type.
#include "ashlar/utilities/options_type.h"

#include <cassert>
#include <cctype>

#include "db/options/option_values.h"
#include "util/result.h"
#include "util/text/registered_types.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Calls `visit` with a null pointer to the C++ type of such a member. Returns false for a type that
// only functions of the program can handle.
// A generic lambda as `visit` is compiled once for each type, which saves three long switches.
template <typename Visit>
bool VisitType(OptionType type, Visit visit) {
  switch (type) {
    case OptionType::kBoolean: visit(static_cast<bool*>(nullptr)); return true;
    case OptionType::kInt: visit(static_cast<int*>(nullptr)); return true;
    case OptionType::kInt32T: visit(static_cast<int32_t*>(nullptr)); return true;
    case OptionType::kInt64T: visit(static_cast<int64_t*>(nullptr)); return true;
    case OptionType::kUInt: visit(static_cast<unsigned*>(nullptr)); return true;
    case OptionType::kUInt8T: visit(static_cast<uint8_t*>(nullptr)); return true;
    case OptionType::kUInt32T: visit(static_cast<uint32_t*>(nullptr)); return true;
    case OptionType::kUInt64T: visit(static_cast<uint64_t*>(nullptr)); return true;
    case OptionType::kSizeT: visit(static_cast<size_t*>(nullptr)); return true;
    case OptionType::kString: visit(static_cast<std::string*>(nullptr)); return true;
    case OptionType::kDouble: visit(static_cast<double*>(nullptr)); return true;
    case OptionType::kCompactionStyle: visit(static_cast<CompactionStyle*>(nullptr)); return true;
    case OptionType::kCompactionPri: visit(static_cast<CompactionPri*>(nullptr)); return true;
    case OptionType::kCompressionType: visit(static_cast<CompressionType*>(nullptr)); return true;
    case OptionType::kCompactionStopStyle:
      visit(static_cast<CompactionStopStyle*>(nullptr));
      return true;
    case OptionType::kChecksumType: visit(static_cast<ChecksumType*>(nullptr)); return true;
    case OptionType::kEncodingType: visit(static_cast<EncodingType*>(nullptr)); return true;
    case OptionType::kTemperature: visit(static_cast<Temperature*>(nullptr)); return true;
    default: return false;
  }
}

// The text is the string in hexadecimal digits.
Status ParseEncoded(const std::string& text, std::string* value) {
  assert(value != nullptr);
  std::string decoded;
  if (!Slice(text).DecodeHex(&decoded)) return BadOptionValue("hexadecimal digits", text);
  *value = std::move(decoded);
  return Status::OK();
}

// Parses a member of a known type. `addr` is the address of the member.
Status ParseByType(OptionType type, const ConfigOptions& config, const std::string& text,
                   void* addr) {
  assert(addr != nullptr);
  // A string that is stored in hexadecimal digits has the same C++ type as a plain one.
  if (type == OptionType::kEncodedString) {
    return ParseEncoded(text, static_cast<std::string*>(addr));
  }
  Status status;
  // The template parameter is the C++ type of the member.
  const bool is_known = VisitType(
      type, [&]<typename T>(T*) { status = ParseValue(config, text, static_cast<T*>(addr)); });
  if (!is_known) return Status::InvalidArgument("a type that needs a function to be parsed");
  return status;
}

// Prints a member of a known type.
Status SerializeByType(OptionType type, const ConfigOptions& config, const void* addr,
                       std::string* value) {
  assert(addr != nullptr && value != nullptr);
  if (type == OptionType::kEncodedString) {
    *value = Slice(*static_cast<const std::string*>(addr)).ToString(/*hex=*/true);
    return Status::OK();
  }
  PrintContext context;
  context.config = config;
  const bool is_known = VisitType(type, [&]<typename T>(T*) {
    value->clear();
    PrintValue(context, *static_cast<const T*>(addr), value);
  });
  if (!is_known) return Status::NotSupported("a type that needs a function to be printed");
  return Status::OK();
}

// Whether two values of this type are equal. False for types that only functions of the program can
// compare.
bool EqualByType(OptionType type, const void* one, const void* other) {
  assert(one != nullptr && other != nullptr);
  if (type == OptionType::kEncodedString) type = OptionType::kString;
  bool are_equal = false;
  VisitType(type, [&]<typename T>(T*) {
    are_equal = *static_cast<const T*>(one) == *static_cast<const T*>(other);
  });
  return are_equal;
}

// The name after "struct_name.", or the whole name if it does not have that prefix.
std::string WithoutPrefix(const std::string& name, const std::string& struct_name) {
  const std::string prefix = struct_name + ".";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

// Whether the name means the whole struct and not one of its members.
// The name may have several structs in front of it, one inside the other.
bool IsWhole(const std::string& name, const std::string& struct_name) {
  return name == struct_name || name.ends_with("." + struct_name);
}

}  // namespace

OptionTypeInfo::OptionTypeInfo(int offset, OptionType type)
    : OptionTypeInfo(offset, type, OptionVerificationType::kNormal, OptionTypeFlags::kNone) {}

OptionTypeInfo::OptionTypeInfo(int offset, OptionType type, OptionVerificationType verification,
                               OptionTypeFlags flags)
    : OptionTypeInfo(offset, type, verification, flags, ParseFunc()) {}

OptionTypeInfo::OptionTypeInfo(int offset, OptionType type, OptionVerificationType verification,
                               OptionTypeFlags flags, const ParseFunc& parse_func)
    : OptionTypeInfo(offset, type, verification, flags, parse_func, SerializeFunc(), EqualsFunc()) {
}

OptionTypeInfo::OptionTypeInfo(int offset, OptionType type, OptionVerificationType verification,
                               OptionTypeFlags flags, const ParseFunc& parse_func,
                               const SerializeFunc& serialize_func, const EqualsFunc& equals_func)
    : offset_(offset),
      type_(type),
      verification_(verification),
      flags_(flags),
      parse_func_(parse_func),
      serialize_func_(serialize_func),
      equals_func_(equals_func) {}

// Setters of the functions that replace the built-in handling of a type.
OptionTypeInfo& OptionTypeInfo::SetParseFunc(const ParseFunc& f) {
  parse_func_ = f;
  return *this;
}
OptionTypeInfo& OptionTypeInfo::SetSerializeFunc(const SerializeFunc& f) {
  serialize_func_ = f;
  return *this;
}
OptionTypeInfo& OptionTypeInfo::SetEqualsFunc(const EqualsFunc& f) {
  equals_func_ = f;
  return *this;
}
OptionTypeInfo& OptionTypeInfo::SetPrepareFunc(const PrepareFunc& f) {
  prepare_func_ = f;
  return *this;
}
OptionTypeInfo& OptionTypeInfo::SetValidateFunc(const ValidateFunc& f) {
  validate_func_ = f;
  return *this;
}

// A member that is a struct itself, described by `struct_map`, which outlives the result.
OptionTypeInfo OptionTypeInfo::Struct(const std::string& struct_name, const Map* struct_map,
                                      int offset, OptionVerificationType verification,
                                      OptionTypeFlags flags) {
  // Copies of the arguments: the description may outlive the call that makes it.
  const auto parse = [=](const ConfigOptions& config, const std::string& name,
                         const std::string& value, void* addr) {
    return ParseStruct(config, struct_name, struct_map, name, value, addr);
  };
  return Struct(struct_name, struct_map, offset, verification, flags, parse);
}

OptionTypeInfo OptionTypeInfo::Struct(const std::string& struct_name, const Map* struct_map,
                                      int offset, OptionVerificationType verification,
                                      OptionTypeFlags flags, const ParseFunc& parse_func) {
  const auto serialize = [=](const ConfigOptions& config, const std::string& name, const void* addr,
                             std::string* value) {
    return SerializeStruct(config, struct_name, struct_map, name, addr, value);
  };
  const auto equals = [=](const ConfigOptions& config, const std::string& name, const void* addr1,
                          const void* addr2, std::string* mismatch) {
    return StructsAreEqual(config, struct_name, struct_map, name, addr1, addr2, mismatch);
  };
  return OptionTypeInfo(offset, OptionType::kStruct, verification, flags, parse_func, serialize,
                        equals);
}

// Without a flag for another level, members must be equal exactly.
ConfigOptions::SanityLevel OptionTypeInfo::GetSanityLevel() const {
  if (IsDeprecated() || IsAlias()) return ConfigOptions::kSanityLevelNone;
  const auto level = static_cast<uint8_t>(flags_ & OptionTypeFlags::kCompareExact);
  return level == 0 ? ConfigOptions::kSanityLevelExactMatch
                    : static_cast<ConfigOptions::SanityLevel>(level);
}

// Deprecated names and aliases have no value of their own.
bool OptionTypeInfo::ShouldSerialize() const {
  return !IsDeprecated() && !IsAlias() && !IsEnabled(OptionTypeFlags::kDontSerialize);
}
bool OptionTypeInfo::ShouldPrepare() const {
  return !IsDeprecated() && !IsAlias() && !IsEnabled(OptionTypeFlags::kDontPrepare) &&
         (prepare_func_ != nullptr || IsConfigurable());
}
bool OptionTypeInfo::ShouldValidate() const {
  return !IsDeprecated() && !IsAlias() && (validate_func_ != nullptr || IsConfigurable());
}
bool OptionTypeInfo::CanBeNull() const {
  return IsEnabled(OptionTypeFlags::kAllowNull) ||
         IsEnabled(OptionVerificationType::kByNameAllowNull) ||
         IsEnabled(OptionVerificationType::kByNameAllowFromNull);
}
bool OptionTypeInfo::IsByName() const {
  return IsEnabled(OptionVerificationType::kByName) ||
         IsEnabled(OptionVerificationType::kByNameAllowNull) ||
         IsEnabled(OptionVerificationType::kByNameAllowFromNull);
}

// If the struct that contains the member is unknown, the member is not found. In lists, each
// element is unescaped.
Status OptionTypeInfo::Parse(const ConfigOptions& config_options, const std::string& opt_name,
                             const std::string& opt_value, void* const opt_ptr) const {
  // Names of older releases are accepted and have no effect.
  if (IsDeprecated()) return Status::OK();
  if (opt_ptr == nullptr) return Status::NotFound("no place for option", opt_name);
  // The member lies inside the struct, so its address follows from the struct's.
  void* const addr = GetOffset(opt_ptr);
  const Status status = parse_func_ != nullptr
                            ? parse_func_(config_options, opt_name, opt_value, addr)
                            : ParseByType(type_, config_options, opt_value, addr);
  return status.ok() ? status : Status::CopyAppendMessage(status, "; option ", opt_name);
}

// The text of one member. Empty if it is not serialized.
Status OptionTypeInfo::Serialize(const ConfigOptions& config_options, const std::string& opt_name,
                                 const void* const opt_ptr, std::string* opt_value) const {
  assert(opt_value != nullptr);
  opt_value->clear();
  if (opt_ptr == nullptr || !ShouldSerialize()) return Status::OK();
  const void* const addr = GetOffset(opt_ptr);
  if (serialize_func_ != nullptr) {
    return serialize_func_(config_options, opt_name, addr, opt_value);
  }
  const Status status = SerializeByType(type_, config_options, addr, opt_value);
  return status.ok() ? status : Status::CopyAppendMessage(status, "; option ", opt_name);
}

// Members are compared only if the sanity level of the caller is high enough.
bool OptionTypeInfo::AreEqual(const ConfigOptions& config_options, const std::string& opt_name,
                              const void* const this_ptr, const void* const that_ptr,
                              std::string* mismatch) const {
  // A lower sanity level of the caller skips the member.
  if (!config_options.IsCheckEnabled(GetSanityLevel())) return true;
  // Two absent structs are equal.
  const bool is_one_absent = this_ptr == nullptr || that_ptr == nullptr;
  bool are_equal = this_ptr == that_ptr;
  if (!is_one_absent) {
    const void* const one = GetOffset(this_ptr);
    const void* const other = GetOffset(that_ptr);
    are_equal = equals_func_ != nullptr
                    ? equals_func_(config_options, opt_name, one, other, mismatch)
                    : EqualByType(type_, one, other);
  }
  // A nested struct has set the path to its member already.
  if (!are_equal && mismatch->empty()) *mismatch = opt_name;
  return are_equal;
}

// Objects are compared by their printed names.
bool OptionTypeInfo::AreEqualByName(const ConfigOptions& config_options,
                                    const std::string& opt_name, const void* const this_ptr,
                                    const void* const that_ptr) const {
  std::string that_value;
  if (!IsByName() || !Serialize(config_options, opt_name, that_ptr, &that_value).ok()) return false;
  return AreEqualByName(config_options, opt_name, this_ptr, that_value);
}

bool OptionTypeInfo::AreEqualByName(const ConfigOptions& config_options,
                                    const std::string& opt_name, const void* const this_ptr,
                                    const std::string& that_value) const {
  std::string this_value;
  if (!IsByName() || !Serialize(config_options, opt_name, this_ptr, &this_value).ok()) return false;
  const auto is_null = [](const std::string& text) { return text.empty() || text == "nullptr"; };
  if (IsEnabled(OptionVerificationType::kByNameAllowNull) && is_null(this_value)) return true;
  // Two levels of tolerance: nothing on this side, or nothing on the other side.
  const bool allows_from_null = !IsEnabled(OptionVerificationType::kByName);
  if (allows_from_null && is_null(that_value)) return true;
  return this_value == that_value;
}

// Deprecated members and those without a function need no preparation.
Status OptionTypeInfo::Prepare(const ConfigOptions& config_options, const std::string& name,
                               void* opt_ptr) const {
  if (!ShouldPrepare() || prepare_func_ == nullptr) return Status::OK();
  return prepare_func_(config_options, name, GetOffset(opt_ptr));
}

Status OptionTypeInfo::Validate(const DBOptions& db_opts, const ColumnFamilyOptions& cf_opts,
                                const std::string& name, const void* opt_ptr) const {
  if (!ShouldValidate() || validate_func_ == nullptr) return Status::OK();
  return validate_func_(db_opts, cf_opts, name, GetOffset(opt_ptr));
}

// ---- structs

// Finds a member by its name, or a nested struct by the part before the dot; then `*elem_name` is
// the rest.
const OptionTypeInfo* OptionTypeInfo::Find(const std::string& opt_name, const Map& opt_map,
                                           std::string* elem_name) {
  assert(elem_name != nullptr);
  auto found = opt_map.find(opt_name);
  *elem_name = opt_name;
  // A whole name goes before a name with a dot.
  if (found != opt_map.end()) return &found->second;
  const size_t dot = opt_name.find('.');
  // A dot at the beginning would mean a struct without a name.
  if (dot == std::string::npos || dot == 0) return nullptr;
  found = opt_map.find(opt_name.substr(0, dot));
  if (found == opt_map.end()) return nullptr;
  if (!found->second.IsStruct() && !found->second.IsConfigurable()) return nullptr;
  *elem_name = opt_name.substr(dot + 1);
  return &found->second;
}

// Parses all members of a struct from one text.
Status OptionTypeInfo::ParseType(const ConfigOptions& config_options, const std::string& opts_str,
                                 const Map& type_map, void* opt_addr,
                                 std::unordered_map<std::string, std::string>* unused) {
  std::unordered_map<std::string, std::string> opts_map;
  RETURN_IF_ERROR(StringToMap(opts_str, &opts_map));
  return ParseType(config_options, opts_map, type_map, opt_addr, unused);
}

// Unknown names go to `*unused` if the caller passes it.
Status OptionTypeInfo::ParseType(const ConfigOptions& config_options,
                                 const std::unordered_map<std::string, std::string>& opts_map,
                                 const Map& type_map, void* opt_addr,
                                 std::unordered_map<std::string, std::string>* unused) {
  for (const auto& [name, value] : opts_map) {
    std::string elem_name;
    const OptionTypeInfo* const info = Find(name, type_map, &elem_name);
    // The member is parsed in place; members before an error keep their new values.
    if (info != nullptr) {
      RETURN_IF_ERROR(info->Parse(config_options, elem_name, value, opt_addr));
    } else if (unused != nullptr) {
      (*unused)[name] = value;
    } else if (!config_options.ignore_unknown_options) {
      return Status::NotFound("unknown option", name);
    }
  }
  return Status::OK();
}

// Writes a delimiter after every member, as other structs are printed.
Status OptionTypeInfo::SerializeType(const ConfigOptions& config_options, const Map& type_map,
                                     const void* opt_addr, std::string* value) {
  assert(value != nullptr);
  value->clear();
  for (const auto& [name, info] : type_map) {
    if (!info.ShouldSerialize()) continue;
    std::string text;
    RETURN_IF_ERROR(info.Serialize(config_options, name, opt_addr, &text));
    StrAppend(value, name, "=", text, config_options.delimiter);
  }
  return Status::OK();
}

bool OptionTypeInfo::TypesAreEqual(const ConfigOptions& config_options, const Map& map,
                                   const void* this_addr, const void* that_addr,
                                   std::string* mismatch) {
  for (const auto& [name, info] : map) {
    if (!info.AreEqual(config_options, name, this_addr, that_addr, mismatch)) return false;
  }
  return true;
}

// Parses the whole struct or one of its members.
Status OptionTypeInfo::ParseStruct(const ConfigOptions& config_options,
                                   const std::string& struct_name, const Map* map,
                                   const std::string& opt_name, const std::string& opt_value,
                                   void* opt_addr) {
  assert(map != nullptr);
  if (IsWhole(opt_name, struct_name)) {
    const Status status = ParseType(config_options, StripBraces(opt_value), *map, opt_addr);
    // The struct is known, so that an unknown member is a bad value.
    return status.IsNotFound() ? Status::InvalidArgument(status.getState()) : status;
  }
  std::string elem_name;
  const std::string member = WithoutPrefix(opt_name, struct_name);
  const OptionTypeInfo* const info = Find(member, *map, &elem_name);
  if (info == nullptr) return Status::InvalidArgument("unknown option", opt_name);
  return info->Parse(config_options, elem_name, opt_value, opt_addr);
}

// Prints the whole struct, in braces, or one of its members.
Status OptionTypeInfo::SerializeStruct(const ConfigOptions& config_options,
                                       const std::string& struct_name, const Map* map,
                                       const std::string& opt_name, const void* opt_addr,
                                       std::string* value) {
  assert(map != nullptr);
  if (IsWhole(opt_name, struct_name)) {
    ConfigOptions embedded = config_options;
    embedded.delimiter = ";";
    std::string members;
    RETURN_IF_ERROR(SerializeType(embedded, *map, opt_addr, &members));
    *value = StrCat("{", members, "}");
    return Status::OK();
  }
  std::string elem_name;
  const OptionTypeInfo* const info = Find(WithoutPrefix(opt_name, struct_name), *map, &elem_name);
  if (info == nullptr) return Status::InvalidArgument("unknown option", opt_name);
  return info->Serialize(config_options, elem_name, opt_addr, value);
}

// `*mismatch` is the path to the first member that differs.
bool OptionTypeInfo::StructsAreEqual(const ConfigOptions& config_options,
                                     const std::string& struct_name, const Map* map,
                                     const std::string& opt_name, const void* this_addr,
                                     const void* that_addr, std::string* mismatch) {
  assert(map != nullptr);
  std::string member;
  bool are_equal = false;
  if (IsWhole(opt_name, struct_name)) {
    are_equal = TypesAreEqual(config_options, *map, this_addr, that_addr, &member);
    if (!are_equal) *mismatch = StrCat(struct_name, ".", member);
    return are_equal;
  }
  std::string elem_name;
  const OptionTypeInfo* const info = Find(WithoutPrefix(opt_name, struct_name), *map, &elem_name);
  are_equal =
      info != nullptr && info->AreEqual(config_options, elem_name, this_addr, that_addr, &member);
  if (!are_equal) *mismatch = info == nullptr ? opt_name : StrCat(struct_name, ".", member);
  return are_equal;
}

// In an element that begins with a brace, braces are counted; any other element ends at the
// delimiter.
Status OptionTypeInfo::NextToken(const std::string& opts, char delimiter, size_t start, size_t* end,
                                 std::string* token) {
  assert(token != nullptr);
  size_t at = start;
  while (at < opts.size() && isspace(static_cast<unsigned char>(opts[at])) != 0) at++;
  token->clear();
  *end = std::string::npos;
  if (at >= opts.size()) return Status::OK();
  if (opts[at] != '{') {
    *end = opts.find(delimiter, at);
    *token =
        TrimSpaces(std::string_view(opts).substr(at, *end == std::string::npos ? *end : *end - at));
    return Status::OK();
  }
  size_t close = at;
  // Counts nested braces; the text may be anything.
  for (size_t depth = 0; close < opts.size(); close++) {
    if (opts[close] == '{') depth++;
    if (opts[close] == '}' && --depth == 0) break;
  }
  // Also for a single opening brace at the end.
  if (close >= opts.size()) return Status::InvalidArgument("braces do not match", opts);
  *token = TrimSpaces(std::string_view(opts).substr(at + 1, close - at - 1));
  size_t behind = close + 1;
  while (behind < opts.size() && isspace(static_cast<unsigned char>(opts[behind])) != 0) behind++;
  *end = behind;
  if (behind < opts.size() && opts[behind] != delimiter) {
    return Status::InvalidArgument("text behind a closing brace", opts);
  }
  return Status::OK();
}

// Only classes with described options register any, so they alone need this floor.
void Configurable::RegisterOptions(const std::string& name, void* opt_ptr,
                                   const std::unordered_map<std::string, OptionTypeInfo>* opt_map) {
  static constexpr RegisteredTypeCalls kCalls = {
      .parse =
          [](const ConfigOptions& config, const RegisteredTypeCalls::Texts& values,
             const RegisteredTypeCalls::Map& map, void* address,
             RegisteredTypeCalls::Texts* unused) {
            return OptionTypeInfo::ParseType(config, values, map, address, unused);
          },
      .parse_one = [](const ConfigOptions& config, const OptionTypeInfo& info,
                      const std::string& option, const std::string& value,
                      void* address) { return info.Parse(config, option, value, address); },
      .serialize = &OptionTypeInfo::SerializeType,
      .are_equal = &OptionTypeInfo::TypesAreEqual,
  };
  // Kept as an offset, so that copies of the object refer to their own member.
  const intptr_t offset = reinterpret_cast<char*>(opt_ptr) - reinterpret_cast<char*>(this);
  options_.push_back({name, offset, opt_map, &kCalls});
}

}  // namespace ashlar
