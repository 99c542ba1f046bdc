// SPDX-License-Identifier: Apache-2.0
//
// Joining and printing pieces of text.
#include "util/text/str_cat.h"

#include <cassert>
#include <charconv>

namespace ashlar {

namespace {

constexpr char kUpperDigits[] = "0123456789ABCDEF";

void AppendHexByte(std::string* dst, char c) {
  assert(dst != nullptr);
  const unsigned byte = static_cast<unsigned char>(c);
  dst->push_back(kUpperDigits[byte >> 4]);
  dst->push_back(kUpperDigits[byte & 0xf]);
}

// The buffers are large enough for every number of their type.
// The part of `buffer` that std::to_chars has filled.
template <size_t size, typename... Number>
std::string_view Print(char (&buffer)[size], Number... number) {
  const std::to_chars_result result = std::to_chars(buffer, buffer + size, number...);
  return std::string_view(buffer, static_cast<size_t>(result.ptr - buffer));
}

}  // namespace

void TextPiece::Take(double value) { view_ = Print(buffer_, value, std::chars_format::general, 6); }
void TextPiece::Take(int64_t value) { view_ = Print(buffer_, value); }
void TextPiece::Take(uint64_t value) { view_ = Print(buffer_, value); }

// Reserves once for all pieces.
void StrAppendPieces(std::string* dst, std::initializer_list<std::string_view> pieces) {
  assert(dst != nullptr);
  size_t total = dst->size();
  for (const std::string_view piece : pieces) total += piece.size();
  dst->reserve(total);
  for (const std::string_view piece : pieces) dst->append(piece);
}

std::string Hex(uint64_t value) {
  char digits[16];
  return StrCat("0x", Print(digits, value, 16));
}

std::string HexBytes(const Slice& bytes) {
  std::string result;
  result.reserve(2 * bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) AppendHexByte(&result, bytes[i]);
  return result;
}

std::string EscapeBytes(const Slice& bytes) {
  std::string result;
  result.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c >= ' ' && c <= '~' && c != '\\') {
      result.push_back(c);
    } else {
      result.append("\\x");
      AppendHexByte(&result, c);
    }
  }
  return result;
}

}  // namespace ashlar
