// SPDX-License-Identifier: Apache-2.0
//
// The page has a section each for the parts of the file, blocks, compression, entries, keys, sizes,
// tombstones, filter and properties. Charts along the file have at most kColumns columns, each of
// which stands for the same number of neighbouring blocks.
#include "tools/sst_dump/report_page.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "db/options/option_values.h"
#include "env/filename.h"
#include "tools/lib/html_page.h"
#include "tools/lib/key_text.h"
#include "tools/lib/svg_chart.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kColumns = 120;
constexpr size_t kSizeColumns = 40;  // at most

// Neighbouring data blocks that share a column.
struct Group {
  size_t begin, end;
};

// Divides the blocks into at most kColumns groups whose sizes differ by at most one.
std::vector<Group> GroupsOf(size_t block_count) {
  const size_t columns = std::min(block_count, kColumns);
  std::vector<Group> groups;
  for (size_t i = 0; i < columns; ++i) {
    groups.push_back({i * block_count / columns, (i + 1) * block_count / columns});
  }
  return groups;
}

// "ZSTD", "none".
std::string CompressionText(CompressionType type) {
  std::string name;
  PrintEnum(PrintContext(), EnumNames(type), type, &name);
  if (name.starts_with('k')) name.erase(0, 1);
  const size_t suffix = name.find("Compression");
  if (suffix != std::string::npos && suffix != 0) name.resize(suffix);
  return name == "No" ? "none" : name;
}

// A table of the range tombstones; empty if there are none.
std::string TombstoneList(const TableSurvey& survey) {
  if (survey.tombstones.empty()) return std::string();
  std::string html =
      "<div class=\"scroll\"><table><tr><th>from</th><th>to, exclusive</th>"
      "<th class=\"n\">sequence number</th><th class=\"n\">blocks covered</th></tr>\n";
  for (const SurveyedTombstone& tombstone : survey.tombstones) {
    const size_t blocks =
        tombstone.blocks_end - std::min(tombstone.first_block, tombstone.blocks_end);
    StrAppend(&html, "<tr><td><code>", HtmlText(KeyPreview(tombstone.begin)),
              "</code></td><td><code>", HtmlText(KeyPreview(tombstone.end)),
              "</code></td><td class=\"n\">", tombstone.seqno, "</td><td class=\"n\">",
              CountText(blocks), "</td></tr>\n");
  }
  html += "</table></div>\n";
  const uint64_t rest = survey.tombstone_count - survey.tombstones.size();
  if (rest != 0) StrAppend(&html, "<p>and ", CountText(rest), " more</p>\n");
  return html;
}

// The section with all properties.
std::string PropertiesSection(const TableProperties& properties) {
  std::string html =
      "<section><details><summary>Properties</summary>\n<div class=\"scroll\"><table>\n";
  const auto row = [&html](std::string_view name, std::string_view value) {
    StrAppend(&html, "<tr><td>", HtmlText(name), "</td><td><code>", HtmlText(value),
              "</code></td></tr>\n");
  };
  const std::string text = PropertiesText(properties);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const size_t colon = line.find(": ");
    if (colon != std::string_view::npos) {
      row(line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' ')),
          line.substr(colon + 2));
    }
    begin = end + 1;
  }
  for (const auto& [name, value] : properties.user_collected_properties) {
    row(name, HexText(value));
  }
  html += "</table></div>\n</details></section>\n";
  return html;
}

// Builds the page section by section, in the order in which it is read. The table and both surveys
// outlive the object.
class Page {
 public:
  Page(const TableInspector& table, const TableSurvey& survey, const FilterSurvey& filter)
      : table_(table),
        properties_(table.properties()),
        survey_(survey),
        filter_(filter),
        groups_(GroupsOf(survey.blocks.size())),
        page_(BaseNameOf(table.path()),
              StrCat("Table of column family \"", properties_.column_family_name,
                     "\", format version ", table_.footer().format_version, ", ordered by ",
                     properties_.comparator_name, ", compression ", properties_.compression_name,
                     ".")) {}

  std::string Build() {
    Head();
    Parts();
    if (!survey_.blocks.empty()) {
      BlockSizes();
      Compression();
      Entries();
      Keys();
      EntrySizes();
    }
    Tombstones();
    Filter();
    page_.Add(PropertiesSection(properties_));
    return page_.Finish();
  }

 private:
  void Head();
  void Parts();
  void BlockSizes();
  void Compression();
  void CompressionAlongTheFile();
  void Entries();
  void Keys();
  void EntrySizes();
  void Tombstones();
  void Filter();

