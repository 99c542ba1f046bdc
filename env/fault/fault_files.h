// SPDX-License-Identifier: Apache-2.0
//
// The file objects of FaultFileSystem: each sends its calls through FaultFileSystem::Run(), which
// numbers them and may make them fail. Used only by fault_file_system.cc.
#pragma once

#include <memory>
#include <string>

#include "env/fault/fault_file_system.h"

namespace ashlar {

// The identity of a file object, which has a copy of it. The file system outlives the object.
struct FaultFileContext {
  FaultFileSystem* fs;
  std::string path;
  uint64_t file_id;
};

// Each function takes over the file of the target file system.
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
