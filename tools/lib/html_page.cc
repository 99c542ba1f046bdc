// SPDX-License-Identifier: Apache-2.0
//
// See html_page.h.
#include "tools/lib/html_page.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "tools/lib/key_text.h"
#include "tools/lib/page_style.h"
#include "tools/lib/svg_chart.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kShownKeyBytes = 40;

}  // namespace

std::string KeyShown(const std::string& key) {
  const bool is_text =
      std::all_of(key.begin(), key.end(), [](char c) { return c >= ' ' && c <= '~'; });
  const std::string part = key.substr(0, kShownKeyBytes);
  return StrCat(is_text ? StrCat("'", part, "'") : HexText(part),
                part.size() < key.size() ? ".." : "");
}

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string Counted(uint64_t count, std::string_view noun) {
  return StrCat(CountText(count), " ", noun, count == 1 ? "" : "s");
}

HtmlTable::HtmlTable(const std::vector<std::string>& titles)
    : rows_("<div class=\"scroll\"><table><tr>") {
  for (const std::string& title : titles) {
    const bool is_number = title.starts_with('#');
    is_number_.push_back(is_number);
    StrAppend(&rows_, is_number ? "<th class=\"n\">" : "<th>",
              HtmlText(title.substr(is_number ? 1 : 0)), "</th>");
  }
  rows_ += "</tr>\n";
}

void HtmlTable::Row(const std::vector<std::string>& cells) {
  assert(cells.size() == is_number_.size());
  rows_ += "<tr>";
  for (size_t i = 0; i < cells.size(); i++) {
    StrAppend(&rows_, is_number_[i] ? "<td class=\"n\">" : "<td>", HtmlText(cells[i]), "</td>");
  }
  rows_ += "</tr>\n";
}

HtmlPage::HtmlPage(const std::string& title, const std::string& text)
    : html_(StrCat("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>",
                   HtmlText(title),
                   "</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n", "<style>",
                   kPageStyle, "</style>\n<main>\n<h1>", HtmlText(title), "</h1>\n<p>",
                   HtmlText(text), "</p>\n")) {}

void HtmlPage::Tile(const std::string& value, const std::string& what) {
  StrAppend(&html_, "<div><b>", HtmlText(value), "</b><span>", HtmlText(what), "</span></div>\n");
}

void HtmlPage::BeginSection(const std::string& title, const std::string& text) {
  StrAppend(&html_, "<section>\n<h2>", HtmlText(title), "</h2>\n<p>", HtmlText(text), "</p>\n");
}

void HtmlPage::Subtitle(const std::string& title, const std::string& text) {
  StrAppend(&html_, "<h3>", HtmlText(title), "</h3>\n<p>", HtmlText(text), "</p>\n");
}

std::string HtmlPage::Finish() {
  html_ += "</main>\n<div id=\"tip\"></div>\n<script>";
  html_ += kPageScript;
  return std::move(html_ += "</script>\n</html>\n");
}

}  // namespace ashlar
