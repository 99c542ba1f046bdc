// SPDX-License-Identifier: Apache-2.0
//
// A place for tests of mapped logs, which not every file system allows (docs/mapped_log.md).
#pragma once

#include <string>

namespace ashlar {

// As FreshTempDir(), on a file system where logs are mapped: that of the tests' directory, or
// /dev/shm. Empty if neither is one: return SkipAsMissing(kMappableFileSystem).
std::string FreshMappableDir(const std::string& name);
inline constexpr char kMappableFileSystem[] = "file system for mapped logs (ext4, tmpfs)";

}  // namespace ashlar
