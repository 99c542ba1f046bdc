// SPDX-License-Identifier: Apache-2.0
//
// Paths are derived from environment variables and the compile-time source directory.
#include "tests/support/paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "util/text/str_cat.h"

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

namespace {

// Removes the directories of this process when it ends, except after a failed test: then they help
// to find the error.
class TempDirs {
 public:
  ~TempDirs() {
    if (::getpid() != owner_ || !testing::UnitTest::GetInstance()->Passed()) return;
    std::error_code ignored;
    for (const std::string& path : paths_) std::filesystem::remove_all(path, ignored);
  }
  std::string Add(const std::string& name, const std::string& parent) {
    std::lock_guard lock(mutex_);
    paths_.push_back(StrCat(parent.empty() ? testing::TempDir() : parent, "ashlar_", name, "_",
                            ::getpid(), "_", paths_.size()));
    return paths_.back();
  }

 private:
  const pid_t owner_ = ::getpid();
  std::mutex mutex_;
  std::vector<std::string> paths_;
};

}  // namespace

std::string FreshTempDir(const std::string& name, const std::string& parent) {
  testing::UnitTest::GetInstance();  // must outlive the objects below
  static TempDirs dirs;
  const std::string path = dirs.Add(name, parent);
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace ashlar
