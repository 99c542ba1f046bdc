// SPDX-License-Identifier: Apache-2.0
//
// ldb explain: where a read looks for a key, and what that costs.
#include "ashlar/explain.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/output.h"

namespace ashlar {

Status RunExplain(const Invocation& call) {
  const auto get = call.line->Value("key");
  const auto seek = call.line->Value("seek");
  if (get.has_value() == seek.has_value()) {
    return Status::InvalidArgument("explain needs one of --key=<key> and --seek=<key>");
  }
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(get.has_value() ? *get : *seek));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  ReadExplanation explanation;
  const auto explain = get.has_value() ? &ExplainGet : &ExplainSeek;
  RETURN_IF_ERROR(explain(db->get(), ReadOptions(), family, key, &explanation));
  Print(explanation.ToString());
  return Status::OK();
}

}  // namespace ashlar
