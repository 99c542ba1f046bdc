// SPDX-License-Identifier: Apache-2.0
//
// StrCat(a, b, ...) joins strings, slices, characters and numbers with one allocation, mostly for
// error messages. Hex(n) prints a number as 0x..., HexBytes(slice) prints bytes. Threads: pure
// functions. The functions are marked as cold, so that the branches that call them are compiled for
// size and placed away from hot code.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "ashlar/slice.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"

namespace ashlar {

// An argument of StrCat as text. A string is borrowed, a number is printed into the small buffer.
// Exists only as an argument.
class TextPiece {
 public:
  TextPiece(const char* text) : view_(text) {}                       // NOLINT
  TextPiece(std::string_view text) : view_(text) {}                  // NOLINT
  TextPiece(const std::string& text) : view_(text) {}                // NOLINT
  TextPiece(const Slice& text) : view_(text.data(), text.size()) {}  // NOLINT
  TextPiece(bool value) : view_(value ? "true" : "false") {}         // NOLINT
  TextPiece(char c) : buffer_{c}, view_(buffer_, 1) {}               // NOLINT
  TextPiece(double value) { Take(value); }                           // NOLINT
  TextPiece(FileNumber number) : TextPiece(number.value()) {}        // NOLINT
  TextPiece(Level level) : TextPiece(static_cast<int>(level)) {}     // NOLINT
  template <std::integral T>
  TextPiece(T value) {  // NOLINT
    using Widest = std::conditional_t<std::signed_integral<T>, int64_t, uint64_t>;
    Take(static_cast<Widest>(value));
  }
  TextPiece(const TextPiece&) = delete;
  TextPiece& operator=(const TextPiece&) = delete;

  std::string_view view() const { return view_; }

 private:
  [[gnu::cold]] void Take(double value);
  [[gnu::cold]] void Take(int64_t value);
  [[gnu::cold]] void Take(uint64_t value);

  char buffer_[32];
  std::string_view view_;
};

[[gnu::cold]] void StrAppendPieces(std::string* dst,
                                   std::initializer_list<std::string_view> pieces);

template <typename... Pieces>
void StrAppend(std::string* dst, const Pieces&... pieces) {
  StrAppendPieces(dst, {TextPiece(pieces).view()...});
}
template <typename... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string result;
  StrAppendPieces(&result, {TextPiece(pieces).view()...});
  return result;
}

std::string Hex(uint64_t value);           // 0x1f
std::string HexBytes(const Slice& bytes);  // 00FF7A
// Bytes that are not printable ASCII, and backslashes, are shown as \xNN.
std::string EscapeBytes(const Slice& bytes);

}  // namespace ashlar
