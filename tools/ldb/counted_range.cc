// SPDX-License-Identifier: Apache-2.0
//
// A line for keys that begin alike is due when the next key begins otherwise, and at the end.
#include "tools/ldb/counted_range.h"

#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {

Result<CountedRange> CountedRange::For(const Invocation& call) {
  CountedRange range(call);
  ASSIGN_OR_RETURN(range.only_counts_, call.line->Bool("count_only"));
  if (!call.line->Has("count_delim")) return range;
  const std::string text = call.line->Value("count_delim").value_or("");
  if (text.size() > 1) {
    return Status::InvalidArgument(
        StrCat("--count_delim must be one character, found \"", text, "\""));
  }
  range.delimiter_ = text.empty() ? '.' : text[0];
  return range;
}

void CountedRange::Add(const Slice& user_key, const Slice& value) {
  count_++;
  if (only_counts_) value_bytes_.Add(value.size());
  if (!delimiter_.has_value()) return;
  const std::string_view key(user_key.data(), user_key.size());
  const std::string_view group = key.substr(0, key.find(*delimiter_));
  if (group_count_ > 0 && group != group_) PrintGroup();
  group_ = group;
  group_count_++;
  group_bytes_ += user_key.size() + value.size();
}

void CountedRange::PrintGroup() {
  PrintLine(StrCat(call_->KeyText(group_), " => count:", group_count_, "\tsize:", group_bytes_));
  group_count_ = group_bytes_ = 0;
}

void CountedRange::Finish(const char* what_in_range) {
  if (!delimiter_.has_value()) return PrintLine(StrCat(what_in_range, count_));
  PrintGroup();
}

}  // namespace ashlar
