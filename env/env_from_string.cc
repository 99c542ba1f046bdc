// SPDX-License-Identifier: Apache-2.0
//
// Environments, file systems and clocks by name. There is no registry of plug-ins: the machine's
// own ones are the only ones a name can give.
#include <array>

#include "ashlar/convenience.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/system_clock.h"
#include "env/env_adaptors.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

bool IsDefaultName(const std::string& value, const char* default_name) {
  return value.empty() || value == default_name || value == "posix";
}

// An unknown name leaves what the caller has, if it said that this is fine.
Status UnknownName(const ConfigOptions& options, const char* kind, const std::string& value) {
  if (options.ignore_unsupported_options) return Status::OK();
  return Status::NotSupported(StrCat("no ", kind, " of this name: ", value),
                              "pass an object instead");
}

}  // namespace

Status Env::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                             Env** result) {
  if (!IsDefaultName(value, kDefaultName())) return UnknownName(config_options, "env", value);
  *result = Default();
  return Status::OK();
}

Status Env::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                             Env** result, std::shared_ptr<Env>* guard) {
  if (value == "CompositeEnv") {
    *guard = NewCompositeEnv(FileSystem::Default());
    *result = guard->get();
    return Status::OK();
  }
  guard->reset();  // the default environment is never deleted
  return CreateFromString(config_options, value, result);
}

Status Env::CreateFromUri(const ConfigOptions& options, const std::string& env_uri,
                          const std::string& fs_uri, Env** result, std::shared_ptr<Env>* guard) {
  if (!env_uri.empty() && !fs_uri.empty()) {
    return Status::InvalidArgument("give an env_uri or a fs_uri", "not both");
  }
  if (fs_uri.empty()) return CreateFromString(options, env_uri, result, guard);
  std::shared_ptr<FileSystem> fs;
  Status status = FileSystem::CreateFromString(options, fs_uri, &fs);
  if (!status.ok() || fs == nullptr) return status;
  *guard = NewCompositeEnv(fs);
  *result = guard->get();
  return status;
}

Status FileSystem::CreateFromString(const ConfigOptions& options, const std::string& value,
                                    std::shared_ptr<FileSystem>* result) {
  if (value == "TimedFS") {
    *result = NewTimedFileSystem(Default(), SystemClock::Default());
    return Status::OK();
  }
  const bool is_default = IsDefaultName(value, kDefaultName()) || value == "posix://" ||
                          value == "PosixFileSystem";  // RocksDB's name of it
  if (!is_default) return UnknownName(options, "file system", value);
  *result = Default();
  return Status::OK();
}

Status SystemClock::CreateFromString(const ConfigOptions& options, const std::string& value,
                                     std::shared_ptr<SystemClock>* result) {
  if (!IsDefaultName(value, kDefaultName())) return UnknownName(options, "clock", value);
  *result = Default();
  return Status::OK();
}

}  // namespace ashlar
