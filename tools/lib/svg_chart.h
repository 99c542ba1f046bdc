// SPDX-License-Identifier: Apache-2.0
//
// Charts as SVG inside a page of HTML: columns and shares. The page gives the colours, as CSS
// classes, and shows what stands in data-tip beside the pointer. Pure functions; every text is
// escaped here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar {

// Text for HTML, also inside of attributes.
std::string HtmlText(std::string_view text);
// "12,345"; "3.4 KiB"; "17.3 %".
std::string CountText(uint64_t count);
std::string BytesText(double bytes);
std::string PercentText(double share);

struct ChartSeries {
  std::string name;            // for the legend
  std::string colour;          // CSS class
  std::vector<double> values;  // one a column, none negative
};

struct ColumnChart {
  std::string title;  // what a screen reader says
  std::vector<ChartSeries> series;
  bool is_stacked = true;           // else the columns of the series stand side by side
  std::vector<std::string> labels;  // one a column; as many are shown as there is room for
  std::vector<std::string> tips;    // one a column
  std::string x_title, y_title;
  double y_max = 0;                               // 0: what the values need
  std::string (*y_text)(double value) = nullptr;  // null: a count
};

// A legend if there are several series, and the chart.
std::string DrawColumns(const ColumnChart& chart);

struct Share {
  std::string name;
  std::string colour;
  double value = 0;
  std::string text;  // the value for people
};
// One bar, cut in proportion, and its legend. Shares of nothing are left out.
std::string DrawShares(const std::string& title, const std::vector<Share>& shares);

}  // namespace ashlar
