// SPDX-License-Identifier: Apache-2.0
//
// Commands that walk a range of keys: scan and dump print what a program reads, idump every stored
// version.
#include <algorithm>
#include <cassert>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "db/utilities/key_versions.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/console.h"
#include "tools/lib/key_text.h"
#include "util/statistics/histogram.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The range of keys and the limit that the flags give.
struct RangeFlags {
  std::optional<std::string> from;  // inclusive
  std::optional<std::string> to;    // exclusive
  uint64_t max_keys = UINT64_MAX;
};

// The key that a flag gives, as bytes; nullopt if the flag is absent. An error of decoding names
// the flag.
Result<std::optional<std::string>> KeyFlag(const Invocation& call, std::string_view flag,
                                           bool is_hex) {
  const std::optional<std::string> text = call.line->Value(flag);
  if (!text) return std::optional<std::string>();
  Result<std::string> key = is_hex ? ParseHexText(*text) : Result<std::string>(*text);
  if (!key.ok()) return Status::CopyAppendMessage(key.status(), ", for --", flag);
  return std::optional<std::string>(key.Take());
}

// Any negative --max_keys means no limit, as in RocksDB's tool.
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

// Selects and groups the entries of a database with TTL by the times of their writes, in seconds
// since 1970.
class WriteTimes {
 public:
  // InvalidArgument if a flag about times comes without --ttl, or if the times do not fit or are
  // outside of those that a value can have.
  static Result<WriteTimes> For(const Invocation& call);

  // Whether each entry is printed with its time.
  bool are_printed() const { return are_printed_; }
  bool has_buckets() const { return bucket_seconds_ > 0; }
  // Whether the entry is between the times that are asked for; counts it then. Sets *prefix to the
  // text before the entry.
  Result<bool> Take(Iterator* entry, std::string* prefix);
  // "<verb> key-values from <time> to <time>", if times are printed.
  void PrintHead(const char* verb) const;
  // One line for each bucket, if there are buckets.
  void PrintBuckets() const;

 private:
  static std::string Text(int64_t seconds);

  bool has_ttl_ = false;
  bool are_printed_ = false;
  int64_t start_ = 1368146402;  // inclusive; the earliest time that a value can have
  int64_t end_ = INT32_MAX;     // exclusive
  int64_t bucket_seconds_ = 0;  // 0: no buckets
  std::vector<uint64_t> buckets_;
};

Result<WriteTimes> WriteTimes::For(const Invocation& call) {
  constexpr int64_t kMostBuckets = 1'000'000;  // each is a line
  WriteTimes times;
  ASSIGN_OR_RETURN(times.has_ttl_, call.line->Bool("ttl"));
  for (const char* flag : {"timestamp", "start_time", "end_time", "bucket"}) {
    if (!times.has_ttl_ && call.line->Has(flag)) {
      return Status::InvalidArgument(StrCat("--", flag, " needs --ttl"));
    }
  }
  ASSIGN_OR_RETURN(times.are_printed_, call.line->Bool("timestamp"));
  ASSIGN_OR_RETURN(times.start_, call.line->Number("start_time", times.start_));
  ASSIGN_OR_RETURN(times.end_, call.line->Number("end_time", times.end_));
  constexpr int64_t kLatest = UINT32_MAX;  // times are stored in four bytes
  for (const auto& [flag, seconds] :
       {std::pair("start_time", times.start_), std::pair("end_time", times.end_)}) {
    if (seconds >= 0 && seconds <= kLatest) continue;
    return Status::InvalidArgument(StrCat("--", flag, ": expected seconds since 1970, at most ",
                                          kLatest, ", found ", seconds));
  }
  if (times.end_ < times.start_) {
    return Status::InvalidArgument("--end_time must not be before --start_time");
  }
  if (!call.line->Has("bucket")) return times;
  const int64_t all = std::max<int64_t>(times.end_ - times.start_, 1);
  // A bucket that is not positive or longer than the whole interval means a single bucket.
  ASSIGN_OR_RETURN(times.bucket_seconds_, call.line->Number("bucket", all));
  if (times.bucket_seconds_ <= 0 || times.bucket_seconds_ > all) times.bucket_seconds_ = all;
  const int64_t count = (all - 1) / times.bucket_seconds_ + 1;
  if (count > kMostBuckets) {
    return Status::InvalidArgument(StrCat("--bucket: ", count, " buckets from ", times.start_,
                                          " to ", times.end_, "; --start_time and --end_time"));
  }
  times.buckets_.resize(static_cast<size_t>(count));
  return times;
}

Result<bool> WriteTimes::Take(Iterator* entry, std::string* prefix) {
  assert(entry != nullptr);
  assert(prefix != nullptr);
  if (!has_ttl_) return true;
  std::string text;
  RETURN_IF_ERROR(entry->GetProperty("ashlar.ttl.write-time", &text));
  const int64_t seconds = std::stoll(text);
  if (seconds < start_ || seconds >= end_) return false;
  if (has_buckets()) buckets_[static_cast<size_t>((seconds - start_) / bucket_seconds_)]++;
  *prefix = are_printed_ ? StrCat(Text(seconds), " ") : "";
  return true;
}

