// SPDX-License-Identifier: Apache-2.0
//
// Positions. The tables of a family are placed along one axis of all its keys, from 0 to 1. The
// axis is cut at the smallest and largest key of every table; the bytes of a table are spread
// evenly over the intervals that it covers, and an interval is as wide as the bytes in it. So the
// last level, which has most of the bytes, looks even, and ranges without data have no width.
//
// Events. Flushes and compactions are lines of JSON in the info logs, after "EVENT_LOG_v1". Only a
// few members of the outermost object are needed, all of them numbers or strings without escapes,
// so a text search finds them. The size of a flushed table is in the line about the table, which
// has the job number of the flush; job numbers begin anew in each info log. Older info logs of
// Ashlar have the sizes in the line about the end of the flush.
#include "tools/ldb/tree_survey.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "ashlar/comparator.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "tools/lib/console.h"
#include "tools/lib/table_inspector.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Opens the file of one table and reads its properties. RocksDB counts range tombstones among the
// deletions; here the two are apart.
Result<SurveyedTable> SurveyTableFile(FileSystem* fs, const FileLocations& locations,
                                      const FileMetadata& meta) {
  SurveyedTable result;
  result.meta = meta;
  ASSIGN_OR_RETURN(const std::unique_ptr<TableInspector> table,
                   TableInspector::Open(fs, locations.TablePath(meta.number)));
  const TableProperties& properties = table->properties();
  result.entries = properties.num_entries;
  result.deletions =
      properties.num_deletions - std::min(properties.num_range_deletions, properties.num_deletions);
  result.range_deletions = properties.num_range_deletions;
  result.filter_bytes = properties.filter_size;
  result.filter_entries = properties.num_filter_entries;
  result.data_time =
      meta.oldest_ancestor_time != 0 ? meta.oldest_ancestor_time : meta.file_creation_time;
  return result;
}

// Computes the positions of all tables of a family.
class KeyAxis {
 public:
  KeyAxis(const Comparator* order, SurveyedFamily* family) : order_(order), family_(family) {}

  // First every interval gets the bytes of the tables over it, then the running sum of these widths
  // gives the left end of each interval.
  void PlaceAll() {
    ForEach([this](SurveyedTable& table) {
      cuts_.push_back(table.meta.smallest_user_key());
      cuts_.push_back(table.meta.largest_user_key());
    });
    const auto is_less = [this](const Slice& a, const Slice& b) {
      return order_->Compare(a, b) < 0;
    };
    const auto is_same = [this](const Slice& a, const Slice& b) {
      return order_->Compare(a, b) == 0;
    };
    std::sort(cuts_.begin(), cuts_.end(), is_less);
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end(), is_same), cuts_.end());
    // One interval more than there are cuts: a table with a single key has the one that begins
    // there.
    widths_.assign(cuts_.size() + 1, 0);
    ForEach([this](SurveyedTable& table) { Spread(table); });
    std::vector<double> before(widths_.size() + 1, 0);
    std::partial_sum(widths_.begin(), widths_.end(), before.begin() + 1);
    const double all = std::max(before.back(), 1.0);
    ForEach([&](SurveyedTable& table) {
      const auto [begin, end] = IntervalsOf(table);
      table.left = before[begin] / all;
      table.right = before[end] / all;
    });
  }

 private:
  template <typename Visit>
  void ForEach(Visit visit) {
    for (std::vector<SurveyedTable>& level : family_->levels) {
      for (SurveyedTable& table : level) visit(table);
    }
  }
  size_t IndexOf(const Slice& key) const {
    const auto is_less = [this](const Slice& a, const Slice& b) {
      return order_->Compare(a, b) < 0;
    };
    return static_cast<size_t>(std::lower_bound(cuts_.begin(), cuts_.end(), key, is_less) -
                               cuts_.begin());
  }
  // The half-open range of intervals that a table covers. Interval i begins at cuts_[i].
  std::pair<size_t, size_t> IntervalsOf(const SurveyedTable& table) const {
    const size_t begin = IndexOf(table.meta.smallest_user_key());
    return {begin, std::max(begin + 1, IndexOf(table.meta.largest_user_key()))};
  }
  void Spread(const SurveyedTable& table) {
    const auto [begin, end] = IntervalsOf(table);
    const double share =
        static_cast<double>(table.meta.file_size) / static_cast<double>(end - begin);
    for (size_t i = begin; i < end; i++) widths_[i] += share;
  }

  const Comparator* const order_;
  SurveyedFamily* const family_;
  std::vector<Slice> cuts_;     // point into the metadata
  std::vector<double> widths_;  // bytes of each interval
};

