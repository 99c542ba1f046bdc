// SPDX-License-Identifier: Apache-2.0
//
// Parsing and printing of plain values and of objects that user code provides.
#include "db/options/option_values.h"

#include "ashlar/compaction_filter.h"
#include "ashlar/merge_operator.h"
#include "ashlar/wal_filter.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Text of an object that only the program can provide: its name, or nullptr.
template <typename T>
void PrintName(const ConfigOptions& config, const T* object, std::string* text) {
  text->append(object == nullptr ? "nullptr" : object->ToString(config));
}

bool IsNull(std::string_view text) {
  text = TrimSpaces(text);
  return text.empty() || text == "nullptr";
}

}  // namespace

Status BadOptionValue(std::string_view expected, std::string_view text) {
  constexpr size_t kShown = 80;
  return Status::InvalidArgument(
      StrCat("expected ", expected, ", found '", EscapeBytes(Slice(text.substr(0, kShown))), "'"));
}

Status UnknownObject(const ConfigOptions& config, const char* kind, std::string_view text) {
  if (config.ignore_unsupported_options) return Status::OK();
  return Status::NotSupported(StrCat(kind, " '", text, "' cannot be made by name; set it in code"));
}

Status ParseValue(const ConfigOptions&, std::string_view text, bool* value) {
  bool parsed;
  if (!ParseBoolText(text, &parsed)) return BadOptionValue("true or false", text);
  *value = parsed;
  return Status::OK();
}

Status ParseValue(const ConfigOptions&, std::string_view text, double* value) {
  double parsed;
  if (!ParseDoubleText(text, &parsed)) return BadOptionValue("a number", text);
  *value = parsed;
  return Status::OK();
}

Status ParseValue(const ConfigOptions& config, std::string_view text, std::string* value) {
  const std::string raw =
      config.input_strings_escaped ? UnescapeOptionString(text) : std::string(text);
  *value = TrimSpaces(raw);  // spaces at the ends would not survive being printed
  return Status::OK();
}

void PrintValue(const PrintContext&, bool value, std::string* text) {
  text->append(value ? "true" : "false");
}

void PrintValue(const PrintContext&, double value, std::string* text) {
  text->append(DoubleText(value));
}

void PrintValue(const PrintContext&, const std::string& value, std::string* text) {
  text->append(EscapeOptionString(value));
}

Status ParseValue(const ConfigOptions& config, std::string_view text, const Comparator** value) {
  const Comparator* parsed = nullptr;
  Status status = Comparator::CreateFromString(config, std::string(text), &parsed);
  if (!status.ok()) return status;
  // A name that is not built in leaves the comparator alone: a family opened with the wrong one is
  // refused later, by the name in the MANIFEST.
  if (parsed != nullptr) *value = parsed;
  return Status::OK();
}

Status ParseValue(const ConfigOptions& config, std::string_view text,
                  const CompactionFilter** value) {
  const std::string name = IsNull(text) ? "" : StripBraces(text);
  const Status status = CompactionFilter::CreateFromString(config, name, value);
  return status.IsNotSupported() ? UnknownObject(config, "compaction filter", text) : status;
}

Status ParseValue(const ConfigOptions& config, std::string_view text, WalFilter** value) {
  if (!IsNull(text)) return UnknownObject(config, "WAL filter", text);
  *value = nullptr;
  return Status::OK();
}

Status ParseValue(const ConfigOptions& config, std::string_view text,
                  std::shared_ptr<TableFactory>* value) {
  const std::string object = StripBraces(text);
  std::unordered_map<std::string, std::string> members;
  if (object.find('=') != std::string::npos) RETURN_IF_ERROR(StringToMap(object, &members));
  const std::string name = members.empty() ? object : members["id"];
  members.erase("id");
  const bool keeps_factory =
      *value != nullptr && (name.empty() ? !members.empty() : config.mutable_options_only);
  if (keeps_factory) {
    if (!name.empty() && name != (*value)->Name()) {
      return BadOptionValue(StrCat("another option of ", (*value)->Name()), text);
    }
    std::shared_ptr<TableFactory> changed = (*value)->Clone();
    RETURN_IF_ERROR(changed->ConfigureFromMap(config, members));
    *value = std::move(changed);
    return Status::OK();
  }
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
  const std::string id = IsNull(text) ? "" : StripBraces(text);
  Status status = MergeOperator::CreateFromString(config, id, value);
  return status.IsNotSupported() ? UnknownObject(config, "merge operator", text) : status;
}

Status ParseValue(const ConfigOptions& config, std::string_view text,
                  std::shared_ptr<CompactionFilterFactory>* value) {
  if (!IsNull(text)) return UnknownObject(config, "compaction filter factory", text);
  value->reset();
  return Status::OK();
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
