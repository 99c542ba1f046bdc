// SPDX-License-Identifier: Apache-2.0
//
// Uses the system's mkfs and mount programs; their output is discarded.
#include "tests/support/loop_disk.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/support/paths.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

bool Runs(const std::string& command) {
  return std::system(StrCat(command, " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace

LoopDisk::LoopDisk(const std::string& mkfs, uint64_t bytes) {
  const std::string image = FreshTempDir("loop_disk") + "/image";
  const std::string dir = FreshTempDir("loop_mount");
  const bool is_mounted = geteuid() == 0 && Runs(StrCat("truncate -s ", bytes, " '", image, "'")) &&
                          Runs(StrCat(mkfs, " '", image, "'")) &&
                          Runs(StrCat("mount -o loop '", image, "' '", dir, "'"));
  if (is_mounted) dir_ = dir;
}

LoopDisk::~LoopDisk() {
  if (!dir_.empty()) (void)Runs(StrCat("umount '", dir_, "'"));
}

}  // namespace ashlar
