// SPDX-License-Identifier: Apache-2.0
//
// A page loads nothing from anywhere, because it may be read from a disk, years later, without a
// network: style and script are part of it.
#include "tools/lib/html_page.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "tools/lib/key_text.h"
#include "tools/lib/svg_chart.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kShownKeyBytes = 40;

// The colours are variables, so that the dark scheme replaces only these. The classes blue to grey
// are those that charts name as colours; legends use them on <i>, drawings on <rect>.
constexpr std::string_view kPageStyle = R"(
:root { --ink: #1d2430; --dim: #5d6878; --paper: #f6f7f9; --card: #fff; --line: #dfe3e9;
  --blue: #3b76c4; --pale: #a9c4e6; --orange: #dd8a2e; --green: #3f9a63; --violet: #8462b8;
  --red: #c8473d; --grey: #97a1ae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --dim: #9aa5b4; --paper: #14181e;
  --card: #1c222a; --line: #323a45; --blue: #5b95e0; --pale: #33516f; --orange: #e29a4b;
  --green: #57b57c; --violet: #a385d6; --red: #e0685e; --grey: #6f7a88; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 24px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 0 0 2px; }
h3 { font-size: 15px; margin: 18px 0 2px; }
p { margin: 4px 0 10px; color: var(--dim); max-width: 78ch; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 16px 20px; margin-top: 18px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(125px, 1fr)); gap: 10px;
  margin-top: 18px; }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 10px 14px; }
.tiles b { display: block; font-size: 20px; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--dim); font-size: 13px; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--dim); font-size: 11px; font-variant-numeric: tabular-nums; }
svg .axis { font-size: 12px; }
.grid { stroke: var(--line); stroke-width: 1; }
.hit { fill: transparent; }
.column:hover .hit { fill: var(--line); fill-opacity: .55; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 13px; margin: 8px 0 4px; max-width: none; }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 2px;
  margin-right: 6px; }
rect.blue { fill: var(--blue); } i.blue { background: var(--blue); }
rect.pale { fill: var(--pale); } i.pale { background: var(--pale); }
rect.orange { fill: var(--orange); } i.orange { background: var(--orange); }
rect.green { fill: var(--green); } i.green { background: var(--green); }
rect.violet { fill: var(--violet); } i.violet { background: var(--violet); }
rect.red { fill: var(--red); } i.red { background: var(--red); }
rect.grey { fill: var(--grey); } i.grey { background: var(--grey); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; margin: 6px 0;
  font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--dim); }
th, td { padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; }
td { overflow-wrap: anywhere; }
code { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; }
summary { cursor: pointer; font-weight: 600; }
#tip { position: fixed; pointer-events: none; display: none; background: var(--ink);
  color: var(--card); padding: 6px 10px; border-radius: 6px; font-size: 13px; line-height: 1.4;
  white-space: pre-line; max-width: 420px; overflow-wrap: anywhere; z-index: 1; }
@media print { section { break-inside: avoid; } }
)";

// Shows the text of data-tip beside the pointer: below it if there is room, else above it.
constexpr std::string_view kPageScript = R"(
const tip = document.getElementById('tip');
document.addEventListener('pointermove', event => {
  const column = event.target.closest('[data-tip]');
  tip.style.display = column ? 'block' : 'none';
  if (!column) return;
  tip.textContent = column.dataset.tip;
  const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
  tip.style.left = Math.max(8, x) + 'px';
  tip.style.top = (below ? event.clientY + 18 : event.clientY - tip.offsetHeight - 10) + 'px';
});
)";

}  // namespace

std::string KeyPreview(const std::string& key) {
  const bool is_text =
      std::all_of(key.begin(), key.end(), [](char c) { return c >= ' ' && c <= '~'; });
  const std::string part = key.substr(0, kShownKeyBytes);
  return StrCat(is_text ? StrCat("'", part, "'") : HexText(part),
                part.size() < key.size() ? ".." : "");
}

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string CountWithNoun(uint64_t count, std::string_view noun) {
  return StrCat(CountText(count), " ", noun, count == 1 ? "" : "s");
}

HtmlTable::HtmlTable(const std::vector<std::string>& titles)
    : rows_("<div class=\"scroll\"><table><tr>") {
  assert(!titles.empty());
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
  assert(!html_.empty());  // called once
  html_ += "</main>\n<div id=\"tip\"></div>\n<script>";
  html_ += kPageScript;
  return std::move(html_ += "</script>\n</html>\n");
}

}  // namespace ashlar
