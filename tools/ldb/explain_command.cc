// SPDX-License-Identifier: Apache-2.0
//
// ldb explain: where a read looks for a key, and what that costs.
#include <string>
#include <utility>

#include "ashlar/explain.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/output.h"

namespace ashlar {

Status RunExplain(const Invocation& call) {
  using Explain = decltype(&ExplainGet);
  Explain explain = nullptr;
  std::string argument;
  int reads = 0;
  for (const auto& [flag, function] : {std::pair<const char*, Explain>{"key", &ExplainGet},
                                       {"seek", &ExplainSeek},
                                       {"seek_for_prev", &ExplainSeekForPrev}}) {
    const auto value = call.line->Value(flag);
    if (!value.has_value()) continue;
    explain = function;
    argument = *value;
    ++reads;
  }
  if (reads != 1) {
    return Status::InvalidArgument(
        "explain needs one of --key=<key>, --seek=<key> and --seek_for_prev=<key>");
  }
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(argument));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  ReadExplanation explanation;
  RETURN_IF_ERROR(explain(db->get(), ReadOptions(), family, key, &explanation));
  Print(explanation.ToString());
  return Status::OK();
}

}  // namespace ashlar
