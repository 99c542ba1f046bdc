// SPDX-License-Identifier: Apache-2.0
//
// Where tests find their inputs and put their outputs. Thread-safe.
#pragma once

#include <string>

namespace ashlar {

// Absolute path of a file of the project, for example SourcePath("tests/data/x.json").
std::string SourcePath(const std::string& relative);

// Absolute path of a file of the build folder: SourcePath's twin for programs that were built.
std::string BuildPath(const std::string& relative);

// Absolute path inside the shared specification data, which lies in $ASHLAR_SHARED or, by default,
// in `../shared` beside the checkout. The file need not exist: see SharedDataExists().
std::string SharedPath(const std::string& relative);

// True if the shared data is on this machine; tests on large samples skip themselves otherwise.
bool SharedDataExists();

// A new, empty directory below `parent`, by default testing::TempDir(). Its name holds `name`, the
// process and a counter, so that tests running at the same time never meet. Removed when the
// process ends without a failed test.
std::string FreshTempDir(const std::string& name, const std::string& parent = "");

}  // namespace ashlar
