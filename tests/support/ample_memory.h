// SPDX-License-Identifier: Apache-2.0
//
// For tests that need gigabytes of memory: whether this machine and this build have that much.
//
//   if (!HasAmpleMemory(6)) return SkipAsImpossible("a block of 1 GiB: 6 GiB of free memory");
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace ashlar {

// False under a sanitizer, which multiplies memory and time, and if the kernel does not report free
// memory.
inline bool HasAmpleMemory(uint64_t gibibytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return gibibytes == 0;
#endif
  std::ifstream facts("/proc/meminfo");
  std::string name, unit;
  uint64_t kibibytes = 0;
  while (facts >> name >> kibibytes) {
    std::getline(facts, unit);
    if (name == "MemAvailable:") return kibibytes >> 20 >= gibibytes;
  }
  return false;
}

}  // namespace ashlar
