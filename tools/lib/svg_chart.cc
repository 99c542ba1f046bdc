// SPDX-License-Identifier: Apache-2.0
//
// Coordinates are in a view box of width kWidth, which the page scales to its own width.
#include "tools/lib/svg_chart.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <utility>

#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr double kWidth = 960, kHeight = 240;
constexpr double kLeft = 74, kRight = 24, kTop = 12, kBottom = 46;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kPlotHeight = kHeight - kTop - kBottom;
constexpr double kCharacterWidth = 6.6;  // in labels

std::string Fixed(double value, int digits) {
  assert(digits >= 0);
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}
// A tenth of a unit is finer than a screen shows.
std::string Px(double value) { return Fixed(value, 1); }

// The step between grid lines: 1, 2 or 5 times a power of ten, about four of them up to `max`.
double GridStep(double max, bool is_count) {
  assert(max > 0);
  const double power = std::pow(10, std::floor(std::log10(max / 4)));
  const double factor = max / 4 / power;
  const double step = power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
  return is_count ? std::max(1.0, step) : step;
}

// The height that the chart needs: the highest sum of a stacked column, or the highest single
// value.
double HighestColumn(const ColumnChart& chart) {
  double highest = 0;
  for (size_t i = 0; i < chart.labels.size(); ++i) {
    double sum = 0;
    for (const ChartSeries& series : chart.series) {
      sum = chart.is_stacked ? sum + series.values[i] : std::max(sum, series.values[i]);
    }
    highest = std::max(highest, sum);
  }
  return highest;
}

// `names` are pairs of text and CSS class.
std::string Legend(const std::vector<std::pair<std::string, std::string>>& names) {
  std::string text = "<p class=\"legend\">";
  for (const auto& [name, colour] : names) {
    StrAppend(&text, "<span><i class=\"", colour, "\"></i>", HtmlText(name), "</span>");
  }
  return text + "</p>\n";
}

std::string Rectangle(double x, double y, double width, double height, std::string_view colour) {
  assert(width >= 0 && height >= 0);
  return StrCat("<rect class=\"", colour, "\" x=\"", Px(x), "\" y=\"", Px(y), "\" width=\"",
                Px(width), "\" height=\"", Px(height), "\"/>");
}

// `anchor` says which part of the text is at x: "start", "middle" or "end".
std::string Label(double x, double y, std::string_view anchor, std::string_view text) {
  assert(anchor == "start" || anchor == "middle" || anchor == "end");
  return StrCat("<text x=\"", Px(x), "\" y=\"", Px(y), "\" text-anchor=\"", anchor, "\">",
                HtmlText(text), "</text>");
}

// Draws the columns, a transparent rectangle behind each that reacts to the pointer, and the axes.
class ColumnDrawing {
 public:
  // A given y_max is the top of the chart as it is; a top that follows from the values is rounded
  // up to a grid line.
  explicit ColumnDrawing(const ColumnChart& chart)
      : chart_(chart),
        column_width_(kPlotWidth / static_cast<double>(std::max<size_t>(1, chart.labels.size()))) {
    const double highest = std::max(chart.y_max, HighestColumn(chart));
    step_ = GridStep(highest > 0 ? highest : 1, chart.y_text == nullptr);
    top_value_ = chart.y_max > 0 ? highest : std::ceil(highest / step_) * step_;
    if (top_value_ <= 0) top_value_ = step_;
    assert(step_ > 0 && top_value_ > 0);
  }

  std::string Draw() const {
    std::string svg = StrCat("<svg viewBox=\"0 0 ", Px(kWidth), " ", Px(kHeight),
                             "\" role=\"img\" aria-label=\"", HtmlText(chart_.title), "\">");
    svg += Grid();
    for (size_t i = 0; i < chart_.labels.size(); ++i) svg += Column(i);
    return svg + Labels() + "</svg>\n";
  }

 private:
  double HeightOf(double value) const { return value / top_value_ * kPlotHeight; }
  double LeftOf(size_t column) const { return kLeft + column_width_ * static_cast<double>(column); }

  // The horizontal lines with their values, and the titles of both axes. The factor 1.001 lets
  // rounding errors not lose the topmost line.
  std::string Grid() const {
    std::string svg;
    for (double value = 0; value <= top_value_ * 1.001; value += step_) {
      const double y = kTop + kPlotHeight - HeightOf(value);
      StrAppend(&svg, "<line class=\"grid\" x1=\"", Px(kLeft), "\" x2=\"", Px(kWidth - kRight),
                "\" y1=\"", Px(y), "\" y2=\"", Px(y), "\"/>");
      const std::string text = chart_.y_text != nullptr
                                   ? chart_.y_text(value)
                                   : CountText(static_cast<uint64_t>(std::llround(value)));
      svg += Label(kLeft - 6, y + 4, "end", text);
    }
    const double middle = kTop + kPlotHeight / 2;
    StrAppend(&svg, "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(12 ",
              Px(middle), ") rotate(-90)\">", HtmlText(chart_.y_title), "</text>",
              "<text class=\"axis\" text-anchor=\"middle\" x=\"", Px(kLeft + kPlotWidth / 2),
              "\" y=\"", Px(kHeight - 6), "\">", HtmlText(chart_.x_title), "</text>");
    return svg;
  }