  void Begin(const std::string& title, const std::string& text) { page_.BeginSection(title, text); }
  void End() { page_.EndSection(); }

  // A chart along the file without its series: labels, and tips that begin with the position.
  ColumnChart AlongTheFile(const std::string& title) const;
  // The sum of `number(block)` over the blocks of a column.
  template <typename Number>
  uint64_t Sum(const Group& group, Number&& number) const {
    uint64_t sum = 0;
    for (size_t i = group.begin; i < group.end; ++i) sum += number(survey_.blocks[i]);
    return sum;
  }

  const TableInspector& table_;
  const TableProperties& properties_;
  const TableSurvey& survey_;
  const FilterSurvey& filter_;
  const std::vector<Group> groups_;
  HtmlPage page_;
};

// The numbers at the head of the page.
void Page::Head() {
  page_.BeginTiles();
  const uint64_t stored =
      Sum({0, survey_.blocks.size()}, [](const SurveyedBlock& block) { return block.handle.size; });
  const uint64_t raw =
      Sum({0, survey_.blocks.size()}, [](const SurveyedBlock& block) { return block.raw_bytes; });
  page_.Tile(BytesText(static_cast<double>(table_.file_bytes())), "file");
  page_.Tile(CountText(survey_.entry_count), "entries");
  page_.Tile(CountText(survey_.key_count), "different keys");
  page_.Tile(CountText(survey_.blocks.size()), "data blocks");
  page_.Tile(raw == 0 ? "-" : PercentText(Ratio(stored, raw)), "of their size after compression");
  page_.Tile(CountText(survey_.tombstone_count), "range tombstones");
  if (survey_.entry_count != 0) {
    page_.Tile(survey_.smallest_seqno == survey_.largest_seqno
                   ? StrCat(survey_.smallest_seqno)
                   : StrCat(survey_.smallest_seqno, " - ", survey_.largest_seqno),
               "sequence numbers");
  }
  page_.EndTiles();
}

// Adds a bar that shows how the bytes of the file are divided among the kinds of blocks. The names
// are those that the survey gives to the parts; at() throws for a name without a colour.
void Page::Parts() {
  Begin("Parts of the file", "All bytes of the file, by kind.");
  const std::map<std::string, std::string> colours = {
      {"data", "blue"},         {"index", "orange"},         {"filter", "green"},
      {"dictionary", "violet"}, {"range tombstones", "red"}, {"other", "grey"}};
  std::vector<Share> shares;
  for (const FilePart& part : survey_.parts) {
    shares.push_back({.name = part.name,
                      .colour = colours.at(part.name),
                      .value = static_cast<double>(part.bytes),
                      .text = BytesText(static_cast<double>(part.bytes))});
  }
  page_.Add(DrawShares("Parts of the file", shares));
  End();
}

// A histogram with two columns for each size: blocks as stored, and the same blocks uncompressed.
void Page::BlockSizes() {
  uint64_t max = 1;
  for (const SurveyedBlock& block : survey_.blocks) {
    max = std::max({max, block.raw_bytes, block.handle.size});
  }
  ColumnChart chart{.title = "Data blocks by size", .is_stacked = false};
  ChartSeries stored{.name = "as stored", .colour = "blue", .values = {}};
  ChartSeries raw{.name = "uncompressed", .colour = "pale", .values = {}};
  // A power of two, so that the labels are round.
  const uint64_t step = std::bit_ceil(max / kSizeColumns + 1);
  const size_t columns = max / step + 1;
  stored.values.resize(columns);
  raw.values.resize(columns);
  for (const SurveyedBlock& block : survey_.blocks) {
    ++stored.values[block.handle.size / step];
    ++raw.values[block.raw_bytes / step];
  }
  for (size_t i = 0; i < columns; ++i) {
    const auto begin = static_cast<double>(i * step);
    chart.labels.push_back(BytesText(begin));
    chart.tips.push_back(StrCat(BytesText(begin), " to ",
                                BytesText(static_cast<double>((i + 1) * step)), "\n",
                                CountText(static_cast<uint64_t>(stored.values[i])), " as stored, ",
                                CountText(static_cast<uint64_t>(raw.values[i])), " uncompressed"));
  }
  chart.series = {std::move(stored), std::move(raw)};
  chart.x_title = "size of a block";
  chart.y_title = "data blocks";
  Begin("Blocks by size",
        StrCat("A read of a key that is not cached reads one block of the stored size. The largest "
               "block has ",
               BytesText(static_cast<double>(max)), " uncompressed."));
  page_.Add(DrawColumns(chart));
  End();
}

