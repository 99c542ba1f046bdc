// SPDX-License-Identifier: Apache-2.0
//
// The text has one row for each level on which there is or was any data, one for their sum, and one
// for the interval since the last text. The columns are a table here, which the maps use as well.
#include "db/report/family_report.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <cstdio>
#include <string_view>
#include <utility>

#include "ashlar/db.h"
#include "db/compaction/compaction_picker.h"
#include "db/report/human_text.h"
#include "util/statistics/level_histograms.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// One row of the text as numbers.
struct Row {
  FamilyReport::OfLevel level;
  double write_amplification = 0;
};

// Conversions for the columns. Division by 0 gives 0.
double InGibibytes(uint64_t bytes) { return static_cast<double>(bytes) / kGibibyte; }
// Seconds with fractions, from counters in microseconds.
double InSeconds(uint64_t micros) { return static_cast<double>(micros) / 1e6; }
double Speed(uint64_t bytes, uint64_t micros) {
  return PerSecond(static_cast<double>(bytes) / kMebibyte, micros);
}
double Ratio(uint64_t amount, uint64_t base) {
  return base == 0 ? 0 : static_cast<double>(amount) / static_cast<double>(base);
}

// The format of a column: at least `width` characters, left-aligned if that is negative.
enum class Style : uint8_t { kNumber, kCount, kBytes };
struct Column {
  const char* name;  // in maps
  char before;       // the character between the previous column and this one
  int width;
  int precision;  // digits after the point, for kNumber
  Style style;
  double (*of)(const Row&);  // computes the value
};
constexpr Column kColumns[] = {
    {"NumFiles", ' ', 6, 0, Style::kNumber,
     [](const Row& r) { return static_cast<double>(r.level.files); }},
    {"CompactedFiles", '/', -3, 0, Style::kNumber,
     [](const Row& r) { return static_cast<double>(r.level.compacting); }},
    {"SizeBytes", ' ', 8, 0, Style::kBytes,
     [](const Row& r) { return static_cast<double>(r.level.bytes); }},
    {"Score", ' ', 5, 1, Style::kNumber, [](const Row& r) { return r.level.score; }},
    {"ReadGB", ' ', 8, 1, Style::kNumber,
     [](const Row& r) { return InGibibytes(r.level.work.read_bytes()); }},
    {"RnGB", ' ', 7, 1, Style::kNumber,
     [](const Row& r) { return InGibibytes(r.level.work.upper_bytes); }},
    {"Rnp1GB", ' ', 8, 1, Style::kNumber,
     [](const Row& r) { return InGibibytes(r.level.work.output_level_bytes); }},
    {"WriteGB", ' ', 9, 1, Style::kNumber,
     [](const Row& r) { return InGibibytes(r.level.work.written_bytes); }},
    {"WnewGB", ' ', 8, 1, Style::kNumber,
     [](const Row& r) {
       return InGibibytes(r.level.work.written_bytes) -
              InGibibytes(r.level.work.output_level_bytes);
     }},
    {"MovedGB", ' ', 9, 1, Style::kNumber,
     [](const Row& r) { return InGibibytes(r.level.work.moved_bytes); }},
    {"WriteAmp", ' ', 5, 1, Style::kNumber, [](const Row& r) { return r.write_amplification; }},
    {"ReadMBps", ' ', 8, 1, Style::kNumber,
     [](const Row& r) { return Speed(r.level.work.read_bytes(), r.level.work.micros); }},
    {"WriteMBps", ' ', 8, 1, Style::kNumber,
     [](const Row& r) { return Speed(r.level.work.written_bytes, r.level.work.micros); }},
    {"CompSec", ' ', 9, 2, Style::kNumber,
     [](const Row& r) { return InSeconds(r.level.work.micros); }},
    {"CompMergeCPU", ' ', 17, 2, Style::kNumber,
     [](const Row& r) { return InSeconds(r.level.work.cpu_micros); }},
    {"CompCount", ' ', 9, 0, Style::kNumber,
     [](const Row& r) { return static_cast<double>(r.level.work.jobs); }},
    {"AvgSec", ' ', 8, 3, Style::kNumber,
     [](const Row& r) { return Ratio(r.level.work.micros, r.level.work.jobs) / 1e6; }},
    {"KeyIn", ' ', 7, 0, Style::kCount,
     [](const Row& r) { return static_cast<double>(r.level.work.entries_read); }},
    {"KeyDrop", ' ', 6, 0, Style::kCount,
     [](const Row& r) { return static_cast<double>(r.level.work.entries_dropped); }},
    {"RblobGB", ' ', 9, 1, Style::kNumber, [](const Row&) { return 0.0; }},
    {"WblobGB", ' ', 9, 1, Style::kNumber, [](const Row&) { return 0.0; }},
};

