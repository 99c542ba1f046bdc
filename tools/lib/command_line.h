// SPDX-License-Identifier: Apache-2.0
//
// CommandLine takes the arguments of a tool apart: flags, written --name or --name=value, and
// words, which is everything else. After a lone "--" everything is a word.
//
// Names are not known here: each command checks them with CheckFlags(). Immutable after
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
  // The text behind "=", empty for a bare flag; nothing if the flag is absent.
  std::optional<std::string> Value(std::string_view flag) const;

  // --name, --name=true and --name=1 are true, --name=false and --name=0 are false. The default if
  // absent, InvalidArgument for other values.
  Result<bool> Bool(std::string_view flag, bool default_value = false) const;
  // A decimal number, perhaps negative. The default if absent.
  Result<int64_t> Number(std::string_view flag, int64_t default_value) const;

  // InvalidArgument naming the first flag that is none of `known`.
  Status CheckFlags(const std::vector<std::string_view>& known) const;

 private:
  std::map<std::string, std::optional<std::string>, std::less<>> flags_;
  std::vector<std::string> words_;
};

}  // namespace ashlar