// Sums by compression type, and below them how the ratio changes along the file.
void Page::Compression() {
  struct Total {
    uint64_t blocks = 0, stored = 0, raw = 0;
  };
  std::map<CompressionType, Total> totals;
  for (const SurveyedBlock& block : survey_.blocks) {
    Total& total = totals[block.compression];
    ++total.blocks;
    total.stored += block.handle.size;
    total.raw += block.raw_bytes;
  }
  Begin("Blocks by compression",
        "A block is stored uncompressed if compression would save too little.");
  HtmlTable rows({"compression", "#blocks", "#stored", "#uncompressed", "#stored / uncompressed"});
  for (const auto& [type, total] : totals) {
    rows.Row({CompressionText(type), CountText(total.blocks),
              BytesText(static_cast<double>(total.stored)),
              BytesText(static_cast<double>(total.raw)),
              PercentText(Ratio(total.stored, total.raw))});
  }
  page_.Add(rows.Html());
  CompressionAlongTheFile();
  End();
}

// A chart with a column for each group of neighbouring data blocks, still without values. The
// caller adds the series and appends to the tips.
ColumnChart Page::AlongTheFile(const std::string& title) const {
  ColumnChart chart{.title = title};
  chart.x_title = groups_.size() == survey_.blocks.size()
                      ? "data block, in the order of keys"
                      : StrCat("data blocks in the order of keys, about ",
                               survey_.blocks.size() / groups_.size(), " a column");
  for (const Group& group : groups_) {
    chart.labels.push_back(CountText(group.begin + 1));
    const std::string place =
        group.end == group.begin + 1
            ? StrCat("block ", CountText(group.end))
            : StrCat("blocks ", CountText(group.begin + 1), " to ", CountText(group.end));
    chart.tips.push_back(
        StrCat(place, ", keys up to ", KeyPreview(survey_.blocks[group.end - 1].separator), "\n"));
  }
  return chart;
}

// Adds a chart with the ratio of stored to uncompressed bytes of each group of blocks.
void Page::CompressionAlongTheFile() {
  ColumnChart chart = AlongTheFile("Compression along the file");
  ChartSeries shares{.name = "stored / uncompressed", .colour = "blue", .values = {}};
  for (size_t i = 0; i < groups_.size(); ++i) {
    const uint64_t stored =
        Sum(groups_[i], [](const SurveyedBlock& block) { return block.handle.size; });
    const uint64_t raw =
        Sum(groups_[i], [](const SurveyedBlock& block) { return block.raw_bytes; });
    shares.values.push_back(Ratio(stored, raw));
    StrAppend(&chart.tips[i], BytesText(static_cast<double>(raw)), " stored in ",
              BytesText(static_cast<double>(stored)), ", ", PercentText(Ratio(stored, raw)));
  }
  chart.series = {std::move(shares)};
  chart.y_max = 1;
  chart.y_text = &PercentText;
  chart.y_title = "stored / uncompressed";
  page_.Add(DrawColumns(chart));
}

// One series for each kind of entry; a kind that does not occur has none.
void Page::Entries() {
  static constexpr std::pair<const char*, const char*> kKinds[kEntryKinds] = {
      {"puts", "blue"}, {"merges", "violet"}, {"deletions", "red"}, {"others", "grey"}};
  ColumnChart chart = AlongTheFile("Entries along the file");
  std::string sums;
  for (size_t kind = 0; kind < kEntryKinds; ++kind) {
    ChartSeries series{.name = kKinds[kind].first, .colour = kKinds[kind].second, .values = {}};
    uint64_t sum = 0;
    for (size_t i = 0; i < groups_.size(); ++i) {
      const uint64_t count =
          Sum(groups_[i], [&](const SurveyedBlock& block) { return block.entries[kind]; });
      sum += count;
      series.values.push_back(static_cast<double>(count));
      if (count != 0) StrAppend(&chart.tips[i], CountText(count), " ", kKinds[kind].first, "\n");
    }
    if (sum == 0) continue;
    StrAppend(&sums, sums.empty() ? "" : ", ", CountText(sum), " ", kKinds[kind].first);
    chart.series.push_back(std::move(series));
  }
  chart.y_title = "entries";
  const uint64_t versions = survey_.entry_count - survey_.key_count;
  Begin("Entries", StrCat("From the first key to the last: ", sums, ". ",
                          versions == 0 ? "No key has more than one entry."
                                        : StrCat(CountText(versions),
                                                 " are older versions of keys, kept for snapshots "
                                                 "or not yet merged.")));
  page_.Add(DrawColumns(chart));
  End();
}

