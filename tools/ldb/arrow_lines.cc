// SPDX-License-Identifier: Apache-2.0
//
// The first arrow of a line ends the key; the value may have more of them.
#include "tools/ldb/arrow_lines.h"

#include "tools/lib/input.h"

namespace ashlar {
namespace {

// What `ldb dump` puts around its lines.
bool IsFrame(const std::string& line) {
  return line.empty() || line.starts_with("Keys in range:") ||
         line.starts_with("Created bg thread");
}

}  // namespace

Result<size_t> ForEachArrowLine(const Invocation& call, const PairVisit& take) {
  size_t bad_lines = 0;
  for (std::string line; ReadInputLine(&line);) {
    const size_t arrow = line.find(kArrow);
    if (arrow == std::string::npos) {
      bad_lines += !IsFrame(line);
      continue;
    }
    ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(line.substr(0, arrow)));
    ASSIGN_OR_RETURN(const std::string value, call.ValueFrom(line.substr(arrow + kArrow.size())));
    RETURN_IF_ERROR(take(key, value));
  }
  RETURN_IF_ERROR(InputStatus());
  return bad_lines;
}

}  // namespace ashlar
