// SPDX-License-Identifier: Apache-2.0
//
//   differential_transactions run DIR FIRST LAST [0:STEP...]
//
// The programs of the seeds FIRST to LAST; of each only the named steps, if there are any.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "program.h"

int main(int argc, char** argv) {
  if (argc < 5 || std::strcmp(argv[1], "run") != 0) {
    std::fprintf(stderr, "usage: %s run DIR FIRST LAST [0:STEP...]\n", argv[0]);
    return 2;
  }
  const std::string dir = argv[2];
  const uint64_t first = std::strtoull(argv[3], nullptr, 10);
  const uint64_t last = std::strtoull(argv[4], nullptr, 10);
  std::set<int> only;
  for (int i = 5; i < argc; i++) only.insert(std::atoi(std::strchr(argv[i], ':') + 1));
  for (uint64_t seed = first; seed <= last; seed++) {
    differential::Program(seed, dir + "/" + std::to_string(seed)).Run(only);
  }
  return 0;
}
