// SPDX-License-Identifier: Apache-2.0
//
// FileNumber identifies a file of a database: a log, a table, a MANIFEST or an OPTIONS file. All
// get their numbers from one counter (VersionSet::NewFileNumber), so that a file with a greater
// number is newer.
//
// It is a separate type because file numbers are used together with levels, sizes, sequence numbers
// and counts. A computed value must be converted explicitly, FileNumber{n}; that happens where
// bytes, names and public structs are read. A constant in the code is converted implicitly.
// Threads: a value.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>

namespace ashlar {

class FileNumber {
 public:
  constexpr FileNumber() = default;  // 0 means no file
  constexpr explicit FileNumber(uint64_t value) : value_(value) {}
  template <std::integral T>
  consteval FileNumber(T constant) : value_(static_cast<uint64_t>(constant)) {}  // NOLINT

  // Greater than every number that a file may have (kMaxFileNumber).
  static constexpr FileNumber None() { return FileNumber{UINT64_MAX}; }

  constexpr uint64_t value() const { return value_; }
  constexpr FileNumber Next() const { return FileNumber{value_ + 1}; }

  friend constexpr bool operator==(FileNumber, FileNumber) = default;
  friend constexpr auto operator<=>(FileNumber, FileNumber) = default;

 private:
  uint64_t value_ = 0;
};

// RocksDB stores two more bits together with the number. Greater numbers in file names are not
// ours; counting on from them would lead to numbers that are in use.
inline constexpr FileNumber kMaxFileNumber{(uint64_t{1} << 62) - 1};

}  // namespace ashlar

template <>
struct std::hash<ashlar::FileNumber> {
  size_t operator()(ashlar::FileNumber number) const noexcept {
    return std::hash<uint64_t>()(number.value());
  }
};