// The distribution of the keys over the byte that follows their common prefix, from the smallest
// such byte that occurs to the largest.
void Page::Keys() {
  ColumnChart chart{.title = "Keys by their next byte"};
  ChartSeries keys{.name = "keys", .colour = "blue", .values = {}};
  size_t first = 256, last = 0;
  for (size_t byte = 0; byte < 256; ++byte) {
    if (survey_.next_byte[byte] == 0) continue;
    first = std::min(first, byte);
    last = byte;
  }
  for (size_t byte = first; byte <= last && first < 256; ++byte) {
    const bool is_text = byte > ' ' && byte <= '~';
    const std::string label = is_text ? std::string(1, static_cast<char>(byte))
                                      : HexText(std::string(1, static_cast<char>(byte)));
    std::string begin = survey_.common_prefix;
    begin += static_cast<char>(byte);
    const uint64_t count = survey_.next_byte[byte];
    keys.values.push_back(static_cast<double>(count));
    chart.labels.push_back(label);
    chart.tips.push_back(StrCat("keys that begin with ", KeyPreview(begin), "\n", CountText(count),
                                ", ", PercentText(Ratio(count, survey_.key_count))));
  }
  Begin("Keys", StrCat("From ", KeyPreview(survey_.smallest_key), " to ",
                       KeyPreview(survey_.largest_key), ". ",
                       survey_.common_prefix.empty()
                           ? "By their first byte:"
                           : StrCat("All begin with ", KeyPreview(survey_.common_prefix),
                                    "; by the next byte:")));
  if (!keys.values.empty()) {
    chart.series = {std::move(keys)};
    chart.x_title = survey_.common_prefix.empty() ? "first byte" : "byte after the common prefix";
    chart.y_title = "different keys";
    page_.Add(DrawColumns(chart));
  }
  End();
}

// Column i counts the sizes with i significant bits: 0, 1, 2 to 3, 4 to 7 and so on. Columns above
// the largest size are left out.
void Page::EntrySizes() {
  size_t columns = 1;
  for (size_t i = 0; i < survey_.key_bytes.counts.size(); ++i) {
    if (survey_.key_bytes.counts[i] + survey_.value_bytes.counts[i] != 0) columns = i + 1;
  }
  ColumnChart chart{.title = "Keys and values by size", .is_stacked = false};
  chart.series.push_back({.name = "keys", .colour = "orange", .values = {}});
  chart.series.push_back({.name = "values", .colour = "blue", .values = {}});
  for (size_t i = 0; i < columns; ++i) {
    const uint64_t keys = survey_.key_bytes.counts[i], values = survey_.value_bytes.counts[i];
    const double begin = i == 0 ? 0 : std::exp2(static_cast<double>(i - 1));
    chart.series[0].values.push_back(static_cast<double>(keys));
    chart.series[1].values.push_back(static_cast<double>(values));
    chart.labels.push_back(BytesText(begin));
    chart.tips.push_back(StrCat(
        i < 2 ? BytesText(begin) : StrCat(BytesText(begin), " to less than ", BytesText(begin * 2)),
        "\n", CountWithNoun(keys, "key"), ", ", CountWithNoun(values, "value")));
  }
  chart.x_title = "size, by powers of two";
  chart.y_title = "entries";
  const auto count = static_cast<double>(std::max<uint64_t>(1, survey_.entry_count));
  const auto mean = [&](const SizeCounts& sizes) {
    return BytesText(std::round(static_cast<double>(sizes.total_bytes) / count));
  };
  const auto max = [](const SizeCounts& sizes) {
    return BytesText(static_cast<double>(sizes.max_bytes));
  };
  Begin("Sizes of keys and values",
        StrCat("Keys have ", mean(survey_.key_bytes), " on average and ", max(survey_.key_bytes),
               " at most, values ", mean(survey_.value_bytes), " on average and ",
               max(survey_.value_bytes), " at most."));
  page_.Add(DrawColumns(chart));
  End();
}

