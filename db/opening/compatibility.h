// SPDX-License-Identifier: Apache-2.0
//
// For whom an existing database is written on: whoever opened it before must not be locked out by a
// program, or a tool, that only passes by.
#pragma once

#include <string>

#include "db/opening/open.h"
#include "util/result.h"

namespace ashlar {

// DBOptions::write_compatible_with for `request`, as the program gave it. What it says counts. If
// it says nothing, the newest OPTIONS file of the directory does: one of an older RocksDB than the
// one whose files are written by default gives "7.8", unless an option asks for something newer. ""
// if there is no such file, or it names no release. An error is one of reading the file: taken for
// "none", it would let the directory go.
Result<std::string> CompatibilityOf(const OpenRequest& request);

}  // namespace ashlar