Result<SurveyedFamily> SurveyFamily(FileSystem* fs, const FileLocations& locations,
                                    const FamilyState& state) {
  SurveyedFamily result;
  result.name = state.name;
  result.comparator = state.comparator;
  result.log_number = state.log_number;
  for (const std::vector<FileMetadata>& level : state.levels) {
    result.levels.emplace_back();
    for (const FileMetadata& meta : level) {
      ASSIGN_OR_RETURN(SurveyedTable table, SurveyTableFile(fs, locations, meta));
      result.levels.back().push_back(std::move(table));
    }
  }
  for (const auto& [number, blob] : state.blobs) result.blobs.push_back(blob);
  const Comparator* order = OrderOfBoundaries(state);
  result.is_order_known = order != nullptr;
  KeyAxis(order != nullptr ? order : BytewiseComparator(), &result).PlaceAll();
  return result;
}

// Linear in the number of live files. A directory has few files that are not live.
bool IsLive(const ManifestState& state, FileType type, FileNumber number) {
  for (const auto& [id, family] : state.families()) {
    if (type == kBlobFile && family.blobs.count(number) != 0) return true;
    if (type != kTableFile) continue;
    for (const std::vector<FileMetadata>& level : family.levels) {
      for (const FileMetadata& meta : level) {
        if (meta.number == number) return true;
      }
    }
  }
  return false;
}

// Logs below the first needed one are left for archiving or for the next open to delete.
void AddLog(const ManifestState& state, const SurveyedFile& log, TreeSurvey* survey) {
  assert(survey != nullptr);
  const bool is_needed = log.number >= state.FirstNeededLog();
  (is_needed ? survey->needed_logs : survey->unneeded_logs).push_back(log);
}

// Live tables and blob files are already counted with their families.
void AddTable(const ManifestState& state, FileType type, const SurveyedFile& table,
              TreeSurvey* survey) {
  assert(survey != nullptr);
  if (!IsLive(state, type, table.number)) survey->obsolete.push_back(table);
}

enum class OtherDirectory { kOfLogs, kOfTables };

// Surveys a directory that is not the database's own, for files of one kind.
Status SurveyOtherDirectory(FileSystem* fs, const std::string& directory, OtherDirectory what,
                            const ManifestState& state, TreeSurvey* survey) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, directory));
  for (const std::string& name : names) {
    SurveyedFile file{.name = name, .number = 0, .bytes = 0};
    FileType type = kTempFile;
    if (!ParseFileName(name, &file.number, &type)) continue;
    const Result<uint64_t> bytes = FileSizeOf(fs, StrCat(directory, "/", name));
    if (!bytes.ok()) continue;  // deleted meanwhile
    file.bytes = bytes.value();
    if (what == OtherDirectory::kOfLogs) {
      if (type == kWalFile) AddLog(state, file, survey);
    } else if (type == kTableFile || type == kBlobFile) {
      AddTable(state, type, file, survey);
    }
  }
  return Status::OK();
}

