// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether the file system supports mapped logs by creating one.
#include "tests/support/mappable_dir.h"

#include <unistd.h>

#include "env/mapped_file.h"
#include "tests/support/paths.h"

namespace ashlar {
namespace {

bool CanMapIn(const std::string& dir) {
  const std::string path = dir + "/probe";
  const bool can = MappedLogFactory::Of(FileSystem::Default().get())->NewMappedLog(path, 1).ok();
  unlink(path.c_str());
  return can;
}

}  // namespace

std::string FreshMappableDir(const std::string& name) {
  std::string dir = FreshTempDir(name);
  if (CanMapIn(dir)) return dir;
  if (access("/dev/shm", W_OK) != 0) return "";
  dir = FreshTempDir(name, "/dev/shm/");
  return CanMapIn(dir) ? dir : "";
}

}  // namespace ashlar
