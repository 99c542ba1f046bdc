// SPDX-License-Identifier: Apache-2.0
//
// LoopDisk: a file system of a given kind in a file, mounted during the lifetime of the object.
// Needs root, loop devices and the mkfs program of that kind. Threads: one.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar {

class LoopDisk {
 public:
  // For example "mkfs.xfs -q -m reflink=1", 300 << 20. dir() is empty if it failed.
  LoopDisk(const std::string& mkfs, uint64_t bytes);
  ~LoopDisk();
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;

  // The mount point; empty if the file system could not be created or mounted.
  const std::string& dir() const { return dir_; }

 private:
  std::string dir_;
};

}  // namespace ashlar
