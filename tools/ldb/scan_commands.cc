// SPDX-License-Identifier: Apache-2.0
//
// Commands that walk a range of keys: scan and dump print what a program reads, idump every stored
// version.
#include <memory>
#include <optional>

#include "db/utilities/key_versions.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/console.h"
#include "tools/lib/key_text.h"
#include "util/statistics/histogram.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

struct RangeFlags {
  std::optional<std::string> from;  // inclusive
  std::optional<std::string> to;    // exclusive
  uint64_t max_keys = UINT64_MAX;
};

Result<std::optional<std::string>> KeyFlag(const Invocation& call, std::string_view flag,
                                           bool is_hex) {
  const std::optional<std::string> text = call.line->Value(flag);
  if (!text) return std::optional<std::string>();
  Result<std::string> key = is_hex ? ParseHexText(*text) : Result<std::string>(*text);
  if (!key.ok()) return Status::CopyAppendMessage(key.status(), ", for --", flag);
  return std::optional<std::string>(key.Take());
}

Result<RangeFlags> ParseRange(const Invocation& call) {
  RangeFlags range;
  ASSIGN_OR_RETURN(const bool is_input_hex, call.line->Bool("input_key_hex"));
  const bool is_hex = call.hex_keys || is_input_hex;
  ASSIGN_OR_RETURN(range.from, KeyFlag(call, "from", is_hex));
  ASSIGN_OR_RETURN(range.to, KeyFlag(call, "to", is_hex));
  ASSIGN_OR_RETURN(const int64_t max_keys, call.line->Number("max_keys", -1));
  if (max_keys >= 0) range.max_keys = static_cast<uint64_t>(max_keys);
  return range;
}

// Calls `visit` with an iterator at each entry of the range; returns the number of entries.
template <typename Visit>
Result<uint64_t> Walk(const Invocation& call, Visit&& visit) {
  ASSIGN_OR_RETURN(const RangeFlags range, ParseRange(call));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  ReadOptions options;
  const Slice end = range.to ? Slice(*range.to) : Slice();
  if (range.to) options.iterate_upper_bound = &end;
  const std::unique_ptr<Iterator> iterator((*db)->NewIterator(options, family));
  if (range.from) {
    iterator->Seek(*range.from);
  } else {
    iterator->SeekToFirst();
  }
  Progress progress("keys");
  for (; iterator->Valid() && progress.count() < range.max_keys; iterator->Next()) {
    progress.Add();
    visit(*iterator);
  }
  RETURN_IF_ERROR(iterator->status());
  return progress.count();
}

Status PrintStats(const Invocation& call) {
  ASSIGN_OR_RETURN(const bool wants_stats, call.line->Bool("stats"));
  if (!wants_stats) return Status::OK();
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  std::string stats;
  if ((*db)->GetProperty(family, DB::Properties::kStats, &stats)) PrintLine(stats);
  return Status::OK();
}

// Counts the entries that dump and idump visit: all of them, or by the part of the key before a
// delimiter, as --count_only and --count_delim ask. Threads: one at a time.
class CountedRange {
 public:
  // `call` outlives the object. InvalidArgument for a delimiter of more than one character.
  static Result<CountedRange> For(const Invocation& call);

  // Whether entries are printed one by one.
  bool prints_entries() const { return !only_counts_ && !delimiter_.has_value(); }
  bool only_counts() const { return only_counts_; }
  const Histogram& value_bytes() const { return value_bytes_; }

  // With a delimiter, prints the line of a group when the first key of the next group comes. A
  // group is a row of keys with the same part before the delimiter.
  void Add(const Slice& user_key, const Slice& value);
  // Prints the line of the last group or, without a delimiter, `label` and the number of all
  // entries.
  void Finish(const char* label);

 private:
  explicit CountedRange(const Invocation& call) : call_(&call) {}
  void PrintGroup();

  const Invocation* call_;
  std::optional<char> delimiter_;
  bool only_counts_ = false;
  uint64_t count_ = 0;
  Histogram value_bytes_;
  // The current group.
  std::string group_;
  uint64_t group_count_ = 0;
  uint64_t group_bytes_ = 0;
};

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

void CountedRange::Finish(const char* label) {
  if (!delimiter_.has_value()) return PrintLine(StrCat(label, count_));
  PrintGroup();
}

}  // namespace

Status RunScan(const Invocation& call) {
  ASSIGN_OR_RETURN(const bool hides_values, call.line->Bool("no_value"));
  const auto print = [&](const Iterator& entry) {
    const std::string key = call.KeyText(entry.key());
    PrintLine(hides_values ? key : StrCat(key, " : ", call.ValueText(entry.value())));
  };
  return Walk(call, print).status();
}

Status RunDump(const Invocation& call) {
  if (const std::optional<std::string> path = call.line->Value("path")) {
    return DumpFile(call, *path);
  }
  if (call.db.empty())
    return Status::InvalidArgument("dump needs --db=<directory> or --path=<file>");
  ASSIGN_OR_RETURN(CountedRange counted, CountedRange::For(call));
  RETURN_IF_ERROR(PrintStats(call));
  const auto visit = [&](const Iterator& entry) {
    counted.Add(entry.key(), entry.value());
    if (!counted.prints_entries()) return;
    PrintLine(StrCat(call.KeyText(entry.key()), kArrow, call.ValueText(entry.value())));
  };
  RETURN_IF_ERROR(Walk(call, visit).status());
  counted.Finish("Keys in range: ");
  if (counted.only_counts()) {
    PrintLine(StrCat("Value size distribution: \n", counted.value_bytes().ToString()));
  }
  return Status::OK();
}

Status RunIdump(const Invocation& call) {
  ASSIGN_OR_RETURN(CountedRange counted, CountedRange::For(call));
  RETURN_IF_ERROR(PrintStats(call));
  ASSIGN_OR_RETURN(const RangeFlags flags, ParseRange(call));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  const Slice begin = flags.from ? Slice(*flags.from) : Slice();
  const Slice end = flags.to ? Slice(*flags.to) : Slice();
  KeyRange range;
  if (flags.from) range.begin = &begin;
  if (flags.to) range.end = &end;
  Progress progress("internal keys");
  ASSIGN_OR_RETURN(const bool decodes, call.line->Bool("decode_blob_index"));
  const auto visit = [&](const Slice& key, const Slice& value) {
    if (progress.count() >= flags.max_keys) return false;
    progress.Add();
    counted.Add(ExtractUserKey(key), value);
    if (counted.prints_entries()) PrintLine(EntryText(key, value, call.hex_keys, decodes));
    return true;
  };
  RETURN_IF_ERROR(ForEachKeyVersion(db->get(), family, range, visit));
  counted.Finish("Internal keys in range: ");
  return Status::OK();
}

}  // namespace ashlar
