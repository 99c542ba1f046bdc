// SPDX-License-Identifier: Apache-2.0
//
// HashList holds the hashes of a filter that is being built.
//
// It grows by pieces that stay where they are: a vector would hold everything twice, and more, each
// time it grows. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/memory/page_buffer.h"

namespace ashlar {

class HashList {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  uint64_t operator[](size_t i) const {
    assert(i < size_);
    return PieceOf(i)[i % kPieceHashes];
  }
  uint64_t& operator[](size_t i) {
    assert(i < size_);
    return PieceOf(i)[i % kPieceHashes];
  }
  uint64_t back() const {
    assert(size_ != 0);
    return (*this)[size_ - 1];
  }
  void push_back(uint64_t hash) {
    if (size_ % kPieceHashes == 0) [[unlikely]]
      AddPiece();
    PieceOf(size_)[size_ % kPieceHashes] = hash;
    ++size_;
  }
  // Keeps the memory of a first piece: partitions of a filter are many and small.
  void Clear();

 private:
  static constexpr size_t kPieceHashes = size_t{32} << 10;
  void AddPiece();
  uint64_t* PieceOf(size_t i) const {
    assert(i / kPieceHashes < pieces_.size());
    return reinterpret_cast<uint64_t*>(pieces_[i / kPieceHashes].data());
  }

  std::vector<PageBuffer> pieces_;
  size_t size_ = 0;
};

}  // namespace ashlar
