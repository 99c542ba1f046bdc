// SPDX-License-Identifier: Apache-2.0
//
// LoopDisk: a file system of a wanted kind in a file, mounted for the life of the object. Needs
// root, loop devices and the mkfs of that kind. Threads: one.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar {

class LoopDisk {
 public:
  // For example "mkfs.xfs -q -m reflink=1", 300 << 20. See dir() for whether it worked.
  LoopDisk(const std::string& mkfs, uint64_t bytes);
  ~LoopDisk();
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;

  // Where it is mounted; empty if it could not be made.
  const std::string& dir() const { return dir_; }

 private:
  std::string dir_;
};

}  // namespace ashlar
