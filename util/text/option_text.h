// SPDX-License-Identifier: Apache-2.0
//
// The text level of options: trimming, escapes, braces, lists and numbers. What the names mean is
// not known here. Syntax: docs/formats/options_file.md. Pure functions; input may be anything.
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

// Nesting of braces beyond this is refused, so that hostile text cannot exhaust the stack.
inline constexpr int kMaxOptionNesting = 32;

std::string_view TrimSpaces(std::string_view text);

// Without one pair of braces around the whole, and without spaces: "{a=b}" -> "a=b".
std::string StripBraces(std::string_view text);

bool HasPairedBraces(std::string_view text);

using NameValue = std::pair<std::string, std::string>;

// Splits "name=value;name={nested;};..." at the top level, in order. Braces around the whole text
// and around a value are taken off. A name without `=` is an error. A value that does not begin
// with a brace ends at the next semicolon, whatever it holds.
Status SplitOptions(std::string_view text, std::vector<NameValue>* options);

// Splits "a:b:{c:d}" at `separator` outside braces. An empty text has no items.
Status SplitList(std::string_view text, char separator, std::vector<std::string>* items);

// The escapes of the OPTIONS file: a backslash before backslash, '#' and ':'; \r and \n. Read, it
// may stand before any character; at the end of the text it means nothing.
std::string EscapeOptionString(std::string_view raw);
std::string UnescapeOptionString(std::string_view escaped);

// Numbers as RocksDB reads them: spaces, a sign, decimal digits and, right behind these, one of k,
// m, g, t in either case (powers of 1024). The number ends there, and what follows means nothing:
// "2MB" is 2 MiB, "1.5G" is 1, "0x100" is 0. A negative number given for an unsigned one counts
// down from 2^64. False if there are no digits, and on overflow.
bool ParseUint64Text(std::string_view text, uint64_t* value);
bool ParseInt64Text(std::string_view text, int64_t* value);
// Also with an exponent, or hexadecimal; likewise without what follows. False if it is not finite.
bool ParseDoubleText(std::string_view text, double* value);
// true, false, 1, 0.
bool ParseBoolText(std::string_view text, bool* value);
// Six decimals, as in "0.250000".
std::string DoubleText(double value);

// Takes the option `name`, if it is there, out of the map into *value.
Status TakeSizeOption(const std::string& name,
                      std::unordered_map<std::string, std::string>* options, size_t* value);

}  // namespace ashlar
