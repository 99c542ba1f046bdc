// SPDX-License-Identifier: Apache-2.0
//
// NoReopenFs cannot open an existing file for writing, like a FileSystem of a program that
// overrides only the required functions.
#pragma once

#include <memory>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/file_system_wrapper.h"

namespace ashlar {

class NoReopenFs final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "NoReopenFs"; }
  IOStatus ReopenWritableFile(const std::string& f, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    return FileSystem::ReopenWritableFile(f, options, r, dbg);
  }
  IOStatus SyncFile(const std::string& f, const FileOptions& file_options, const IOOptions& options,
                    bool use_fsync, IODebugContext* dbg) override {
    return FileSystem::SyncFile(f, file_options, options, use_fsync, dbg);
  }
};

}  // namespace ashlar
