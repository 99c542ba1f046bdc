// SPDX-License-Identifier: Apache-2.0
//
// Charts as SVG for a page of HTML: columns and shares. Colours are CSS classes of the page, whose
// script shows the text of data-tip beside the pointer. Pure functions; every text is escaped here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar {

// Text escaped for HTML, also inside of attributes.
std::string HtmlText(std::string_view text);
// "12,345"; "3.4 KiB"; "17.3 %".
std::string CountText(uint64_t count);
std::string BytesText(double bytes);
std::string PercentText(double share);

struct ChartSeries {
  std::string name;            // for the legend
  std::string colour;          // CSS class
  std::vector<double> values;  // one for each column, none negative
};

struct ColumnChart {
  std::string title;  // for screen readers
  std::vector<ChartSeries> series;
  bool is_stacked = true;           // otherwise the columns of the series are side by side
  std::vector<std::string> labels;  // one for each column; as many are shown as there is room for
  std::vector<std::string> tips;    // one for each column, shown beside the pointer
  std::string x_title, y_title;
  double y_max = 0;                               // 0: as large as the values need
  std::string (*y_text)(double value) = nullptr;  // text of a value; null: a count
};

// A legend if there are several series, and the chart.
std::string DrawColumns(const ColumnChart& chart);

struct Share {
  std::string name;
  std::string colour;
  double value = 0;
  std::string text;  // the value as text
};
// One bar, divided in proportion to the values, and its legend. Shares of 0 are left out.
std::string DrawShares(const std::string& title, const std::vector<Share>& shares);

}  // namespace ashlar
