// SPDX-License-Identifier: Apache-2.0
//
// Rows from the top: a row for each file of level 0, newest first, then a row for each deeper
// level. If a row has more tables than can be distinguished, neighbours are drawn as one rectangle.
#include <algorithm>
#include <array>
#include <cstdio>

#include "tools/ldb/tree_page.h"
#include "tools/lib/html_page.h"
#include "tools/lib/svg_chart.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// All lengths are in units of the SVG view box. The page scales the drawing to its own width.
constexpr double kWidth = 960, kLeft = 74, kRight = 10, kRowHeight = 20, kRowGap = 4;
constexpr size_t kMaxLevel0Rows = 16;
constexpr size_t kMaxRectanglesPerRow = 300;

struct Colour {
  double from;  // smallest share of tombstones with this colour
  const char* name;
  const char* text;
};
constexpr std::array<Colour, 5> kColours = {{{0, "blue", "less than 1 % tombstones"},
                                             {0.01, "green", "from 1 %"},
                                             {0.1, "violet", "from 10 %"},
                                             {0.3, "orange", "from 30 %"},
                                             {0.6, "red", "from 60 %"}}};

// The colours are sorted by their threshold, so the last one that the share reaches is right.
const char* ColourOf(double share) {
  const char* name = kColours[0].name;
  for (const Colour& colour : kColours) {
    if (share >= colour.from) name = colour.name;
  }
  return name;
}

// One decimal place: finer positions cannot be seen and would make the page larger.
std::string Px(double value) {
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

// One rectangle: a table, or several neighbours.
struct Rectangle {
  double left = 1, right = 0;
  uint64_t tables = 0, bytes = 0, entries = 0, deletions = 0, range_deletions = 0;
  uint64_t oldest = 0;
  std::string smallest, largest;
  FileNumber number = 0;

  // Tables must be added in the order of their keys: the first gives the smallest key, the last the
  // largest.
  void Add(const SurveyedTable& table) {
    if (tables == 0) smallest = table.meta.smallest_user_key().ToString();
    left = std::min(left, table.left);
    right = std::max(right, table.right);
    largest = table.meta.largest_user_key().ToString();
    number = table.meta.number;
    bytes += table.meta.file_size;
    entries += table.entries;
    deletions += table.deletions;
    range_deletions += table.range_deletions;
    if (table.data_time != 0 && (oldest == 0 || table.data_time < oldest)) oldest = table.data_time;
    tables++;
  }
  double TombstoneShare() const { return Ratio(deletions + range_deletions, entries); }
  // The text beside the pointer: level, sizes, entries, tombstones, range of keys and age of the
  // data.
  std::string Tooltip(const std::string& level, uint64_t now) const {
    std::string text =
        StrCat(level, ", ", tables == 1 ? StrCat("table ", number) : CountWithNoun(tables, "table"),
               ": ", BytesText(static_cast<double>(bytes)), "\n", CountText(entries),
               entries == 1 ? " entry" : " entries");
    if (deletions + range_deletions != 0) {
      StrAppend(&text, ", ", CountWithNoun(deletions, "deletion"), ", ",
                CountWithNoun(range_deletions, "range tombstone"));
    }
    StrAppend(&text, "\n", KeyPreview(smallest), " to ", KeyPreview(largest));
    if (oldest != 0) {
      StrAppend(&text, "\noldest data ", AgeText(now - std::min(now, oldest)), " old");
    }
    return text;
  }
};

// Collects the rows of one drawing from the top down and keeps the height used so far.
class MapDrawing {
 public:
  explicit MapDrawing(uint64_t now) : now_(now) {}

  // Draws one row. `tables` are in the order of their keys; rectangle i stands for the i-th part of
  // them, so that all rectangles stand for nearly the same number of tables.
  void Row(const std::string& name, const std::vector<const SurveyedTable*>& tables) {
    const double y = height_;
    StrAppend(&svg_, "<text x=\"", Px(kLeft - 6), "\" y=\"", Px(y + 14), "\" text-anchor=\"end\">",
              HtmlText(name), "</text>");
    const size_t count = std::min(tables.size(), kMaxRectanglesPerRow);
    for (size_t i = 0; i < count; i++) {
      Rectangle rectangle;
      const size_t end = (i + 1) * tables.size() / count;
      for (size_t t = i * tables.size() / count; t < end; t++) rectangle.Add(*tables[t]);
      Draw(rectangle, name, y);
    }
    height_ += kRowHeight + kRowGap;
  }
  // A line of text in place of a row.
  void Note(const std::string& text) {
    StrAppend(&svg_, "<text x=\"", Px(kLeft), "\" y=\"", Px(height_ + 13), "\">", HtmlText(text),
              "</text>");
    height_ += kRowHeight;
  }
  // The legend and the SVG element with everything drawn so far.
  std::string Finish() const {
    std::string legend = "<p class=\"legend\">";
    for (const Colour& colour : kColours) {
      StrAppend(&legend, "<span><i class=\"", colour.name, "\"></i>", colour.text, "</span>");
    }
    return StrCat(legend, "</p>\n<svg viewBox=\"0 0 ", Px(kWidth), " ", Px(height_ + 18),
                  "\" role=\"img\" aria-label=\"Tables along the keys\">", svg_,
                  "<text class=\"axis\" text-anchor=\"middle\" x=\"", Px((kLeft + kWidth) / 2),
                  "\" y=\"", Px(height_ + 14), "\">keys in order, the width proportional to the ",
                  "bytes</text></svg>\n");
  }

 private:
  // Even the smallest rectangle is one unit wide, so that it can be seen and pointed at; the 0.8
  // units taken off the others leave a gap between neighbours.
  void Draw(const Rectangle& rectangle, const std::string& row, double y) {
    constexpr double kPlot = kWidth - kLeft - kRight;
    const double x = kLeft + rectangle.left * kPlot;
    const double width = std::max(1.0, (rectangle.right - rectangle.left) * kPlot - 0.8);
    StrAppend(&svg_, "<g class=\"column\" data-tip=\"", HtmlText(rectangle.Tooltip(row, now_)),
              "\"><rect class=\"", ColourOf(rectangle.TombstoneShare()), "\" x=\"", Px(x),
              "\" y=\"", Px(y), "\" width=\"", Px(width), "\" height=\"", Px(kRowHeight),
              "\" rx=\"2\"/></g>");
  }

  const uint64_t now_;
  double height_ = 4;
  std::string svg_;
};

}  // namespace