  // One column: the transparent rectangle first, so that the pointer reacts to the full height,
  // then the values from the bottom up or side by side.
  std::string Column(size_t i) const {
    assert(i < chart_.labels.size());
    const double gap = std::min(2.0, column_width_ * 0.15);
    const double inner = column_width_ - gap;
    const auto count = static_cast<double>(chart_.series.size());
    double x = LeftOf(i) + gap / 2;
    double base = kTop + kPlotHeight;
    std::string svg = StrCat("<g class=\"column\" data-tip=\"", HtmlText(chart_.tips[i]), "\">");
    svg += Rectangle(LeftOf(i), kTop, column_width_, kPlotHeight, "hit");
    for (const ChartSeries& series : chart_.series) {
      const double height = HeightOf(series.values[i]);
      if (height > 0) {
        const double visible = std::max(height, 0.8);  // small values stay visible
        svg += Rectangle(x, base - visible, chart_.is_stacked ? inner : inner / count, visible,
                         series.colour);
      }
      if (chart_.is_stacked) {
        base -= height;
      } else {
        x += inner / count;
      }
    }
    return svg + "</g>";
  }

  // Every n-th label, so that they do not overlap.
  std::string Labels() const {
    size_t longest = 1;
    for (const std::string& label : chart_.labels) longest = std::max(longest, label.size());
    const double needed = kCharacterWidth * static_cast<double>(longest) + 12;
    const auto every = static_cast<size_t>(std::max(1.0, std::ceil(needed / column_width_)));
    std::string svg;
    for (size_t i = 0; i < chart_.labels.size(); i += every) {
      svg +=
          Label(LeftOf(i) + column_width_ / 2, kTop + kPlotHeight + 16, "middle", chart_.labels[i]);
    }
    return svg;
  }

  const ColumnChart& chart_;
  const double column_width_;
  double step_ = 1;
  double top_value_ = 1;
};

}  // namespace

// Escapes a text so that it may stand in an element or in an attribute in double quotes. Keys and
// names of families come from the user's database, so they may contain any byte.
std::string HtmlText(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\n': result += "&#10;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string CountText(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

// Whole numbers and those of three digits have no decimal place.
std::string BytesText(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  const bool is_whole = unit == 0 || bytes >= 100 || bytes == std::floor(bytes);
  return StrCat(Fixed(bytes, is_whole ? 0 : 1), " ", kUnits[unit]);
}

std::string PercentText(double share) {
  assert(!(share < 0));  // it is no number if there is nothing to share
  const double percent = share * 100;
  return StrCat(Fixed(percent, percent == std::floor(percent) ? 0 : percent < 1 ? 3 : 1), " %");
}

std::string DrawColumns(const ColumnChart& chart) {
  assert(chart.tips.size() == chart.labels.size());
  std::vector<std::pair<std::string, std::string>> names;
  for (const ChartSeries& series : chart.series) {
    assert(series.values.size() == chart.labels.size());
    names.emplace_back(series.name, series.colour);
  }
  return (names.size() > 1 ? Legend(names) : std::string()) + ColumnDrawing(chart).Draw();
}

// A bar that is divided among the shares. A share that is greater than 0 is at least one pixel
// wide, so that it can be seen and pointed at. Empty if all shares are 0.
std::string DrawShares(const std::string& title, const std::vector<Share>& shares) {
  double sum = 0;
  for (const Share& share : shares) sum += share.value;
  if (sum <= 0) return std::string();
  constexpr double kBarHeight = 34;
  std::string svg = StrCat("<svg viewBox=\"0 0 ", Px(kWidth), " ", Px(kBarHeight),
                           "\" role=\"img\" aria-label=\"", HtmlText(title), "\">");
  std::vector<std::pair<std::string, std::string>> names;
  double x = 0;
  for (const Share& share : shares) {
    if (share.value <= 0) continue;
    const double width = share.value / sum * kWidth;
    const std::string text =
        StrCat(share.name, " ", share.text, ", ", PercentText(share.value / sum));
    StrAppend(&svg, "<g class=\"column\" data-tip=\"", HtmlText(text), "\">",
              Rectangle(x, 0, std::max(width, 1.0), kBarHeight, share.colour), "</g>");
    names.emplace_back(text, share.colour);
    x += width;
  }
  return svg + "</svg>\n" + Legend(names);
}

}  // namespace ashlar
