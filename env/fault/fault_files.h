// SPDX-License-Identifier: Apache-2.0
//
// The file objects of FaultFileSystem: each sends its calls through FaultFileSystem::Run(), which
// numbers them and may make them fail. Used only by fault_file_system.cc.
#pragma once

#include <memory>
#include <string>

#include "env/fault/fault_file_system.h"

namespace ashlar {

// What a file object knows about itself. The file system outlives it.
struct FaultFileContext {
  FaultFileSystem* fs;
  std::string path;
  uint64_t file_id;
};

std::unique_ptr<FSSequentialFile> NewFaultFile(const FaultFileContext& context,
                                               std::unique_ptr<FSSequentialFile> file);
std::unique_ptr<FSRandomAccessFile> NewFaultFile(const FaultFileContext& context,
                                                 std::unique_ptr<FSRandomAccessFile> file);
std::unique_ptr<FSWritableFile> NewFaultFile(const FaultFileContext& context,
                                             std::unique_ptr<FSWritableFile> file);
std::unique_ptr<FSRandomRWFile> NewFaultFile(const FaultFileContext& context,
                                             std::unique_ptr<FSRandomRWFile> file);
std::unique_ptr<FSDirectory> NewFaultFile(const FaultFileContext& context,
                                          std::unique_ptr<FSDirectory> directory);

}  // namespace ashlar