// Draws a row for each table of level 0, whose tables may overlap, and one row for each deeper
// level, whose tables are disjoint. At most kMaxLevel0Rows tables of level 0 are drawn, the newest
// ones.
std::string DrawTreeMap(const SurveyedFamily& family, uint64_t now_seconds) {
  MapDrawing map(now_seconds);
  for (size_t level = 0; level < family.levels.size(); level++) {
    const std::vector<SurveyedTable>& tables = family.levels[level];
    if (tables.empty()) continue;
    if (level > 0) {
      std::vector<const SurveyedTable*> row;
      for (const SurveyedTable& table : tables) row.push_back(&table);
      map.Row(StrCat("level ", level), row);
      continue;
    }
    const size_t shown = std::min(tables.size(), kMaxLevel0Rows);
    for (size_t i = 0; i < shown; i++) map.Row(StrCat("L0 ", tables[i].meta.number), {&tables[i]});
    if (shown < tables.size()) {
      map.Note(StrCat("and ", tables.size() - shown, " older files of level 0"));
    }
  }
  return map.Finish();
}

// A larger unit is used from two of it on: 90 minutes stay minutes, 120 are hours.
std::string AgeText(uint64_t seconds) {
  struct Unit {
    uint64_t seconds;
    const char* name;
  };
  static constexpr Unit kUnits[] = {
      {86'400 * 365, "years"}, {86'400, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "seconds"}};
  if (seconds == 1) return "1 second";
  for (const Unit& unit : kUnits) {
    if (seconds < 2 * unit.seconds && unit.seconds > 1) continue;
    const double count = static_cast<double>(seconds) / static_cast<double>(unit.seconds);
    std::array<char, 48> text;
    std::snprintf(text.data(), text.size(), "%.*f %s", count < 10 && unit.seconds > 1 ? 1 : 0,
                  count, unit.name);
    return text.data();
  }
  return "0 seconds";
}

}  // namespace ashlar