// Column headers, after that of the first column.
constexpr std::string_view kColumnTitles =
    "    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp "
    "Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) "
    "Wblob(GB)\n";
constexpr size_t kLevelRule = 192, kPriorityRule = 195;  // lengths of the rules below the headers

// Formats one column of a row.
std::string CellText(const Column& column, const Row& row) {
  const double value = column.of(row);
  if (column.style == Style::kNumber) {
    return Format("%c%*.*f", column.before, column.width, column.precision, value);
  }
  const auto whole = static_cast<uint64_t>(value);
  const std::string text = column.style == Style::kCount ? HumanCount(whole) : HumanBytes(whole);
  return Format("%c%*s", column.before, column.width, text.c_str());
}

// Appends a line of the text.
void AppendRow(std::string_view label, const Row& row, std::string* text) {
  *text += Format("%4.*s", static_cast<int>(label.size()), label.data());
  assert(text != nullptr);
  assert(!label.empty());
  for (const Column& column : kColumns) *text += CellText(column, row);
  *text += '\n';
}

// The base of the write amplification: for level 0, bytes that come from memtables; for deeper
// levels, bytes that come from the level above.
Row RowOfLevel(const FamilyReport& report, size_t level) {
  assert(level < report.levels.size());
  Row row{.level = report.levels[level]};
  const JobWork& work = row.level.work;
  const uint64_t base = work.upper_bytes + (level == 0 ? report.flushes.written_bytes : 0);
  row.write_amplification = Ratio(work.written_bytes, base);
  return row;
}

// Whether a level has a row: it has files, or some work was done on it.
bool IsShown(const FamilyReport::OfLevel& level) {
  return level.files > 0 || !level.work.IsNothing();
}

// The row of the sum over all levels. Its write amplification is relative to all flushed bytes.
Row RowOfSum(const FamilyReport& report) {
  Row row;
  for (const FamilyReport::OfLevel& level : report.levels) {
    row.level.files += level.files;
    row.level.compacting += level.compacting;
    row.level.bytes += level.bytes;
  }
  row.level.work = report.now.sum;
  row.write_amplification = Ratio(report.now.sum.written_bytes, report.now.flushed_bytes);
  return row;
}

// The row of the work since the last text. An interval has no files or sizes.
Row RowOfInterval(const FamilyReport& report) {
  Row row;
  row.level.work = report.now.sum.Since(report.reported.sum);
  row.write_amplification =
      Ratio(row.level.work.written_bytes, report.now.flushed_bytes - report.reported.flushed_bytes);
  return row;
}

// The table of levels, with the sum and the interval.
void AppendLevels(const FamilyReport& report, std::string* text) {
  assert(text != nullptr);
  StrAppend(text, "\n** Compaction Stats [", report.name, "] **\nLevel", kColumnTitles,
            std::string(kLevelRule, '-'), "\n");
  for (size_t level = 0; level < report.levels.size(); level++) {
    if (!IsShown(report.levels[level])) continue;
    AppendRow(StrCat("L", level), RowOfLevel(report, level), text);
  }
  AppendRow("Sum", RowOfSum(report), text);
  AppendRow("Int", RowOfInterval(report), text);
}

// The rows by priority: compactions run in the pool of low priority, flushes in that of high
// priority.
void AppendPriorities(const FamilyReport& report, std::string* text) {
  assert(text != nullptr);
  StrAppend(text, "\n** Compaction Stats [", report.name, "] **\nPriority", kColumnTitles,
            std::string(kPriorityRule, '-'), "\n");
  if (report.compactions.jobs > 0) {
    AppendRow("Low", {.level = {.work = report.compactions}}, text);
  }
  if (report.flushes.jobs > 0) AppendRow("High", {.level = {.work = report.flushes}}, text);
}

// One line about the work of compactions; `micros` is the time to which the speeds refer.
void AppendTraffic(const char* name, const JobWork& work, uint64_t micros, std::string* text) {
  assert(text != nullptr);
  *text += Format(
      "%s compaction: %.2f GB write, %.2f MB/s write, %.2f GB read, %.2f MB/s read, %.1f seconds\n",
      name, InGibibytes(work.written_bytes), Speed(work.written_bytes, micros),
      InGibibytes(work.read_bytes()), Speed(work.read_bytes(), micros), InSeconds(work.micros));
}

