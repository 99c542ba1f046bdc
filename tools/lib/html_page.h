// SPDX-License-Identifier: Apache-2.0
//
// HtmlPage builds a complete page of HTML: tiles and sections, with style and script. Also text
// functions that such pages share. Pure; every text is escaped here, except the argument of Add().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar {

// A key as text if it is printable, else as hexadecimal digits; long keys are cut.
std::string KeyPreview(const std::string& key);
// part / whole; 0 if `whole` is 0.
double Ratio(uint64_t part, uint64_t whole);
// "1 block", "2 blocks".
std::string CountWithNoun(uint64_t count, std::string_view noun);

// A table. Columns whose title begins with '#' are numbers, aligned to the right.
class HtmlTable {
 public:
  explicit HtmlTable(const std::vector<std::string>& titles);
  // One text for each column.
  void Row(const std::vector<std::string>& cells);
  // The HTML of the whole table. May be called again after more rows.
  std::string Html() const { return rows_ + "</table></div>\n"; }

 private:
  std::vector<bool> is_number_;
  std::string rows_;
};

// A page under construction. The calls write in the order in which they come; nothing checks that
// each Begin has its End.
class HtmlPage {
 public:
  HtmlPage(const std::string& title, const std::string& text);

  // Tiles come before all sections. `what` is the label below the value.
  void BeginTiles() { html_ += "<div class=\"tiles\">\n"; }
  void Tile(const std::string& value, const std::string& what);
  void EndTiles() { html_ += "</div>\n"; }

  void BeginSection(const std::string& title, const std::string& text);
  // Inside a section, begins a part with its own heading.
  void Subtitle(const std::string& title, const std::string& text);
  // Adds HTML that is already escaped, such as a chart or a table.
  void Add(const std::string& html) { html_ += html; }
  void EndSection() { html_ += "</section>\n"; }

  // The complete page. The object is empty afterwards.
  std::string Finish();

 private:
  std::string html_;
};

}  // namespace ashlar