// Local time, in the form of RocksDB's tool. If the C library cannot convert the time, the seconds
// themselves.
std::string WriteTimes::Text(int64_t seconds) {
  const auto time = static_cast<time_t>(seconds);
  struct tm parts = {};
  char text[64];
  if (localtime_r(&time, &parts) == nullptr) return std::to_string(seconds);
  return std::string(text, std::strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &parts));
}

void WriteTimes::PrintHead(const char* verb) const {
  if (are_printed_) PrintLine(StrCat(verb, " key-values from ", Text(start_), " to ", Text(end_)));
}

void WriteTimes::PrintBuckets() const {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const int64_t begin = start_ + static_cast<int64_t>(i) * bucket_seconds_;
    PrintLine(StrCat("Keys in range ", Text(begin), " to ",
                     Text(std::min(begin + bucket_seconds_, end_)), " : ", buckets_[i]));
  }
}

// Calls `visit` with an iterator at each entry of the range and the text before the entry; returns
// the number of entries.
template <typename Visit>
Result<uint64_t> Walk(const Invocation& call, WriteTimes* times, Visit&& visit) {
  assert(times != nullptr);
  ASSIGN_OR_RETURN(const RangeFlags range, ParseRange(call));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  ASSIGN_OR_RETURN(const std::unique_ptr<FamilyReadOptions> reading, ReadOptionsFor(call, family));
  ReadOptions& options = reading->options;
  const Slice end = range.to ? Slice(*range.to) : Slice();
  if (range.to) options.iterate_upper_bound = &end;
  const std::unique_ptr<Iterator> iterator((*db)->NewIterator(options, family));
  if (range.from) {
    iterator->Seek(*range.from);
  } else {
    iterator->SeekToFirst();
  }
  Progress progress("keys");
  std::string prefix;
  for (; iterator->Valid() && progress.count() < range.max_keys; iterator->Next()) {
    ASSIGN_OR_RETURN(const bool is_taken, times->Take(iterator.get(), &prefix));
    if (!is_taken) continue;
    progress.Add();
    visit(*iterator, prefix);
  }
  RETURN_IF_ERROR(iterator->status());
  return progress.count();
}

// With --stats, prints the statistics of the family. They are those of a newly opened database:
// levels and files, but no activity.
Status PrintStats(const Invocation& call) {
  ASSIGN_OR_RETURN(const bool wants_stats, call.line->Bool("stats"));
  if (!wants_stats) return Status::OK();
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForReading(call));
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
  ASSIGN_OR_RETURN(WriteTimes times, WriteTimes::For(call));
  times.PrintHead("Scanning");
  const auto print = [&](const Iterator& entry, const std::string& prefix) {
    const std::string key = StrCat(prefix, call.KeyText(entry.key()));
    PrintLine(hides_values ? key : StrCat(key, " : ", call.ValueText(entry.value())));
  };
  return Walk(call, &times, print).status();
}

// With --path a single file is dumped, and no database is needed.
Status RunDump(const Invocation& call) {
  if (const std::optional<std::string> path = call.line->Value("path")) {
    return DumpFile(call, *path);
  }
  if (call.db.empty())
    return Status::InvalidArgument("dump needs --db=<directory> or --path=<file>");
  ASSIGN_OR_RETURN(CountedRange counted, CountedRange::For(call));
  ASSIGN_OR_RETURN(WriteTimes times, WriteTimes::For(call));
  RETURN_IF_ERROR(PrintStats(call));
  times.PrintHead("Dumping");
  const auto visit = [&](const Iterator& entry, const std::string& prefix) {
    counted.Add(entry.key(), entry.value());
    if (!counted.prints_entries()) return;
    PrintLine(StrCat(prefix, call.KeyText(entry.key()), kArrow, call.ValueText(entry.value())));
  };
  RETURN_IF_ERROR(Walk(call, &times, visit).status());
  if (times.has_buckets()) {
    times.PrintBuckets();
  } else {
    counted.Finish("Keys in range: ");
  }
  if (counted.only_counts()) {
    PrintLine(StrCat("Value size distribution: \n", counted.value_bytes().ToString()));
  }
  return Status::OK();
}

// Prints internal keys: every version of each key and also tombstones, at most --max_keys of them.
// The statistics come first, before the database is opened.
Status RunIdump(const Invocation& call) {
  ASSIGN_OR_RETURN(CountedRange counted, CountedRange::For(call));
  RETURN_IF_ERROR(PrintStats(call));
  ASSIGN_OR_RETURN(const RangeFlags flags, ParseRange(call));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForReading(call));
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