// The lines below the tables: blob files, uptime, flushes, stalls.
void AppendTotals(const FamilyReport& report, std::string* text) {
  assert(text != nullptr);
  const WorkTotals &now = report.now, &reported = report.reported;
  assert(now.micros >= reported.micros);
  assert(now.stalls >= reported.stalls);
  const uint64_t interval_micros = now.micros - reported.micros;
  *text += Format("\nBlob file count: %" PRIu64
                  ", total size: %.1f GB, garbage size: %.1f GB, space amp: %.1f\n\n",
                  report.blobs.files, InGibibytes(report.blobs.bytes),
                  InGibibytes(report.blobs.garbage), report.blobs.SpaceAmplification());
  *text += Format("Uptime(secs): %.1f total, %.1f interval\n", InSeconds(now.micros),
                  InSeconds(interval_micros));
  *text += Format("Flush(GB): cumulative %.3f, interval %.3f\n", InGibibytes(now.flushed_bytes),
                  InGibibytes(now.flushed_bytes - reported.flushed_bytes));
  *text +=  // ingested files are not counted here
      "AddFile(GB): cumulative 0.000, interval 0.000\n"
      "AddFile(Total Files): cumulative 0, interval 0\n"
      "AddFile(L0 Files): cumulative 0, interval 0\n"
      "AddFile(Keys): cumulative 0, interval 0\n";
  AppendTraffic("Cumulative", now.sum, now.micros, text);
  AppendTraffic("Interval", now.sum.Since(reported.sum), interval_micros, text);
  const StallCounts& stalls = report.stalls;
  StrAppend(text, "Stalls(count): ", stalls.level0_delays, " level0_slowdown, ",
            stalls.level0_delays_compacting, " level0_slowdown_with_compaction, ",
            stalls.level0_stops, " level0_numfiles, ", stalls.level0_stops_compacting,
            " level0_numfiles_with_compaction, ", stalls.pending_bytes_stops,
            " stop for pending_compaction_bytes, ", stalls.pending_bytes_delays,
            " slowdown for pending_compaction_bytes, ", stalls.memtable_stops,
            " memtable_compaction, ", stalls.memtable_delays, " memtable_slowdown, interval ",
            now.stalls - reported.stalls, " total count\n");
}

// Adds all columns of a row to the map.
void AddRow(const std::string& name, const Row& row, PropertyMap* map) {
  assert(map != nullptr);
  for (const Column& column : kColumns) {
    (*map)[StrCat("compaction.", name, ".", column.name)] = std::to_string(column.of(row));
  }
}

}  // namespace

BlobTotals BlobTotalsOf(const Version& version) {
  const BlobFiles* const blobs = version.blobs();
  if (blobs == nullptr) return {};
  return {blobs->all().size(), blobs->total_file_bytes(), blobs->garbage_bytes()};
}

double BlobTotals::SpaceAmplification() const {
  return bytes > garbage ? Ratio(bytes, bytes - garbage) : 0;
}

FamilyReport ReportOn(const ColumnFamilyData& family, const ReportBaselines& baselines,
                      uint64_t now_micros) {
  // Both times are of one monotonic clock, and the baseline is from before.
  assert(now_micros >= baselines.since_micros);
  assert(family.versions() != nullptr);
  const Version& version = family.last_version();
  const CompactionNeeds needs =
      AssessCompaction(version, family.options(), family.versions()->claims);
  FamilyReport report;
  report.name = family.name();
  const size_t worked_on = family.work.levels().size();
  assert(needs.scores.size() == static_cast<size_t>(version.num_levels()));
  // A change of num_levels may leave work on levels that do not exist any more.
  report.levels.resize(std::max(static_cast<size_t>(version.num_levels()), worked_on));
  for (Level level = 0; level < version.num_levels(); ++level) {
    assert(static_cast<size_t>(int{level}) < report.levels.size());
    FamilyReport::OfLevel& facts = report.levels[static_cast<size_t>(int{level})];
    facts.files = version.files(level).size();
    facts.compacting = facts.files - family.versions()->claims.IdleOn(version, level).files;
    facts.bytes = version.level_bytes(level);
    facts.score = needs.scores[static_cast<size_t>(int{level})];
  }
  for (size_t level = 0; level < worked_on; level++) {
    assert(level < report.levels.size());
    report.levels[level].work = family.work.levels()[level];
  }
  report.blobs = BlobTotalsOf(version);
  report.flushes = family.work.flushes();
  report.compactions = family.work.compactions();
  report.stalls = family.work.stalls;
  report.now = family.work.At(now_micros - baselines.since_micros);
  const auto known = baselines.families.find(family.id());
  // Before the first text everything counts as the interval.
  if (known != baselines.families.end()) report.reported = known->second.reported_work;
  return report;
}

