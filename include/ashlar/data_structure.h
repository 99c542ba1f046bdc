// SPDX-License-Identifier: Apache-2.0
//
// SmallEnumSet: a set of enumerators, stored as bits in a few words, without allocation.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace ashlar {

// The values of ENUM_TYPE must be in [0, MAX_ENUMERATOR].
template <typename ENUM_TYPE, ENUM_TYPE MAX_ENUMERATOR>
class SmallEnumSet {
 private:
  using WordType = uint64_t;
  static constexpr int kWordBits = 64;
  static constexpr int kCount = static_cast<int>(MAX_ENUMERATOR) + 1;
  static constexpr int kWordCount = (kCount + kWordBits - 1) / kWordBits;
  static_assert(kCount > 0, "enumerators must not be negative");

 public:
  constexpr SmallEnumSet() : state_{} {}

  template <class... TRest>
  constexpr /*implicit*/ SmallEnumSet(const ENUM_TYPE e, TRest... rest) : state_{} {  // NOLINT
    *this = With(e, rest...);
  }

  static constexpr SmallEnumSet All() {
    SmallEnumSet result;
    for (int i = 0; i < kCount; ++i) result.state_[i / kWordBits] |= WordType{1} << (i % kWordBits);
    return result;
  }

  bool operator==(const SmallEnumSet& that) const {
    for (int i = 0; i < kWordCount; ++i) {
      if (state_[i] != that.state_[i]) return false;
    }
    return true;
  }
  bool operator!=(const SmallEnumSet& that) const { return !(*this == that); }

  bool Contains(const ENUM_TYPE e) const { return (Word(e) & Bit(e)) != 0; }
  bool empty() const { return count() == 0; }
  size_t count() const {
    size_t result = 0;
    for (int i = 0; i < kCount; ++i) result += HasIndex(i) ? 1 : 0;
    return result;
  }

  // Iterates in ascending order of the enumerators.
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = ENUM_TYPE;
    using difference_type = std::ptrdiff_t;
    using pointer = const ENUM_TYPE*;
    using reference = ENUM_TYPE;

    const_iterator(const const_iterator& that) = default;
    const_iterator(const_iterator&& that) noexcept = default;
    const_iterator& operator=(const const_iterator& that) = default;
    const_iterator& operator=(const_iterator&& that) noexcept = default;

    bool operator==(const const_iterator& that) const { return index_ == that.index_; }
    bool operator!=(const const_iterator& that) const { return index_ != that.index_; }
    const_iterator& operator++() {
      do {
        ++index_;
      } while (index_ < kCount && !set_->HasIndex(index_));
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++*this;
      return before;
    }
    ENUM_TYPE operator*() const {
      assert(index_ < kCount);
      return static_cast<ENUM_TYPE>(index_);
    }

   private:
    friend class SmallEnumSet;
    const_iterator(const SmallEnumSet* set, int index) : set_(set), index_(index) {}
    const SmallEnumSet* set_;
    int index_;
  };

  const_iterator begin() const {
    const_iterator result(this, -1);
    return ++result;
  }
  const_iterator end() const { return const_iterator(this, kCount); }

  // Add() and Remove() return whether the set has changed.
  bool Add(const ENUM_TYPE e) {
    const bool was_present = Contains(e);
    Word(e) |= Bit(e);
    return !was_present;
  }
  bool Remove(const ENUM_TYPE e) {
    const bool was_present = Contains(e);
    Word(e) &= ~Bit(e);
    return was_present;
  }

  constexpr SmallEnumSet With(const ENUM_TYPE e) const {
    SmallEnumSet result = *this;
    result.Word(e) |= Bit(e);
    return result;
  }
  template <class... TRest>
  constexpr SmallEnumSet With(const ENUM_TYPE e1, const ENUM_TYPE e2, TRest... rest) const {
    return With(e1).With(e2, rest...);
  }
  constexpr SmallEnumSet Without(const ENUM_TYPE e) const {
    SmallEnumSet result = *this;
    result.Word(e) &= ~Bit(e);
    return result;
  }
  template <class... TRest>
  constexpr SmallEnumSet Without(const ENUM_TYPE e1, const ENUM_TYPE e2, TRest... rest) const {
    return Without(e1).Without(e2, rest...);
  }

 private:
  static constexpr WordType Bit(ENUM_TYPE e) {
    return WordType{1} << (static_cast<unsigned>(e) % kWordBits);
  }
  constexpr WordType& Word(ENUM_TYPE e) { return state_[static_cast<unsigned>(e) / kWordBits]; }
  constexpr const WordType& Word(ENUM_TYPE e) const {
    return state_[static_cast<unsigned>(e) / kWordBits];
  }
  bool HasIndex(int index) const {
    return (state_[index / kWordBits] >> (index % kWordBits) & 1) != 0;
  }

  WordType state_[kWordCount];
};

}  // namespace ashlar
