// SPDX-License-Identifier: Apache-2.0
//
// Finding, setting, printing and checking options row by row.
#include "db/options/option_table.h"

#include <cassert>
#include <cmath>

#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Returns the status with the name of the option put in front of its message.
Status WithName(const Status& status, std::string_view name) {
  assert(!status.ok());
  // Only two codes leave the tables, so that callers can tell a bad value from one that is not
  // built.
  const std::string message = status.getState() == nullptr ? "" : status.getState();
  const std::string text = StrCat("option ", name, ": ", message);
  return status.IsNotSupported() ? Status::NotSupported(text) : Status::InvalidArgument(text);
}

// The value of the option, for messages.
std::string TextOf(const OptionRow& row, const void* options) {
  assert(row.print != nullptr);
  assert(options != nullptr);
  PrintContext context;
  // Objects are shown by their names only: an error is one line.
  context.config.depth = ConfigOptions::kDepthShallow;
  std::string text;
  row.Print(context, options, &text);
  return text;
}

}  // namespace

const OptionRow* FindOption(OptionTable table, std::string_view name) {
  for (const OptionRow& row : table) {
    if (name == row.name()) return &row;
  }
  return nullptr;
}

// The struct is changed in place; callers that must keep the old values pass a copy.
Status SetOption(OptionTable table, const ConfigOptions& config, const NameValue& option,
                 void* options) {
  assert(options != nullptr);
  const std::string& name = option.first;
  const OptionRow* row = FindOption(table, name);
  // A name with a dot is rewritten to a nested struct with one member.
  std::string value = option.second;
  if (row == nullptr) {
    // member.part=value is member={part=value}
    const size_t dot = name.find('.');
    if (dot != std::string::npos) {
      row = FindOption(table, std::string_view(name).substr(0, dot));
      value = StrCat(std::string_view(name).substr(dot + 1), "={", option.second, "}");
    }
  }
  if (row == nullptr || row->parse == nullptr) {
    if (config.ignore_unknown_options) return Status::OK();
    // An option without a parser exists only in programs.
    return Status::InvalidArgument(StrCat("unknown option: ", name));
  }
  if (config.mutable_options_only && row->facts.takes_effect == TakesEffect::kAtOpen) {
    return Status::InvalidArgument(
        StrCat("option ", name, ": cannot be changed on an open database"));
  }
  ConfigOptions inner = config;
  // If the struct can be changed on an open database, so can each of its members.
  if (row->facts.takes_effect == TakesEffect::kDynamic) inner.mutable_options_only = false;
  Status status = row->Parse(inner, value, options);
  return status.ok() ? status : WithName(status, name);
}

// Options that are newer than the wanted release are left out, so that this release can read the
// text.
void PrintOptions(OptionTable table, const PrintContext& context, const void* options,
                  std::string* text) {
  assert(options != nullptr);
  for (const OptionRow& row : table) {
    if (row.print == nullptr || row.facts.since > context.newest) continue;
    std::string value;
    row.Print(context, options, &value);
    // Braces keep the semicolons of nested text together.
    const bool needs_braces = value.find(';') != std::string::npos && value.front() != '{';
    StrAppend(text, row.name(), "=", needs_braces ? "{" : "", value, needs_braces ? "}" : "",
              context.config.delimiter);
  }
}

// Checks every option of a struct against its row: that it is supported, and within its bounds.
Status CheckRows(OptionTable table, const void* options, const void* defaults) {
  for (const OptionRow& row : table) {
    // Checked here, once per opening, because tables are constants.
    assert(row.is_same != nullptr);
    assert(row.is_within_bounds != nullptr);
    assert(row.facts.least <= row.facts.greatest);
    if (row.facts.support == Support::kDefaultOnly && !row.IsSame(options, defaults)) {
      const std::string needed =
          // Options without a text form are pointers to objects.
          row.print == nullptr ? "leave it unset" : "it must be " + TextOf(row, defaults);
      return Status::NotSupported(StrCat("option ", row.name(), ": not built yet; ", needed));
    }
    // No bounds were given, so the option is an enumeration.
    if (!row.IsWithinBounds(options) && std::isinf(row.facts.greatest) &&
        std::isinf(row.facts.least)) {
      return Status::InvalidArgument(StrCat("option ", row.name(), ": ", TextOf(row, options),
                                            " is not a value of its enumeration"));
    }
    if (!row.IsWithinBounds(options)) {
      return Status::InvalidArgument(StrCat("option ", row.name(), ": ", TextOf(row, options),
                                            " is not between ", row.facts.least, " and ",
                                            row.facts.greatest));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
