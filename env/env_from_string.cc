// SPDX-License-Identifier: Apache-2.0
//
// Environments, file systems and clocks by name: those that the program has registered, and those
// of the operating system.
#include <array>

#include "ashlar/convenience.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/system_clock.h"
#include "env/env_adaptors.h"
#include "util/interfaces/registered_objects.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// The names that mean the objects of the operating system.
bool IsDefaultName(const std::string& value, const char* default_name) {
  return value.empty() || value == default_name || value == "posix";
}

// With ignore_unsupported_options an unknown name is accepted, and the caller keeps its object.
Status UnknownName(const ConfigOptions& options, const char* kind, const std::string& value) {
  if (options.ignore_unsupported_options) return Status::OK();
  return Status::NotSupported(StrCat("no ", kind, " of this name: ", value),
                              "pass an object instead");
}

}  // namespace

Status Env::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                             Env** result) {
  Status registered;
  if (FindRegistered<Env>(config_options, value, result, &registered)) return registered;
  if (!IsDefaultName(value, kDefaultName())) return UnknownName(config_options, "env", value);
  *result = Default();
  return Status::OK();
}

// `*guard` owns a new Env; it stays null for the default one, which lives as long as the process.
Status Env::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                             Env** result, std::shared_ptr<Env>* guard) {
  std::string id;
  std::unordered_map<std::string, std::string> options;
  if (IsRegistered<Env>(config_options, value, &id, &options)) {
    Env* made = nullptr;
    std::unique_ptr<Env> owned;
    // An error after this frees the new object.
    RETURN_IF_ERROR(config_options.registry->NewObject<Env>(id, &made, &owned));
    RETURN_IF_ERROR(SetTextOptions(config_options, options, made));
    *guard = std::move(owned);
    *result = made;
    return Status::OK();
  }
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
  Status registered;
  if (MakeRegistered<FileSystem>(options, value, result, &registered)) return registered;
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
  Status registered;
  if (MakeRegistered<SystemClock>(options, value, result, &registered)) return registered;
  if (!IsDefaultName(value, kDefaultName())) return UnknownName(options, "clock", value);
  *result = Default();
  return Status::OK();
}

// For the info log: one line per registered name.
void ObjectLibrary::Dump(Logger* logger) const {
  std::unordered_set<std::string> types;
  GetFactoryTypes(&types);
  for (const std::string& type : types) {
    std::vector<std::string> names;
    GetFactoryNames(type, &names);
    for (const std::string& name : names) {
      Log(logger, "library %s: %s %s", id_.c_str(), type.c_str(), name.c_str());
    }
  }
}

void ObjectRegistry::Dump(Logger* logger) const {
  for (const auto& library : LibrariesToSearch()) library->Dump(logger);
}

}  // namespace ashlar