// The value of the member `name`: the text after the colon, up to the comma or bracket.
std::optional<std::string_view> Member(std::string_view line, std::string_view name,
                                       size_t from = 0) {
  for (size_t at = line.find(name, from); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (at == 0 || line[at - 1] != '"' || line.substr(end, 2) != "\":") continue;
    size_t begin = end + 2;
    while (begin < line.size() && line[begin] == ' ') begin++;
    if (begin < line.size() && line[begin] == '"') {
      const size_t close = line.find('"', begin + 1);
      return line.substr(begin + 1, close == std::string_view::npos ? 0 : close - begin - 1);
    }
    return line.substr(begin, line.find_first_of(",}", begin) - begin);
  }
  return std::nullopt;
}

// 0 if the line has no such member, or if the member is not a number.
uint64_t Number(std::string_view line, std::string_view name) {
  uint64_t number = 0;
  const std::optional<std::string_view> text = Member(line, name);
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

// Adds up the flushes and compactions that an info log reports.
class EventReader {
 public:
  explicit EventReader(TreeSurvey* survey) : survey_(survey) {}

  // Takes one line of an info log; lines without an event are ignored. Lines must come in the order
  // of the log, because the start of a flush explains the tables that follow.
  void Read(std::string_view line) {
    const size_t mark = line.find("EVENT_LOG_v1");
    if (mark == std::string_view::npos) return;
    line.remove_prefix(mark);
    const std::string_view event = Member(line, "event").value_or("");
    if (event == "flush_started") {
      flushes_.insert(Number(line, "job"));
    } else if (event == "table_file_creation" && flushes_.count(Number(line, "job")) != 0) {
      AddFlush(line, Number(line, "file_size"));
    } else if (event == "flush_finished") {
      if (flushes_.count(Number(line, "job")) == 0) AddFlush(line, SumOfSizes(line));
    } else if (event == "compaction_finished") {
      AddCompaction(line);
    } else {
      return;
    }
    AddTime(Number(line, "time_micros"));
  }

 private:
  // The first and the last time of all events of all logs, from which the page computes the span
  // that they cover.
  void AddTime(uint64_t micros) {
    if (micros == 0) return;
    if (survey_->first_event_micros == 0 || micros < survey_->first_event_micros) {
      survey_->first_event_micros = micros;
    }
    survey_->last_event_micros = std::max(survey_->last_event_micros, micros);
  }
  // RocksDB's compactions do not name their family when they end. Then the family is known only if
  // there is just one.
  WrittenBytes* FamilyOf(std::string_view line) {
    const std::optional<std::string_view> name = Member(line, "cf_name");
    if (!name && survey_->families.size() == 1) return &survey_->families[0].written;
    for (SurveyedFamily& family : survey_->families) {
      if (name && *name == family.name) return &family.written;
    }
    return nullptr;
  }
  // A flush of unknown size does not count at all, since it would distort the average.
  void AddFlush(std::string_view line, uint64_t bytes) {
    WrittenBytes* const written = FamilyOf(line);
    if (written == nullptr || bytes == 0) return;
    written->flushed += bytes;
    written->flushes++;
  }
  // A trivial move only changes the level of a table and writes no bytes.
  void AddCompaction(std::string_view line) {
    WrittenBytes* const written = FamilyOf(line);
    const std::optional<std::string_view> moved = Member(line, "is_trivial_move");
    if (written == nullptr || (moved && *moved == "true")) return;
    written->compacted[static_cast<int>(Number(line, "output_level"))] +=
        Number(line, "total_output_size");
    written->compactions++;
  }
  // The sum of the sizes of all tables of a flush.
  static uint64_t SumOfSizes(std::string_view line) {
    constexpr std::string_view kName = "file_size";
    uint64_t sum = 0;
    for (size_t at = line.find(kName); at != std::string_view::npos;
         at = line.find(kName, at + 1)) {
      sum += Number(line.substr(at - 1), kName);
    }
    return sum;
  }

  TreeSurvey* const survey_;
  std::set<uint64_t> flushes_;  // job numbers of flushes
};

// Adds the events of an info log, given as text. Those of Ashlar and of RocksDB are understood.
void AddEvents(const std::string& text, TreeSurvey* survey) {
  EventReader reader(survey);
  const std::string_view all = text;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    reader.Read(all.substr(begin, end - begin));
    begin = end + 1;
  }
}

