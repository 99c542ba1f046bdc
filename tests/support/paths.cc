// SPDX-License-Identifier: Apache-2.0
//
// Paths of tests: see paths.h.
#include "tests/support/paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

namespace ashlar {

std::string SourcePath(const std::string& relative) {
  return std::string(ASHLAR_SOURCE_DIR "/") + relative;
}

std::string BuildPath(const std::string& relative) {
  return std::string(ASHLAR_BUILD_DIR "/") + relative;
}

std::string SharedPath(const std::string& relative) {
  const char* root = std::getenv("ASHLAR_SHARED");
  return (root != nullptr ? std::string(root) : SourcePath("../shared")) + "/" + relative;
}

bool SharedDataExists() { return std::filesystem::exists(SharedPath("data/db")); }

std::string FreshTempDir(const std::string& name) {
  static std::atomic<int> counter{0};
  const std::string path = testing::TempDir() + "ashlar_" + name + "_" +
                           std::to_string(::getpid()) + "_" + std::to_string(counter++);
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace ashlar
