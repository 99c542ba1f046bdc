// SPDX-License-Identifier: Apache-2.0
//
// All splitting is done in one pass over the text with a counter of braces, without recursion. The
// behaviour was compared with RocksDB 7.8.3, text by text: tests/data/options.
#include "util/text/option_text.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "ashlar/convenience.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r";

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// The position of the brace that closes the one at `open`, or npos if there is none.
size_t ClosingBrace(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{' && ++depth > kMaxOptionNesting) return std::string_view::npos;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// The text is user input of any length; the message shows its beginning.
Status BadText(const char* what, std::string_view text) {
  constexpr size_t kShown = 80;
  return Status::InvalidArgument(StrCat("options: ", what),
                                 EscapeBytes(Slice(text.substr(0, kShown))));
}

// Takes one value from `*position` up to `separator`, and removes braces around the whole value.
// Sets *position to the position after the separator. Only a value that begins with a brace is
// nested. In others, braces are ordinary characters, as in RocksDB.
Status TakeItem(std::string_view text, char separator, size_t* position, std::string* item) {
  assert(*position <= text.size());
  const size_t begin = *position;
  const size_t first = text.find_first_not_of(kSpaces, begin);
  size_t end = begin;
  // A plain value ends at the next separator.
  if (first == std::string_view::npos || text[first] != '{') {
    end = std::min(text.find(separator, begin), text.size());
    *item = TrimSpaces(text.substr(begin, end - begin));
    *position = end < text.size() ? end + 1 : end;
    return Status::OK();
  }
  while (end < text.size() && text[end] != separator) {
    if (text[end] == '}') return BadText("a closing brace without an opening one", text);
    if (text[end] == '{') {
      end = ClosingBrace(text, end);
      if (end == std::string_view::npos) return BadText("unbalanced or too deep braces", text);
    }
    ++end;
  }
  // Braces are removed only if the first one belongs to the last.
  std::string_view value = TrimSpaces(text.substr(begin, end - begin));
  if (!value.empty() && value.front() == '{' && ClosingBrace(value, 0) == value.size() - 1) {
    value = TrimSpaces(value.substr(1, value.size() - 2));
  }
  *item = value;
  *position = end < text.size() ? end + 1 : end;
  return Status::OK();
}

// Removes a sign from the front. Returns whether it was a minus.
bool TakeSign(std::string_view* text) {
  assert(text != nullptr);
  if (text->empty() || (text->front() != '-' && text->front() != '+')) return false;
  const bool is_negative = text->front() == '-';
  text->remove_prefix(1);
  return is_negative;
}

// Multiplies by the suffix directly after the digits. Returns false if the result does not fit.
bool ApplySuffix(std::string_view rest, uint64_t* value) {
  assert(value != nullptr);
  constexpr std::string_view kSuffixes = "kmgt";
  if (rest.empty()) return true;
  const size_t power = kSuffixes.find(static_cast<char>(std::tolower(rest[0])));
  if (power == std::string_view::npos) return true;  // no suffix; the number ends here
  const int shift = static_cast<int>(power + 1) * 10;
  if (*value > (std::numeric_limits<uint64_t>::max() >> shift)) return false;
  *value <<= shift;
  return true;
}

// Parses digits and a suffix, without a sign.
bool ParseMagnitude(std::string_view text, uint64_t* value) {
  assert(value != nullptr);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  if (error != std::errc()) return false;
  return ApplySuffix(std::string_view(stop, static_cast<size_t>(end - stop)), value);
}

}  // namespace

// Returns a part of `text`.
std::string_view TrimSpaces(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Only braces that enclose the whole text are removed: "{a}{b}" stays.
std::string StripBraces(std::string_view text) {
  text = TrimSpaces(text);
  while (!text.empty() && text.front() == '{' && ClosingBrace(text, 0) == text.size() - 1) {
    text = TrimSpaces(text.substr(1, text.size() - 2));
  }
  return std::string(text);
}

bool HasPairedBraces(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    depth += c == '{';
    depth -= c == '}';
    if (depth < 0) return false;
  }
  return depth == 0;
}

// Appends to `*options`; the items before an error stay there.
Status SplitOptions(std::string_view text, std::vector<NameValue>* options) {
  assert(options != nullptr);
  const std::string inner = StripBraces(text);
  const std::string_view rest = inner;
  size_t position = 0;
  // Spaces and empty items between options are skipped.
  while (position < rest.size()) {
    if (IsSpace(rest[position]) || rest[position] == ';') {
      ++position;
      continue;
    }
    const size_t equals = rest.find_first_of("=;", position);
    if (equals == std::string_view::npos || rest[equals] == ';') {
      return BadText("expected name=value, found", rest.substr(position));
    }
    const std::string_view name = TrimSpaces(rest.substr(position, equals - position));
    if (name.empty()) return BadText("an empty name before", rest.substr(position));
    // Otherwise unbalanced text could hide options.
    if (name.find_first_of("{}") != std::string_view::npos) {
      return BadText("expected a name, found a brace", rest.substr(position));
    }
    position = equals + 1;
    std::string value;
    Status status = TakeItem(rest, ';', &position, &value);
    if (!status.ok()) return status;
    options->emplace_back(name, std::move(value));
  }
  return Status::OK();
}

// Separators inside of braces do not separate.
Status SplitList(std::string_view text, char separator, std::vector<std::string>* items) {
  assert(items != nullptr);
  const std::string inner = StripBraces(text);
  size_t position = 0;
  while (position < inner.size()) {
    std::string item;
    Status status = TakeItem(inner, separator, &position, &item);
    if (!status.ok()) return status;
    items->push_back(std::move(item));
  }
  return Status::OK();
}

// The characters that have a meaning in an OPTIONS file are marked with a backslash.
std::string EscapeOptionString(std::string_view raw) {
  std::string escaped;
  for (char c : raw) {
    if (c == '\\' || c == '#' || c == ':') {
      escaped += '\\';
      escaped += c;
    } else if (c == '\r') {
      escaped += "\\r";
    } else if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// The inverse of EscapeOptionString().
std::string UnescapeOptionString(std::string_view escaped) {
  std::string raw;
  for (size_t i = 0; i < escaped.size(); ++i) {
    char c = escaped[i];
    if (c == '\\') {
      // A single backslash at the end is dropped.
      if (i + 1 == escaped.size()) break;
      c = escaped[++i];
      if (c == 'r') c = '\r';
      if (c == 'n') c = '\n';
    }
    raw += c;
  }
  return raw;
}

// The text may have a sign and a suffix such as "k", as in RocksDB.
bool ParseUint64Text(std::string_view text, uint64_t* value) {
  text = TrimSpaces(text);
  const bool is_negative = TakeSign(&text);
  if (!ParseMagnitude(text, value)) return false;
  // Two's complement: "-1" is the greatest number, as in RocksDB.
  if (is_negative) *value = ~*value + 1;
  return true;
}

bool ParseInt64Text(std::string_view text, int64_t* value) {
  text = TrimSpaces(text);
  const bool is_negative = TakeSign(&text);
  uint64_t magnitude = 0;
  if (!ParseMagnitude(text, &magnitude)) return false;
  const uint64_t limit = uint64_t{1} << 63;
  // The negative range has one number more.
  if (magnitude > (is_negative ? limit : limit - 1)) return false;
  *value = is_negative ? static_cast<int64_t>(~magnitude + 1) : static_cast<int64_t>(magnitude);
  return true;
}

// std::from_chars() accepts no plus sign, no spaces and no "0x", so these are removed first.
// Infinity and NaN are refused.
bool ParseDoubleText(std::string_view text, double* value) {
  text = TrimSpaces(text);
  const bool is_negative = TakeSign(&text);
  const bool is_hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (is_hex) text.remove_prefix(2);
  if (text.empty() || text.front() == '-') return false;
  const char* end = text.data() + text.size();
  const auto format = is_hex ? std::chars_format::hex : std::chars_format::general;
  if (std::from_chars(text.data(), end, *value, format).ec != std::errc()) return false;
  if (is_negative) *value = -*value;
  return std::isfinite(*value);
}

bool ParseBoolText(std::string_view text, bool* value) {
  text = TrimSpaces(text);
  if (text == "true" || text == "1") {
    *value = true;
    return true;
  }
  *value = false;
  return text == "false" || text == "0";
}

std::string DoubleText(double value) {
  // At most 309 digits before the point.
  char buffer[330];
  const int length = snprintf(buffer, sizeof(buffer), "%.6f", value);
  return std::string(buffer, static_cast<size_t>(length));
}

// A value that is no number is an error, and the map is unchanged then.
Status TakeSizeOption(const std::string& name,
                      std::unordered_map<std::string, std::string>* options, size_t* value) {
  assert(options != nullptr);
  const auto found = options->find(name);
  if (found == options->end()) return Status::OK();
  uint64_t parsed = 0;
  if (!ParseUint64Text(found->second, &parsed)) {
    return Status::InvalidArgument(StrCat(name, ": not a number"), found->second);
  }
  *value = static_cast<size_t>(parsed);
  options->erase(found);
  return Status::OK();
}

// Two public functions of convenience.h that need nothing else from the option tables.

Status StringToMap(const std::string& opts_str,
                   std::unordered_map<std::string, std::string>* opts_map) {
  std::vector<NameValue> options;
  Status status = SplitOptions(opts_str, &options);
  if (!status.ok()) return status;
  for (NameValue& option : options) (*opts_map)[option.first] = std::move(option.second);
  return Status::OK();
}

// Braces keep a semicolon or a leading brace within the value.
Status MapToString(const std::unordered_map<std::string, std::string>& opts_map,
                   std::string* opts_str) {
  assert(opts_str != nullptr);
  opts_str->clear();
  for (const auto& [name, value] : opts_map) {
    const bool needs_braces =
        value.find(';') != std::string::npos || (!value.empty() && value.front() == '{');
    StrAppend(opts_str, name, "=", needs_braces ? "{" : "", value, needs_braces ? "}" : "", ";");
  }
  return Status::OK();
}

}  // namespace ashlar
