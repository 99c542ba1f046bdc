// SPDX-License-Identifier: Apache-2.0
//
// HashList contains the hashes of a filter that is being built.
//
// It grows by pieces that are not moved, because a growing vector would temporarily need more than
// twice the memory. Threads: one at a time.
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
  // Removes all hashes but keeps the memory of the first piece, because there are many small
  // partitions.
  void Clear();

 private:
  static constexpr size_t kPieceHashes = size_t{32} << 10;
  // Makes room for one more hash.
  void AddPiece();
  uint64_t* PieceOf(size_t i) const {
    assert(i / kPieceHashes < pieces_.size());
    return reinterpret_cast<uint64_t*>(pieces_[i / kPieceHashes].data());
  }

  std::vector<PageBuffer> pieces_;
  size_t size_ = 0;
};

}  // namespace ashlar