std::string FamilyStatsText(const FamilyReport& report) {
  std::string text;
  AppendLevels(report, &text);
  AppendPriorities(report, &text);
  AppendTotals(report, &text);
  return text;
}

PropertyMap FamilyStatsMap(const FamilyReport& report) {
  PropertyMap map;
  for (size_t level = 0; level < report.levels.size(); level++) {
    if (!IsShown(report.levels[level])) continue;
    AddRow(StrCat("L", level), RowOfLevel(report, level), &map);
  }
  AddRow("Sum", RowOfSum(report), &map);
  const StallCounts& stalls = report.stalls;
  const std::pair<const char*, uint64_t> counts[] = {
      {"level0_slowdown", stalls.level0_delays},
      {"level0_slowdown_with_compaction", stalls.level0_delays_compacting},
      {"level0_numfiles", stalls.level0_stops},
      {"level0_numfiles_with_compaction", stalls.level0_stops_compacting},
      {"stop_for_pending_compaction_bytes", stalls.pending_bytes_stops},
      {"slowdown_for_pending_compaction_bytes", stalls.pending_bytes_delays},
      {"memtable_compaction", stalls.memtable_stops},
      {"memtable_slowdown", stalls.memtable_delays},
      {"total_stop", stalls.stops()},
      {"total_slowdown", stalls.delays()},
  };
  for (const auto& [name, count] : counts) map[StrCat("io_stalls.", name)] = std::to_string(count);
  return map;
}

std::string LevelStatsText(const FamilyReport& report) {
  std::string text = "Level Files Size(MB)\n--------------------\n";
  for (size_t level = 0; level < report.levels.size(); level++) {
    const FamilyReport::OfLevel& facts = report.levels[level];
    text += Format("%3zu %8" PRIu64 " %8.0f\n", level, facts.files,
                   static_cast<double>(facts.bytes) / kMebibyte);
  }
  return text;
}

PropertyMap FamilyStallsMap(const FamilyReport& report) {
  using Keys = WriteStallStatsMapKeys;
  using enum WriteStallCause;
  using enum WriteStallCondition;
  const StallCounts& stalls = report.stalls;
  return {
      {Keys::TotalStops(), std::to_string(stalls.stops())},
      {Keys::TotalDelays(), std::to_string(stalls.delays())},
      {Keys::CFL0FileCountLimitDelaysWithOngoingCompaction(),
       std::to_string(stalls.level0_delays_compacting)},
      {Keys::CFL0FileCountLimitStopsWithOngoingCompaction(),
       std::to_string(stalls.level0_stops_compacting)},
      {Keys::CauseConditionCount(kMemtableLimit, kDelayed), std::to_string(stalls.memtable_delays)},
      {Keys::CauseConditionCount(kMemtableLimit, kStopped), std::to_string(stalls.memtable_stops)},
      {Keys::CauseConditionCount(kL0FileCountLimit, kDelayed),
       std::to_string(stalls.level0_delays)},
      {Keys::CauseConditionCount(kL0FileCountLimit, kStopped), std::to_string(stalls.level0_stops)},
      {Keys::CauseConditionCount(kPendingCompactionBytes, kDelayed),
       std::to_string(stalls.pending_bytes_delays)},
      {Keys::CauseConditionCount(kPendingCompactionBytes, kStopped),
       std::to_string(stalls.pending_bytes_stops)},
  };
}

// The text of a map about stalls. A map is sorted, so equal counts give equal texts.
std::string StallsText(const PropertyMap& stalls) {
  std::string text = "Write Stall (count): ";
  const char* separator = "";
  for (const auto& [name, count] : stalls) {
    StrAppend(&text, std::exchange(separator, ", "), name, ": ", count);
  }
  return text + "\n";
}

std::string FileHistogramText(const std::string& family, const LevelHistograms* times) {
  std::string text = StrCat("\n** File Read Latency Histogram By Level [", family, "] **\n");
  for (int level = 0; times != nullptr && level < times->level_count(); level++) {
    const Histogram histogram = times->Of(level);
    if (histogram.empty()) continue;
    StrAppend(&text, "** Level ", level, " read latency histogram (micros):\n",
              histogram.ToString(), "\n");
  }
  return text;
}

}  // namespace ashlar
