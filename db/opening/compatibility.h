// SPDX-License-Identifier: Apache-2.0
//
// Determines for which RocksDB release an existing database continues to be written, so that a
// program or a tool that opens it once does not lock out the program that uses it.
#pragma once

#include <string>

#include "db/opening/open.h"
#include "util/result.h"

namespace ashlar {

// Returns DBOptions::write_compatible_with for `request`. A value that the program has set is used.
// Otherwise the newest OPTIONS file of the directory decides: if it was written by an older RocksDB
// release than the one for which we write by default, the result is "7.8", unless an option asks
// for something newer. The result is "" if there is no such file, or if it names no release. An
// error means that the file could not be read; it must not be treated as "no file", because that
// would make the database unreadable for the older release.
Result<std::string> CompatibilityOf(const OpenRequest& request);

}  // namespace ashlar
