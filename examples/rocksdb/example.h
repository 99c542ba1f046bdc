// SPDX-License-Identifier: Apache-2.0
//
// Functions that the examples in this directory share. The examples are written for RocksDB and are
// compiled with the drop-in library, and with RocksDB itself if it is installed.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "rocksdb/status.h"

// Exit code of a program that calls something that is not built yet.
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
  std::fprintf(stderr, "check failed: %s\n", what);
  std::exit(1);
}
