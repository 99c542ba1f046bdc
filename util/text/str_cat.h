// SPDX-License-Identifier: Apache-2.0
//
// StrCat(a, b, ...) joins strings, slices, characters and numbers with one allocation, mostly for
// error messages. Hex(n) prints a number as 0x..., HexBytes(slice) prints bytes. Threads: pure
// functions. The functions are marked as cold, so that the branches that call them are compiled for
// size and placed away from hot code. Hundreds of calls make texts, so a call is as short as that
// of a C function: it passes addresses and numbers, and one number that says what they are.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "ashlar/slice.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"

namespace ashlar {

// What a piece is; a digit of the number that describes the arguments of StrAppendPieces().
enum class PieceKind : uint64_t {
  kNone,      // behind the last piece
  kText,      // const char*
  kString,    // const std::string*
  kSlice,     // const Slice*
  kView,      // const std::string_view*
  kChar,      // int
  kSigned,    // int64_t
  kUnsigned,  // uint64_t
  kDouble,    // double
};
inline constexpr int kPieceKindBits = 4;
// Of one word of kinds; a call may have two words.
inline constexpr size_t kPiecesPerWord = 64 / kPieceKindBits;
inline constexpr size_t kMaxPieces = 2 * kPiecesPerWord;

template <typename T>
constexpr PieceKind KindOfPiece() {
  if constexpr (std::is_same_v<T, std::string>) {
    return PieceKind::kString;
  } else if constexpr (std::is_base_of_v<Slice, T>) {
    return PieceKind::kSlice;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return PieceKind::kView;
  } else if constexpr (std::is_same_v<T, char>) {
    return PieceKind::kChar;
  } else if constexpr (std::is_same_v<T, bool> || std::is_convertible_v<const T&, const char*>) {
    return PieceKind::kText;
  } else if constexpr (std::floating_point<T>) {
    return PieceKind::kDouble;
  } else if constexpr (std::signed_integral<T> || std::is_same_v<T, Level>) {
    return PieceKind::kSigned;
  } else {
    static_assert(std::unsigned_integral<T> || std::is_same_v<T, FileNumber>,
                  "StrCat cannot print this type");
    return PieceKind::kUnsigned;
  }
}

// A piece as an argument of StrAppendPieces(). What it points to belongs to the caller of StrCat().
template <typename T>
auto PassPiece(const T& piece) {
  constexpr PieceKind kKind = KindOfPiece<T>();
  if constexpr (kKind == PieceKind::kString || kKind == PieceKind::kView) {
    return &piece;
  } else if constexpr (kKind == PieceKind::kSlice) {
    return static_cast<const Slice*>(&piece);
  } else if constexpr (std::is_same_v<T, bool>) {
    return piece ? "true" : "false";
  } else if constexpr (kKind == PieceKind::kText) {
    return static_cast<const char*>(piece);
  } else if constexpr (kKind == PieceKind::kChar) {
    return static_cast<int>(piece);
  } else if constexpr (kKind == PieceKind::kDouble) {
    return static_cast<double>(piece);
  } else if constexpr (std::is_same_v<T, Level>) {
    return static_cast<int64_t>(static_cast<int>(piece));
  } else if constexpr (std::is_same_v<T, FileNumber>) {
    return static_cast<uint64_t>(piece.value());
  } else {
    return static_cast<std::conditional_t<kKind == PieceKind::kSigned, int64_t, uint64_t>>(piece);
  }
}

// The kinds of up to a word of pieces, from piece number `first`, which has the lowest digit.
template <typename... Pieces>
constexpr uint64_t KindsOfPieces(size_t first) {
  static_assert(sizeof...(Pieces) <= kMaxPieces, "too many pieces for one StrCat");
  uint64_t kinds = 0;
  size_t i = 0;
  [[maybe_unused]] const auto add = [&](PieceKind kind) {
    if (i >= first && i < first + kPiecesPerWord) {
      kinds |= static_cast<uint64_t>(kind) << (kPieceKindBits * (i - first));
    }
    ++i;
  };
  (add(KindOfPiece<Pieces>()), ...);
  return kinds;
}

// `kinds` describes the arguments behind it, of the longer form the first 16, and `more_kinds` the
// others. No piece may be part of `dst`.
[[gnu::cold]] void StrAppendPieces(std::string* dst, uint64_t kinds, ...);
[[gnu::cold]] void StrAppendManyPieces(std::string* dst, uint64_t kinds, uint64_t more_kinds, ...);
[[gnu::cold]] std::string StrCatPieces(uint64_t kinds, ...);

template <typename... Pieces>
[[gnu::always_inline]] inline void StrAppend(std::string* dst, const Pieces&... pieces) {
  constexpr uint64_t kKinds = KindsOfPieces<Pieces...>(0);
  if constexpr (sizeof...(Pieces) <= kPiecesPerWord) {
    StrAppendPieces(dst, kKinds, PassPiece(pieces)...);
  } else {
    constexpr uint64_t kMoreKinds = KindsOfPieces<Pieces...>(kPiecesPerWord);
    StrAppendManyPieces(dst, kKinds, kMoreKinds, PassPiece(pieces)...);
  }
}
template <typename... Pieces>
[[gnu::always_inline]] inline std::string StrCat(const Pieces&... pieces) {
  if constexpr (sizeof...(Pieces) <= kPiecesPerWord) {
    constexpr uint64_t kKinds = KindsOfPieces<Pieces...>(0);
    return StrCatPieces(kKinds, PassPiece(pieces)...);
  } else {
    std::string result;
    StrAppend(&result, pieces...);
    return result;
  }
}

std::string Hex(uint64_t value);           // 0x1f
std::string HexBytes(const Slice& bytes);  // 00FF7A
// Bytes that are not printable ASCII, and backslashes, are shown as \xNN.
std::string EscapeBytes(const Slice& bytes);

}  // namespace ashlar
