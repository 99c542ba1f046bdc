// SPDX-License-Identifier: Apache-2.0
//
// What the page of a report says in words and rows, apart from its charts.
#include "tools/sst_dump/report_text.h"

#include <algorithm>

#include "db/options/option_values.h"
#include "tools/lib/html_page.h"
#include "tools/lib/key_text.h"
#include "tools/lib/svg_chart.h"
#include "util/text/str_cat.h"

namespace ashlar {
std::string CompressionShown(CompressionType type) {
  std::string name;
  PrintEnum(PrintContext(), EnumNames(type), type, &name);
  if (name.starts_with('k')) name.erase(0, 1);
  const size_t suffix = name.find("Compression");
  if (suffix != std::string::npos && suffix != 0) name.resize(suffix);
  return name == "No" ? "none" : name;
}

std::string TombstoneList(const TableSurvey& survey) {
  if (survey.tombstones.empty()) return std::string();
  std::string html =
      "<div class=\"scroll\"><table><tr><th>from</th><th>to, exclusive</th>"
      "<th class=\"n\">sequence number</th><th class=\"n\">over blocks</th></tr>\n";
  for (const SurveyedTombstone& tombstone : survey.tombstones) {
    const size_t blocks =
        tombstone.blocks_end - std::min(tombstone.first_block, tombstone.blocks_end);
    StrAppend(&html, "<tr><td><code>", HtmlText(KeyShown(tombstone.begin)),
              "</code></td><td><code>", HtmlText(KeyShown(tombstone.end)),
              "</code></td><td class=\"n\">", tombstone.seqno, "</td><td class=\"n\">",
              CountText(blocks), "</td></tr>\n");
  }
  html += "</table></div>\n";
  const uint64_t rest = survey.tombstone_count - survey.tombstones.size();
  if (rest != 0) StrAppend(&html, "<p>and ", CountText(rest), " more</p>\n");
  return html;
}

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

}  // namespace ashlar
