// SPDX-License-Identifier: Apache-2.0
//
// Parses and prints plain values, and objects that the program provides.
#include "db/options/option_values.h"

#include <cassert>

#include "ashlar/compaction_filter.h"
#include "ashlar/merge_operator.h"
#include "ashlar/wal_filter.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The text of an object that only the program can provide is its name, or nullptr.
template <typename T>
void PrintName(const ConfigOptions& config, const T* object, std::string* text) {
  assert(text != nullptr);
  text->append(object == nullptr ? "nullptr" : object->ToString(config));
}

// Whether the text means that no object is set.
bool IsNull(std::string_view text) {
  text = TrimSpaces(text);
  return text.empty() || text == "nullptr";
}

}  // namespace

// Shows only the beginning of a long text.
Status BadOptionValue(std::string_view expected, std::string_view text) {
  // In bytes; enough to recognise the option, and short enough for a message.
  constexpr size_t kShown = 80;
  return Status::InvalidArgument(
      StrCat("expected ", expected, ", found '", EscapeBytes(Slice(text.substr(0, kShown))), "'"));
}

// The policy for names that no class has, see option_values.h: such a name is ignored, and the
// caller keeps the object that it has, unless the program has asked for errors.
Status UnknownObject(const ConfigOptions& config, const char* kind, std::string_view text) {
  if (config.ignore_unsupported_options) return Status::OK();
  return Status::NotSupported(StrCat(kind, " '", text, "' cannot be made by name; set it in code"));
}

// The plain types. `*value` changes only on success.
Status ParseValue(const ConfigOptions&, std::string_view text, bool* value) {
  assert(value != nullptr);
  bool parsed;
  if (!ParseBoolText(text, &parsed)) return BadOptionValue("true or false", text);
  *value = parsed;
  return Status::OK();
}

Status ParseValue(const ConfigOptions&, std::string_view text, double* value) {
  assert(value != nullptr);
  double parsed;
  if (!ParseDoubleText(text, &parsed)) return BadOptionValue("a number", text);
  *value = parsed;
  return Status::OK();
}

Status ParseValue(const ConfigOptions& config, std::string_view text, std::string* value) {
  assert(value != nullptr);
  // Escapes are undone only if the caller says that the text has them.
  const std::string raw =
      config.input_strings_escaped ? UnescapeOptionString(text) : std::string(text);
  *value = TrimSpaces(raw);  // spaces at the ends would not survive being printed
  return Status::OK();
}

void PrintValue(const PrintContext& context, bool value, std::string* text) {
  assert(text != nullptr);
  if (context.as_numbers) return text->push_back(value ? '1' : '0');
  text->append(value ? "true" : "false");
}

void PrintValue(const PrintContext&, double value, std::string* text) {
  assert(text != nullptr);
  text->append(DoubleText(value));
}

void PrintValue(const PrintContext&, const std::string& value, std::string* text) {
  assert(text != nullptr);
  text->append(EscapeOptionString(value));
}

Status ParseValue(const ConfigOptions& config, std::string_view text, const Comparator** value) {
  assert(value != nullptr);
  const Comparator* parsed = nullptr;
  Status status = Comparator::CreateFromString(config, std::string(text), &parsed);
  if (!status.ok()) return status;
  // A name that is not built in keeps the present comparator. A family that is opened with the
  // wrong one is refused later, because the MANIFEST has the name.
  if (parsed != nullptr) *value = parsed;
  return Status::OK();
}

// Compaction filters and WAL filters are classes of the program, which it may register.
Status ParseValue(const ConfigOptions& config, std::string_view text,
                  const CompactionFilter** value) {
  assert(value != nullptr);
  const std::string name = IsNull(text) ? "" : StripBraces(text);
  const Status status = CompactionFilter::CreateFromString(config, name, value);
  return status.IsNotSupported() ? UnknownObject(config, "compaction filter", text) : status;
}

Status ParseValue(const ConfigOptions& config, std::string_view text, WalFilter** value) {
  assert(value != nullptr);
  const std::string name = IsNull(text) ? "" : StripBraces(text);
  const Status status = WalFilter::CreateFromString(config, name, value);
  return status.IsNotSupported() ? UnknownObject(config, "WAL filter", text) : status;
}

// The text is a name, "{id=name;member=value;...}", or only members, which then change a copy of
// the present factory.
Status ParseValue(const ConfigOptions& config, std::string_view text,
                  std::shared_ptr<TableFactory>* value) {
  assert(value != nullptr);
  const std::string object = StripBraces(text);
  std::unordered_map<std::string, std::string> members;
  if (object.find('=') != std::string::npos) RETURN_IF_ERROR(StringToMap(object, &members));
  // A text with members has the name among them, or has none and means the present factory.
  const std::string name = members.empty() ? object : members["id"];
  members.erase("id");
  // On an open database, the kind of table factory cannot be changed.
  const bool keeps_factory =
      *value != nullptr && (name.empty() ? !members.empty() : config.mutable_options_only);
  if (keeps_factory) {
    if (!name.empty() && name != (*value)->Name()) {
      return BadOptionValue(StrCat("another option of ", (*value)->Name()), text);
    }
    // A clone, because the present factory may be in use.
    std::shared_ptr<TableFactory> changed = (*value)->Clone();
    RETURN_IF_ERROR(changed->ConfigureFromMap(config, members));
    *value = std::move(changed);
    return Status::OK();
  }
  // The factory that is kept if the name is unknown.
  std::shared_ptr<TableFactory> made = *value;
  const Status status = TableFactory::CreateFromString(config, object, &made);
  if (status.IsNotSupported()) return UnknownObject(config, TableFactory::Type(), text);
  if (status.ok()) *value = std::move(made);
  return status;
}

void PrintValue(const PrintContext& context, const Comparator* value, std::string* text) {
  PrintName(context.config, value, text);
}

void PrintValue(const PrintContext& context, const CompactionFilter* value, std::string* text) {
  PrintName(context.config, value, text);
}

void PrintValue(const PrintContext& context, WalFilter* value, std::string* text) {
  PrintName(context.config, value, text);
}

Status ParseValue(const ConfigOptions& config, std::string_view text,
                  std::shared_ptr<MergeOperator>* value) {
  assert(value != nullptr);
  const std::string id = IsNull(text) ? "" : StripBraces(text);
  Status status = MergeOperator::CreateFromString(config, id, value);
  return status.IsNotSupported() ? UnknownObject(config, "merge operator", text) : status;
}

Status ParseValue(const ConfigOptions& config, std::string_view text,
                  std::shared_ptr<CompactionFilterFactory>* value) {
  assert(value != nullptr);
  const std::string name = IsNull(text) ? "" : StripBraces(text);
  const Status status = CompactionFilterFactory::CreateFromString(config, name, value);
  return status.IsNotSupported() ? UnknownObject(config, "compaction filter factory", text)
                                 : status;
}

void PrintValue(const PrintContext& context, const std::shared_ptr<MergeOperator>& value,
                std::string* text) {
  PrintName(context.config, value.get(), text);
}

void PrintValue(const PrintContext& context, const std::shared_ptr<CompactionFilterFactory>& value,
                std::string* text) {
  PrintName(context.config, value.get(), text);
}

}  // namespace ashlar
