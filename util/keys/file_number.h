// SPDX-License-Identifier: Apache-2.0
//
// FileNumber names a file of a database: a log, a table, a MANIFEST, an OPTIONS file. All of them
// draw from one counter (VersionSet::NewFileNumber), so a greater number is a younger file.
//
// A type of its own, because numbers of files stand beside levels, sizes, sequence numbers and
// counts in many calls. A number that is computed must say that it is one, FileNumber{n}, which
// happens where bytes, names and the public structs are read; a constant in the code need not.
// Threads: a plain value.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>

namespace ashlar {

class FileNumber {
 public:
  constexpr FileNumber() = default;  // 0: no file
  constexpr explicit FileNumber(uint64_t value) : value_(value) {}
  template <std::integral T>
  consteval FileNumber(T constant) : value_(static_cast<uint64_t>(constant)) {}  // NOLINT

  // Above every number that a file may have (kMaxFileNumber).
  static constexpr FileNumber None() { return FileNumber{UINT64_MAX}; }

  constexpr uint64_t value() const { return value_; }
  constexpr FileNumber Next() const { return FileNumber{value_ + 1}; }

  friend constexpr bool operator==(FileNumber, FileNumber) = default;
  friend constexpr auto operator<=>(FileNumber, FileNumber) = default;

 private:
  uint64_t value_ = 0;
};

// RocksDB keeps two more bits beside the number. Names with larger numbers are not ours: to count
// on from them would lead back to numbers in use.
inline constexpr FileNumber kMaxFileNumber{(uint64_t{1} << 62) - 1};

}  // namespace ashlar

template <>
struct std::hash<ashlar::FileNumber> {
  size_t operator()(ashlar::FileNumber number) const noexcept {
    return std::hash<uint64_t>()(number.value());
  }
};
