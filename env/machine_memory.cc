// SPDX-License-Identifier: Apache-2.0
#include "env/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace ashlar {
namespace {

// The number in the first line of a file; 0 if there is none ("max" means no limit).
uint64_t NumberIn(const char* path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : 0;
}

}  // namespace

// Inside of a container, these files are those of the container's group: version 2 of the interface
// of control groups, then version 1, which has a huge number where there is no limit.
uint64_t MachineMemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  uint64_t bytes = 0;
  if (pages > 0 && page_bytes > 0) {
    bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
  }
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const uint64_t limit = NumberIn(path);
    if (limit != 0) bytes = bytes == 0 ? limit : std::min(bytes, limit);
  }
  return bytes;
}

}  // namespace ashlar
