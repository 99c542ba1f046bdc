// SPDX-License-Identifier: Apache-2.0
//
// What the examples of this folder share: the folder for their database, and the end of a program
// whose call failed. They are written for RocksDB and compiled with the drop-in (and, where it is
// installed, with RocksDB itself).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "rocksdb/status.h"

// A call that the library does not have yet ends the program with this.
inline constexpr int kNotBuilt = 3;

inline std::string FolderFromArguments(int argc, char** argv) {
  if (argc == 2) return argv[1];
  std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
  std::exit(2);
}

inline void Require(const rocksdb::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  std::exit(status.IsNotSupported() ? kNotBuilt : 1);
}

inline void Require(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}
