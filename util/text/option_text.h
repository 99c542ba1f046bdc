// SPDX-License-Identifier: Apache-2.0
//
// The text level of options: trimming, escapes, braces, lists and numbers, without knowing the
// names. Syntax: docs/formats/options_file.md. Pure functions; the input may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/status.h"

namespace ashlar {

// Deeper nesting of braces is refused, so that hostile text cannot exhaust the stack.
inline constexpr int kMaxOptionNesting = 32;

// Removes spaces at both ends. The result refers to `text`.
std::string_view TrimSpaces(std::string_view text);

// Removes one pair of braces around the whole text, and spaces: "{a=b}" -> "a=b".
std::string StripBraces(std::string_view text);

// Whether the braces are balanced and none closes before it opens.
bool HasPairedBraces(std::string_view text);

// In the order of the text. Names have no spaces around them.
using NameValue = std::pair<std::string, std::string>;

// Splits "name=value;name={nested;};..." at the top level, in order. Braces around the whole text
// and around a value are removed. A name without `=` is an error. A value that does not begin with
// a brace ends at the next semicolon, whatever it contains.
Status SplitOptions(std::string_view text, std::vector<NameValue>* options);

// Splits "a:b:{c:d}" at `separator` outside of braces. An empty text has no items.
Status SplitList(std::string_view text, char separator, std::vector<std::string>* items);

// The escapes of the OPTIONS file: a backslash before backslash, '#' and ':', and \r and \n. When
// text is read, a backslash may be before any character; at the end of the text it is ignored.
std::string EscapeOptionString(std::string_view raw);
std::string UnescapeOptionString(std::string_view escaped);

// Numbers as RocksDB reads them: spaces, a sign, decimal digits, and directly after them one of k,
// m, g, t in either case (powers of 1024). The number ends there, and the rest is ignored: "2MB" is
// 2 MiB, "1.5G" is 1, "0x100" is 0. If an unsigned number is negative, it counts down from 2^64.
// Returns false if there are no digits, and on overflow.
bool ParseUint64Text(std::string_view text, uint64_t* value);
bool ParseInt64Text(std::string_view text, int64_t* value);
// Also with an exponent or in hexadecimal; the rest is ignored as well. Returns false if the number
// is not finite.
bool ParseDoubleText(std::string_view text, double* value);
// "true", "false", "1" or "0". Returns false for anything else.
bool ParseBoolText(std::string_view text, bool* value);
// Six decimals, as in "0.250000".
std::string DoubleText(double value);

// If the map contains the option `name`, moves it out of the map into *value. InvalidArgument if it
// is not a number.
Status TakeSizeOption(const std::string& name,
                      std::unordered_map<std::string, std::string>* options, size_t* value);

}  // namespace ashlar
