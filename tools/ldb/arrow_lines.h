// SPDX-License-Identifier: Apache-2.0
//
// Keys and values as "key ==> value" lines, as `ldb dump` prints them and load and write_extern_sst
// read them from standard input.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ashlar/status.h"
#include "tools/ldb/command.h"
#include "util/result.h"

namespace ashlar {

inline constexpr std::string_view kArrow = " ==> ";

// Calls `take` with each key and value of standard input until it answers with an error. The number
// of lines that are neither of this form nor what `ldb dump` puts around such lines.
using PairVisit = std::function<Status(const std::string& key, const std::string& value)>;
Result<size_t> ForEachArrowLine(const Invocation& call, const PairVisit& take);

}  // namespace ashlar
