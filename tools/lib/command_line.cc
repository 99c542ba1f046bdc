// SPDX-License-Identifier: Apache-2.0
//
// If a flag is given twice, the last value counts.
#include "tools/lib/command_line.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "util/text/str_cat.h"

namespace ashlar {

// argv[0], the name of the program, is skipped.
CommandLine::CommandLine(int argc, const char* const* argv) {
  assert(argc <= 1 || argv != nullptr);
  bool only_words = false;
  for (int i = 1; i < argc; i++) {
    assert(argv[i] != nullptr);
    const std::string_view argument = argv[i];
    if (only_words || argument.substr(0, 2) != "--") {
      words_.emplace_back(argument);
      continue;
    }
    const std::string_view flag = argument.substr(2);
    const size_t equals = flag.find('=');
    if (flag.empty()) {
      only_words = true;
    } else if (equals == std::string_view::npos) {
      flags_[std::string(flag)] = std::nullopt;
    } else {
      flags_[std::string(flag.substr(0, equals))] = std::string(flag.substr(equals + 1));
    }
  }
}

std::optional<std::string> CommandLine::Value(std::string_view flag) const {
  assert(!flag.starts_with("--"));
  const auto found = flags_.find(flag);
  if (found == flags_.end()) return std::nullopt;
  return found->second.value_or("");
}

Result<bool> CommandLine::Bool(std::string_view flag, bool default_value) const {
  assert(!flag.starts_with("--"));
  const auto found = flags_.find(flag);
  if (found == flags_.end()) return default_value;
  const std::string value = found->second.value_or("true");
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  return Status::InvalidArgument(
      StrCat("--", flag, ": expected true or false, found \"", value, "\""));
}

Result<int64_t> CommandLine::Number(std::string_view flag, int64_t default_value) const {
  assert(!flag.starts_with("--"));
  const auto found = flags_.find(flag);
  if (found == flags_.end()) return default_value;
  const std::string text = found->second.value_or("");
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return Status::InvalidArgument(StrCat("--", flag, ": expected a number, found \"", text, "\""));
}

Status CommandLine::CheckFlags(const std::vector<std::string_view>& known) const {
  for (const auto& [name, value] : flags_) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Status::InvalidArgument(StrCat("unknown flag --", name));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
