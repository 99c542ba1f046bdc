// SPDX-License-Identifier: Apache-2.0
//
// Joining and printing pieces of text.
#include "util/text/str_cat.h"

#include <cassert>
#include <charconv>
#include <cstdarg>
#include <string_view>

namespace ashlar {

namespace {

constexpr char kUpperDigits[] = "0123456789ABCDEF";

void AppendHexByte(std::string* dst, char c) {
  assert(dst != nullptr);
  const unsigned byte = static_cast<unsigned char>(c);
  dst->push_back(kUpperDigits[byte >> 4]);
  dst->push_back(kUpperDigits[byte & 0xf]);
}

// Prints the number and returns the part of `buffer` that std::to_chars has filled. Callers provide
// a buffer that is large enough for every number of the type.
template <size_t size, typename... Number>
std::string_view Print(char (&buffer)[size], Number... number) {
  const std::to_chars_result result = std::to_chars(buffer, buffer + size, number...);
  return std::string_view(buffer, static_cast<size_t>(result.ptr - buffer));
}

// Takes a piece of the kind from the arguments. Numbers are printed into `buffer`.
template <size_t size>
std::string_view TakePiece(PieceKind kind, std::va_list* args, char (&buffer)[size]) {
  switch (kind) {
    case PieceKind::kNone: break;
    case PieceKind::kText: return va_arg(*args, const char*);
    case PieceKind::kString: return *va_arg(*args, const std::string*);
    case PieceKind::kSlice: return va_arg(*args, const Slice*)->ToStringView();
    case PieceKind::kView: return *va_arg(*args, const std::string_view*);
    case PieceKind::kChar:
      buffer[0] = static_cast<char>(va_arg(*args, int));
      return std::string_view(buffer, 1);
    case PieceKind::kSigned: return Print(buffer, va_arg(*args, int64_t));
    case PieceKind::kUnsigned: return Print(buffer, va_arg(*args, uint64_t));
    case PieceKind::kDouble:
      return Print(buffer, va_arg(*args, double), std::chars_format::general, 6);
  }
  return std::string_view();
}

// Reserves once for all pieces.
void AppendPieces(std::string* dst, uint64_t kinds, uint64_t more_kinds, std::va_list* args) {
  assert(dst != nullptr);
  assert(kinds != 0 || more_kinds == 0);
  constexpr uint64_t kDigit = (uint64_t{1} << kPieceKindBits) - 1;
  char numbers[kMaxPieces][32];
  std::string_view pieces[kMaxPieces];
  size_t count = 0;
  size_t total = dst->size();
  while (kinds != 0) {
    pieces[count] = TakePiece(static_cast<PieceKind>(kinds & kDigit), args, numbers[count]);
    total += pieces[count].size();
    ++count;
    kinds >>= kPieceKindBits;
    if (count == kPiecesPerWord) kinds = more_kinds;
  }
  dst->reserve(total);
  for (size_t i = 0; i < count; ++i) dst->append(pieces[i]);
}

}  // namespace

void StrAppendPieces(std::string* dst, uint64_t kinds, ...) {
  std::va_list args;
  va_start(args, kinds);
  AppendPieces(dst, kinds, 0, &args);
  va_end(args);
}

void StrAppendManyPieces(std::string* dst, uint64_t kinds, uint64_t more_kinds, ...) {
  std::va_list args;
  va_start(args, more_kinds);
  AppendPieces(dst, kinds, more_kinds, &args);
  va_end(args);
}

std::string StrCatPieces(uint64_t kinds, ...) {
  std::string result;
  std::va_list args;
  va_start(args, kinds);
  AppendPieces(&result, kinds, 0, &args);
  va_end(args);
  return result;
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

// Printable characters stay, all other bytes become \xNN, so a message is a single line whatever
// the bytes are.
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
