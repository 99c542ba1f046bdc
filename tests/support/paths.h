// SPDX-License-Identifier: Apache-2.0
//
// Paths of test inputs and outputs. Thread-safe.
#pragma once

#include <string>

namespace ashlar {

// Absolute path of a file of the project, for example SourcePath("tests/data/x.json").
std::string SourcePath(const std::string& relative);

// Absolute path of a file of the build folder, for example of a program.
std::string BuildPath(const std::string& relative);

// Absolute path of a file of the shared specification data, which is in $ASHLAR_SHARED or, by
// default, in `../shared` next to the checkout. The file need not exist: see SharedDataExists().
std::string SharedPath(const std::string& relative);

// True if the shared data is on this machine; otherwise tests on large samples are skipped.
bool SharedDataExists();

// A new, empty directory below `parent`, by default testing::TempDir(). Its name contains `name`,
// the process and a counter, so that tests that run at the same time have different directories. It
// is removed when the process ends without a failed test.
std::string FreshTempDir(const std::string& name, const std::string& parent = "");

}  // namespace ashlar
