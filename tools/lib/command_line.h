// SPDX-License-Identifier: Apache-2.0
//
// CommandLine splits the arguments of a tool into flags, written --name or --name=value, and words,
// which are all other arguments. After a lone "--" everything is a word.
//
// It does not know which flags exist: each command checks them with CheckFlags(). Immutable after
// construction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace ashlar {

class CommandLine {
 public:
  CommandLine(int argc, const char* const* argv);

  const std::vector<std::string>& words() const { return words_; }
  bool Has(std::string_view flag) const { return flags_.find(flag) != flags_.end(); }
  // The text after "=", empty for a flag without "="; nullopt if the flag is absent.
  std::optional<std::string> Value(std::string_view flag) const;

  // --name, --name=true and --name=1 are true, --name=false and --name=0 are false. The default if
  // the flag is absent, InvalidArgument for other values.
  Result<bool> Bool(std::string_view flag, bool default_value = false) const;
  // A decimal number, which may be negative. The default if the flag is absent.
  Result<int64_t> Number(std::string_view flag, int64_t default_value) const;

  // InvalidArgument names the first flag that is not in `known`.
  Status CheckFlags(const std::vector<std::string_view>& known) const;

 private:
  // By name, without the dashes; nullopt for a flag without "=".
  std::map<std::string, std::optional<std::string>, std::less<>> flags_;
  std::vector<std::string> words_;
};

}  // namespace ashlar
