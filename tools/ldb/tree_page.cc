// SPDX-License-Identifier: Apache-2.0
//
// The page begins with the whole directory: how its space is used, and why space cannot be freed.
// Then comes a section for each family, largest first: levels, a map of the tables, sorted runs
// that a read passes, ages, bytes written.
#include "tools/ldb/tree_page.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdio>
#include <tuple>

#include "tools/lib/html_page.h"
#include "tools/lib/svg_chart.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kMaxFamilies = 8;  // drawn in full
constexpr size_t kColumns = 100;    // of a chart along the keys

// The short names below keep the calls in the tables of the page readable.
std::string Size(uint64_t bytes) { return BytesText(static_cast<double>(bytes)); }

// "3.7": a multiple, with one decimal place.
std::string Factor(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

uint64_t SumOf(const std::vector<SurveyedFile>& files) {
  uint64_t sum = 0;
  for (const SurveyedFile& file : files) sum += file.bytes;
  return sum;
}

// The number of the deepest level with tables; 0 if there are none.
size_t DeepestLevel(const SurveyedFamily& family) {
  size_t deepest = 0;
  for (size_t level = 0; level < family.levels.size(); level++) {
    if (!family.levels[level].empty()) deepest = level;
  }
  return deepest;
}

uint64_t BytesOf(const std::vector<SurveyedTable>& tables) {
  uint64_t sum = 0;
  for (const SurveyedTable& table : tables) sum += table.meta.file_size;
  return sum;
}

// The bytes of all tables as a multiple of those of the last level; at least 1.
double SpaceAmplification(const SurveyedFamily& family) {
  if (family.levels.empty()) return 1;
  assert(DeepestLevel(family) < family.levels.size());
  const uint64_t last = BytesOf(family.levels[DeepestLevel(family)]);
  return last == 0 ? 1 : static_cast<double>(family.TableBytes()) / static_cast<double>(last);
}

// The number of sorted runs at each of kColumns positions along the keys: files of level 0, and
// deeper levels.
struct RunsAlongKeys {
  std::vector<double> upper = std::vector<double>(kColumns, 0);
  std::vector<double> deeper = std::vector<double>(kColumns, 0);

  // A position counts for a table if the middle of its column is inside the table's interval.
  explicit RunsAlongKeys(const SurveyedFamily& family) {
    for (size_t level = 0; level < family.levels.size(); level++) {
      for (const SurveyedTable& table : family.levels[level]) {
        for (size_t i = 0; i < kColumns; i++) {
          const double at = (static_cast<double>(i) + 0.5) / kColumns;
          if (at < table.left || at >= table.right) continue;
          (level == 0 ? upper : deeper)[i] += 1;
        }
      }
    }
  }
  double Max() const {
    double most = 0;
    for (size_t i = 0; i < kColumns; i++) most = std::max(most, upper[i] + deeper[i]);
    return most;
  }
  double Average() const {
    double sum = 0;
    for (size_t i = 0; i < kColumns; i++) sum += upper[i] + deeper[i];
    return sum / kColumns;
  }
};

// Builds the page section by section, in the order in which it is read. One object makes one page.
// `survey` outlives the object.
class Page {
 public:
  Page(const TreeSurvey& survey, uint64_t now)
      : survey_(survey), now_(now), page_(survey.path, Introduction(survey)) {
    // The families are sorted by pointer, so that the survey itself stays unchanged.
    for (const SurveyedFamily& family : survey.families) families_.push_back(&family);
    std::stable_sort(families_.begin(), families_.end(), [](const auto* a, const auto* b) {
      return a->TableBytes() + a->BlobBytes() > b->TableBytes() + b->BlobBytes();
    });
  }

  std::string Build() {
    // The order of the calls is the order of the page.
    Tiles();
    Space();
    FreeableSpace();
    if (families_.size() > kMaxFamilies) FamilyList();
    for (size_t i = 0; i < std::min(families_.size(), kMaxFamilies); i++) Family(*families_[i]);
    return page_.Finish();
  }

 private:
  static std::string Introduction(const TreeSurvey& survey) {
    return StrCat(
        "The trees of ",
        survey.families.size() == 1 ? "one column family"
                                    : StrCat(survey.families.size(), " column families"),
        ", from the MANIFEST, the tables and the info logs. Memtables and snapshots of a running ",
        "process are not included.");
  }
  // The sum of fact(family) over all families.
  template <typename Fact>
  uint64_t Sum(Fact fact) const {
    uint64_t sum = 0;
    for (const SurveyedFamily& family : survey_.families) sum += fact(family);
    return sum;
  }
  uint64_t AllBytes() const;
  void Tiles();
  void Space();
  void FreeableSpace();
  void FamilyList();
  void Family(const SurveyedFamily& family);
  void Levels(const SurveyedFamily& family);
  void Reads(const SurveyedFamily& family);
  void Ages(const SurveyedFamily& family);
  void Writes(const SurveyedFamily& family);

  const TreeSurvey& survey_;
  const uint64_t now_;
  HtmlPage page_;
  std::vector<const SurveyedFamily*> families_;  // largest first
};

uint64_t Page::AllBytes() const {
  return Sum([](const auto& family) { return family.TableBytes() + family.BlobBytes(); }) +
         SumOf(survey_.needed_logs) + SumOf(survey_.unneeded_logs) + SumOf(survey_.obsolete) +
         survey_.temporary_bytes + survey_.other_bytes;
}

// The numbers at the head of the page. Those about one family are of the largest.
void Page::Tiles() {
  WrittenBytes all;
  double runs = 0;
  for (const SurveyedFamily& family : survey_.families) {
    all.flushed += family.written.flushed;
    for (const auto& [level, bytes] : family.written.compacted) all.compacted[level] += bytes;
    // The worst family counts, because one slow family is enough to make reads slow.
    runs = std::max(runs, RunsAlongKeys(family).Max());
  }
  page_.BeginTiles();
  page_.Tile(Size(AllBytes()), "in the directory");
  page_.Tile(CountText(Sum([](const auto& family) { return family.TableCount(); })), "tables");
  page_.Tile(CountText(Sum([](const auto& family) {
               uint64_t entries = 0;
               for (const auto& level : family.levels) {
                 for (const SurveyedTable& table : level) entries += table.entries;
               }
               return entries;
             })),
             "entries in them");
  page_.Tile(
      families_.empty() ? "-" : Factor(SpaceAmplification(*families_[0])),
      families_.size() > 1 ? "space / last level, of the largest family" : "space / last level");
  page_.Tile(CountText(static_cast<uint64_t>(runs)), "sorted runs at one key, at most");
  page_.Tile(all.Amplification() > 0 ? Factor(all.Amplification()) : "-", "write amplification");
  page_.EndTiles();
}

// Garbage is a part of the bytes of the blob files, so it is taken off there. A wrong record of
// garbage must not make the rest negative.
void Page::Space() {
  const uint64_t garbage = Sum([](const auto& family) { return family.BlobGarbageBytes(); });
  const uint64_t blobs = Sum([](const auto& family) { return family.BlobBytes(); });
  const std::vector<std::tuple<const char*, const char*, uint64_t>> parts = {
      {"tables", "blue", Sum([](const auto& family) { return family.TableBytes(); })},
      {"blobs", "green", blobs - std::min(blobs, garbage)},
      {"garbage in blob files", "orange", garbage},
      {"logs", "violet", SumOf(survey_.needed_logs) + SumOf(survey_.unneeded_logs)},
      {"obsolete files", "red", SumOf(survey_.obsolete)},
      {"other files", "grey", survey_.temporary_bytes + survey_.other_bytes},
  };
  std::vector<Share> shares;
  for (const auto& [name, colour, bytes] : parts) {
    shares.push_back(
        {.name = name, .colour = colour, .value = static_cast<double>(bytes), .text = Size(bytes)});
  }
  page_.BeginSection("Use of space", "All bytes of the database, by kind.");
  page_.Add(DrawShares("Use of space", shares));
  page_.EndSection();
}

// One row for each reason why bytes are in use that a compaction, a flush, garbage collection or
// the next open would free. Rows without bytes are left out.
void Page::FreeableSpace() {
  // The `#` in front of a title makes the column one of numbers, which is aligned to the right.
  HtmlTable rows({"space", "#bytes", "why it is still used"});
  if (!survey_.needed_logs.empty()) {
    const auto oldest =
        std::min_element(survey_.families.begin(), survey_.families.end(),
                         [](const auto& a, const auto& b) { return a.log_number < b.log_number; });
    rows.Row({CountWithNoun(survey_.needed_logs.size(), "log"), Size(SumOf(survey_.needed_logs)),
              StrCat("entries that are not in tables yet; the oldest log that family \"",
                     oldest->name, "\" may need is ", oldest->log_number)});
  }
  if (!survey_.unneeded_logs.empty()) {
    rows.Row({CountWithNoun(survey_.unneeded_logs.size(), "older log"),
              Size(SumOf(survey_.unneeded_logs)), "no longer needed: the next open deletes them"});
  }
  if (!survey_.obsolete.empty()) {
    rows.Row({CountWithNoun(survey_.obsolete.size(), "file"), Size(SumOf(survey_.obsolete)),
              "not in the current version; a running process may use them (snapshots, iterators, "
              "backups, jobs), otherwise the next open deletes them"});
  }
  if (survey_.temporary_bytes != 0) {
    rows.Row({"temporary files and trash", Size(survey_.temporary_bytes),
              "left by a running job, by deletion at a limited rate, or by a crash"});
  }
  for (const SurveyedFamily* family : families_) {
    const std::string of = StrCat(" of family \"", family->name, "\"");
    if (family->BlobGarbageBytes() != 0) {
      rows.Row({StrCat("garbage in blob files", of), Size(family->BlobGarbageBytes()),
                "the same files hold live values, until garbage collection rewrites those"});
    }
    uint64_t upper = 0, tombstones = 0, entries = 0;
    for (size_t level = 0; level < family->levels.size(); level++) {
      if (level < DeepestLevel(*family)) upper += BytesOf(family->levels[level]);
      for (const SurveyedTable& table : family->levels[level]) {
        tombstones += table.deletions + table.range_deletions;
        entries += table.entries;
      }
    }
    if (upper != 0) {
      rows.Row({StrCat("levels above the last one", of), Size(upper),
                // How much of it is hidden cannot be known without reading the entries.
                "not yet compacted into the last level; part of it hides older versions there"});
    }
    if (tombstones != 0) {
      rows.Row({StrCat(CountText(tombstones), " tombstones", of, ", ",
                       PercentText(Ratio(tombstones, entries)), " of the entries"),
                "-", "removed, with the entries they hide, when compacted into the last level"});
    }
  }
  page_.BeginSection("Space that could be freed", "And what has to happen before it is.");
  page_.Add(rows.Html());
  page_.EndSection();
}

void Page::FamilyList() {
  HtmlTable rows({"family", "#tables", "#bytes", "#blob files", "#their bytes"});
  for (const SurveyedFamily* family : families_) {
    rows.Row({family->name, CountText(family->TableCount()), Size(family->TableBytes()),
              CountText(family->blobs.size()), Size(family->BlobBytes())});
  }
  page_.BeginSection("Column families", StrCat("The ", kMaxFamilies, " largest are drawn below."));
  page_.Add(rows.Html());
  page_.EndSection();
}

// Adds the section of one family. Charts of tables are left out if the family has no tables.
void Page::Family(const SurveyedFamily& family) {
  std::string text = StrCat(CountWithNoun(family.TableCount(), "table"), " with ",
                            Size(family.TableBytes()), ", ordered by ", family.comparator, ".");
  // The boundaries are still right as bytes; only their order on the page is a guess.
  if (!family.is_order_known) text += " That comparator is not built in: keys are placed bytewise.";
  if (!family.blobs.empty()) {
    StrAppend(&text, " ", CountWithNoun(family.blobs.size(), "blob file"), " with ",
              Size(family.BlobBytes()), ", of which ", Size(family.BlobGarbageBytes()),
              " are garbage.");
  }
  page_.BeginSection(StrCat("Family \"", family.name, "\""), text);
  // A family without tables may still have been written to, see Writes().
  if (family.TableCount() != 0) {
    Levels(family);
    page_.Subtitle(
        "The tree",
        "Each rectangle is a table, or several neighbours. A read of a key searches the "
        "tables at its position from the top down, except those whose filters exclude it.");
    page_.Add(DrawTreeMap(family, now_));
    Reads(family);
    Ages(family);
  }
  Writes(family);
  page_.EndSection();
}

// One row for each level with tables. The bits of the filters are divided by the entries that the
// filters were built from, which the properties record.
void Page::Levels(const SurveyedFamily& family) {
  HtmlTable rows({"level", "#tables", "#bytes", "#share", "#entries", "#tombstones",
                  "#range tombstones", "#filter bits / key"});
  for (size_t level = 0; level < family.levels.size(); level++) {
    const std::vector<SurveyedTable>& tables = family.levels[level];
    if (tables.empty()) continue;
    uint64_t entries = 0, deletions = 0, ranges = 0, filter_bytes = 0, filtered = 0;
    for (const SurveyedTable& table : tables) {
      entries += table.entries;
      deletions += table.deletions;
      ranges += table.range_deletions;
      filter_bytes += table.filter_bytes;
      filtered += table.filter_entries;
    }
    // Without filters there is nothing to divide by.
    const std::string bits = filtered == 0 ? "-" : Factor(8 * Ratio(filter_bytes, filtered));
    rows.Row({StrCat(level), CountText(tables.size()), Size(BytesOf(tables)),
              PercentText(Ratio(BytesOf(tables), family.TableBytes())), CountText(entries),
              PercentText(Ratio(deletions, entries)), CountText(ranges), bits});
  }
  page_.Add(rows.Html());
}

// A chart along the keys without its series: labels, and tips that begin with the position.
ColumnChart AlongTheKeys(const std::string& title) {
  ColumnChart chart{.title = title};
  chart.x_title = "keys in order, by bytes";
  for (size_t i = 0; i < kColumns; i++) {
    const double at = static_cast<double>(i) / kColumns;
    chart.labels.push_back(PercentText(at));
    chart.tips.push_back(StrCat("at ", PercentText(at), " of the bytes\n"));
  }
  return chart;
}

// Adds a chart with the number of sorted runs over each part of the key range, from which the cost
// of reads follows.
void Page::Reads(const SurveyedFamily& family) {
  const RunsAlongKeys runs(family);
  assert(runs.upper.size() == kColumns && runs.deeper.size() == kColumns);
  ColumnChart chart = AlongTheKeys("Sorted runs along the keys");
  for (size_t i = 0; i < kColumns; i++) {
    StrAppend(&chart.tips[i], CountWithNoun(static_cast<uint64_t>(runs.upper[i]), "file"),
              " of level 0, ",
              CountWithNoun(static_cast<uint64_t>(runs.deeper[i]), "deeper level"));
  }
  chart.series.push_back({.name = "files of level 0", .colour = "orange", .values = runs.upper});
  chart.series.push_back({.name = "deeper levels", .colour = "blue", .values = runs.deeper});
  chart.y_title = "sorted runs";
  page_.Subtitle(
      "Cost of reads",
      StrCat("Sorted runs at each position: a scan merges all of them, a read of an absent "
             "key checks the filter of each. On average ",
             Factor(runs.Average()), ", at most ", Factor(runs.Max()), "."));
  page_.Add(DrawColumns(chart));
}

// A table whose time is unknown is left out of the chart. A time in the future, from another
// machine's clock, counts as age 0.
void Page::Ages(const SurveyedFamily& family) {
  struct Bucket {
    uint64_t below;
    const char* label;
  };
  static constexpr Bucket kBuckets[] = {
      {60, "< 1 min"},         {600, "< 10 min"},          {3600, "< 1 h"},
      {6 * 3600, "< 6 h"},     {86'400, "< 1 d"},          {7 * 86'400, "< 1 week"},
      {30 * 86'400, "< 30 d"}, {365 * 86'400, "< 1 year"}, {UINT64_MAX, "older"}};
  std::vector<double> bytes(std::size(kBuckets), 0);
  uint64_t unknown = 0, oldest = 0;
  for (const auto& level : family.levels) {
    for (const SurveyedTable& table : level) {
      if (table.data_time == 0) {
        unknown += table.meta.file_size;
        continue;
      }
      const uint64_t age = now_ - std::min(now_, table.data_time);
      oldest = std::max(oldest, age);
      size_t bucket = 0;
      // The last bucket has no upper bound, so the search always ends there.
      while (age >= kBuckets[bucket].below && bucket + 1 < std::size(kBuckets)) bucket++;
      bytes[bucket] += static_cast<double>(table.meta.file_size);
    }
  }
  std::string text =
      StrCat("Tables by the age of their oldest data; the oldest is ", AgeText(oldest), " old.");
  if (unknown != 0) StrAppend(&text, " The age of ", Size(unknown), " is not known.");
  page_.Subtitle("Age of the data", text);
  // Without a single known time the chart would be empty.
  if (oldest == 0 && unknown != 0) return;
  ColumnChart chart{.title = "Bytes by age"};
  for (size_t i = 0; i < bytes.size(); i++) {
    chart.labels.push_back(kBuckets[i].label);
    chart.tips.push_back(StrCat(kBuckets[i].label, ": ", BytesText(bytes[i])));
  }
  chart.series.push_back({.name = "bytes", .colour = "violet", .values = std::move(bytes)});
  chart.y_text = &BytesText;
  chart.y_title = "bytes of tables";
  chart.x_title = "age of the oldest data of a table";
  page_.Add(DrawColumns(chart));
}

// Adds a chart of the bytes that flushes and compactions have written. The numbers come from the
// info logs. They cover only the time since the oldest log that was kept.
void Page::Writes(const SurveyedFamily& family) {
  const WrittenBytes& written = family.written;
  if (written.flushed == 0 && written.compacted.empty()) {
    page_.Subtitle("Bytes written", "The info logs report no flush and no compaction.");
    return;
  }
  const uint64_t seconds = (survey_.last_event_micros - survey_.first_event_micros) / 1'000'000;
  std::string text =
      StrCat("According to the info logs, which cover ", AgeText(seconds), ": ",
             CountText(written.flushes), written.flushes == 1 ? " flush" : " flushes", ", and ",
             CountWithNoun(written.compactions, "compaction"), " that wrote tables.");
  if (written.Amplification() > 0) {
    StrAppend(&text, " Each byte was written ", Factor(written.Amplification()), " times.");
  }
  page_.Subtitle("Bytes written", text);
  ColumnChart chart{.title = "Bytes written, by destination"};
  std::vector<double> bytes{static_cast<double>(written.flushed)};
  chart.labels.push_back("flushes");
  for (const auto& [level, sum] : written.compacted) {
    chart.labels.push_back(StrCat("to level ", level));
    bytes.push_back(static_cast<double>(sum));
  }
  for (size_t i = 0; i < bytes.size(); i++) {
    assert(chart.labels.size() == bytes.size());
    chart.tips.push_back(StrCat(chart.labels[i], ": ", BytesText(bytes[i])));
  }
  chart.series.push_back({.name = "bytes", .colour = "green", .values = std::move(bytes)});
  chart.y_text = &BytesText;
  chart.y_title = "bytes written";
  chart.x_title = "flushes, and compactions by output level";
  page_.Add(DrawColumns(chart));
}

}  // namespace

std::string TreePage(const TreeSurvey& survey, uint64_t now_seconds) {
  return Page(survey, now_seconds).Build();
}

}  // namespace ashlar
