// SPDX-License-Identifier: Apache-2.0
//
// The input of a fuzz target as a source of numbers and texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ashlar {

// Takes bytes from the front; zeros after the end.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  uint8_t Byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::string Bytes(size_t count) {
    const size_t taken = std::min(count, left_);
    std::string bytes(reinterpret_cast<const char*>(data_), taken);
    data_ += taken;
    left_ -= taken;
    return bytes;
  }

 private:
  const uint8_t* data_;
  size_t left_;
};

}  // namespace ashlar
