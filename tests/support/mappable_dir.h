// SPDX-License-Identifier: Apache-2.0
//
// A directory for tests of mapped logs, which not every file system supports (docs/mapped_log.md).
#pragma once

#include <string>

namespace ashlar {

// Like FreshTempDir(), on a file system that supports mapped logs: that of the tests' directory, or
// /dev/shm. Empty if neither does: return SkipAsMissing(kMappableFileSystem).
std::string FreshMappableDir(const std::string& name);
inline constexpr char kMappableFileSystem[] = "file system for mapped logs (ext4, tmpfs)";

}  // namespace ashlar