// Sorts the files of the database's own directory into the kinds that the page shows, and reads the
// info logs on the way. Subdirectories are not entered.
Status SurveyDirectory(FileSystem* fs, const ManifestState& state, TreeSurvey* survey) {
  assert(survey != nullptr);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, survey->path));
  for (const std::string& name : names) {
    const std::string path = survey->path + "/" + name;
    const Result<uint64_t> bytes = FileSizeOf(fs, path);
    if (!bytes.ok()) continue;  // a directory, or deleted meanwhile
    SurveyedFile file{.name = name, .number = 0, .bytes = bytes.value()};
    FileType type = kTempFile;
    if (!ParseFileName(name, &file.number, &type)) {
      (IsTrashFileName(name) ? survey->temporary_bytes : survey->other_bytes) += file.bytes;
    } else if (type == kWalFile) {
      AddLog(state, file, survey);
    } else if (type == kTableFile || type == kBlobFile) {
      AddTable(state, type, file, survey);
    } else if (type == kTempFile) {
      survey->temporary_bytes += file.bytes;
    } else {
      survey->other_bytes += file.bytes;
    }
    if (type != kInfoLogFile) continue;
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(fs, path));
    AddEvents(text, survey);
  }
  return Status::OK();
}

}  // namespace

uint64_t WrittenBytes::CompactedBytes() const {
  uint64_t sum = 0;
  for (const auto& [level, bytes] : compacted) sum += bytes;
  return sum;
}

// All bytes written to tables for each byte that a flush wrote.
double WrittenBytes::Amplification() const {
  if (flushed == 0) return 0;
  return static_cast<double>(flushed + CompactedBytes()) / static_cast<double>(flushed);
}

uint64_t SurveyedFamily::TableBytes() const {
  uint64_t sum = 0;
  for (const auto& level : levels) {
    for (const SurveyedTable& table : level) sum += table.meta.file_size;
  }
  return sum;
}

uint64_t SurveyedFamily::TableCount() const {
  uint64_t sum = 0;
  for (const auto& level : levels) sum += level.size();
  return sum;
}

uint64_t SurveyedFamily::BlobBytes() const {
  uint64_t sum = 0;
  for (const FamilyState::BlobFile& blob : blobs) sum += blob.added.file_bytes();
  return sum;
}

uint64_t SurveyedFamily::BlobGarbageBytes() const {
  uint64_t sum = 0;
  for (const FamilyState::BlobFile& blob : blobs) sum += blob.garbage_bytes;
  return sum;
}

// The first directory is the database's own and may hold files of every kind. The others hold only
// tables, or only logs.
Result<TreeSurvey> SurveyTree(FileSystem* fs, const FileLocations& locations,
                              const std::string& logs, const ManifestState& state) {
  TreeSurvey survey;
  const std::vector<std::string>& dirs = locations.dirs();
  survey.path = dirs[0];
  for (const auto& [id, family] : state.families()) {
    ASSIGN_OR_RETURN(SurveyedFamily surveyed, SurveyFamily(fs, locations, family));
    survey.families.push_back(std::move(surveyed));
  }
  RETURN_IF_ERROR(SurveyDirectory(fs, state, &survey));
  for (size_t i = 1; i < dirs.size(); i++) {
    RETURN_IF_ERROR(SurveyOtherDirectory(fs, dirs[i], OtherDirectory::kOfTables, state, &survey));
  }
  if (logs == dirs[0]) return survey;
  RETURN_IF_ERROR(SurveyOtherDirectory(fs, logs, OtherDirectory::kOfLogs, state, &survey));
  return survey;
}

}  // namespace ashlar