// Two charts along the file: deletions of single keys as a share of the entries, and range
// tombstones by the most that cover one block of a column.
void Page::Tombstones() {
  uint64_t deletions = 0;
  for (const SurveyedBlock& block : survey_.blocks) deletions += block.entries[kDeletionEntries];
  if (deletions + survey_.tombstone_count == 0) {
    Begin("Tombstones", "None: no entry is a deletion, and no range is deleted.");
    return End();
  }
  Begin(
      "Tombstones",
      StrCat(CountWithNoun(deletions, "deletion"), " of single keys, ",
             PercentText(Ratio(deletions, survey_.entry_count)), " of the entries, and ",
             CountWithNoun(survey_.tombstone_count, "range tombstone"),
             ". Iterators step over deletions one by one; where they are dense, scans are slow."));
  if (!groups_.empty() && deletions != 0) {
    ColumnChart chart = AlongTheFile("Deletions along the file");
    ChartSeries shares{.name = "deletions", .colour = "red", .values = {}};
    for (size_t i = 0; i < groups_.size(); ++i) {
      const uint64_t count = Sum(
          groups_[i], [](const SurveyedBlock& block) { return block.entries[kDeletionEntries]; });
      const uint64_t all =
          Sum(groups_[i], [](const SurveyedBlock& block) { return block.EntryCount(); });
      shares.values.push_back(Ratio(count, all));
      StrAppend(&chart.tips[i], CountText(count), " of ", CountText(all), " entries");
    }
    chart.series = {std::move(shares)};
    chart.y_max = 1;
    chart.y_text = &PercentText;
    chart.y_title = "deletions / entries";
    page_.Add(DrawColumns(chart));
  }
  if (!groups_.empty() && survey_.tombstone_count != 0) {
    ColumnChart chart = AlongTheFile("Range tombstones along the file");
    ChartSeries cover{.name = "range tombstones", .colour = "red", .values = {}};
    for (size_t i = 0; i < groups_.size(); ++i) {
      const auto begin = survey_.cover.begin();
      const uint64_t most = *std::max_element(begin + static_cast<ptrdiff_t>(groups_[i].begin),
                                              begin + static_cast<ptrdiff_t>(groups_[i].end));
      cover.values.push_back(static_cast<double>(most));
      StrAppend(&chart.tips[i], CountWithNoun(most, "range tombstone"), " cover a block");
    }
    chart.series = {std::move(cover)};
    chart.y_title = "range tombstones";
    page_.Add(DrawColumns(chart));
  }
  page_.Add(TombstoneList(survey_));
  End();
}

// The measured rate of false positives and, for Bloom filters in lines of 64 bytes, how evenly the
// lines are filled.
void Page::Filter() {
  if (filter_.block_count == 0) {
    Begin("Filter", "None: a lookup of an absent key reads a block of this table.");
    return End();
  }
  const auto bits = static_cast<double>(filter_.bytes * 8);
  const std::string per_key =
      properties_.num_filter_entries == 0
          ? "an unknown number of"
          : StrCat(std::round(bits / static_cast<double>(properties_.num_filter_entries) * 10) /
                   10);
  const std::string in_parts =
      filter_.block_count == 1 ? "" : StrCat(" in ", CountText(filter_.block_count), " partitions");
  Begin("Filter",
        StrCat(filter_.kind.empty() ? "Empty" : filter_.kind, in_parts, ", ",
               BytesText(static_cast<double>(filter_.bytes)), ", ", per_key, " bits a key; ",
               PercentText(static_cast<double>(filter_.set_bits) / bits),
               " of its bits are set. It let ",
               PercentText(Ratio(filter_.positive_count, filter_.query_count)), " of ",
               CountText(filter_.query_count),
               " absent keys through; each of these lookups would read a block for nothing."));
  if (filter_.is_of_lines) {
    ColumnChart chart{.title = "Lines of the filter by share of bits set"};
    ChartSeries lines{.name = "lines", .colour = "green", .values = {}};
    for (size_t i = 0; i < FilterSurvey::kSteps; ++i) {
      const double begin = static_cast<double>(i) / FilterSurvey::kSteps;
      const double end = static_cast<double>(i + 1) / FilterSurvey::kSteps;
      lines.values.push_back(static_cast<double>(filter_.lines[i]));
      chart.labels.push_back(PercentText(begin));
      chart.tips.push_back(StrCat(PercentText(begin), " to ", PercentText(end),
                                  " of the bits set\n", CountWithNoun(filter_.lines[i], "line")));
    }
    chart.series = {std::move(lines)};
    chart.x_title = "bits set in a line of 64 bytes; a full filter has half of its bits set";
    chart.y_title = "lines";
    page_.Add(DrawColumns(chart));
  }
  End();
}

}  // namespace

std::string ReportPage(const TableInspector& table, const TableSurvey& survey,
                       const FilterSurvey& filter) {
  return Page(table, survey, filter).Build();
}

}  // namespace ashlar
