// SPDX-License-Identifier: Apache-2.0
//
// An environment that a URI names is kept until the end of the process, since files of it may be
// open.
#include "tools/lib/program_parts.h"

#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/file_system.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Never destroyed, so that it is usable while other static objects are destroyed.
ProgramParts& Current() {
  static auto* const parts = new ProgramParts;
  return *parts;
}

bool IsNamed(const Comparator* comparator, const std::string& name) {
  return comparator != nullptr && name == comparator->Name();
}

// Null if the program has none for the family.
const ColumnFamilyDescriptor* FindDescriptor(const std::string& family) {
  for (const ColumnFamilyDescriptor& descriptor : Current().families) {
    if (descriptor.name == family) return &descriptor;
  }
  return nullptr;
}

}  // namespace

const ProgramParts& Program() { return Current(); }

ProgramScope::ProgramScope(ProgramParts parts)
    : former_(std::exchange(Current(), std::move(parts))) {}
ProgramScope::~ProgramScope() { Current() = std::move(former_); }

Env* ToolEnv() {
  Env* const env = Program().options.env;
  return env == nullptr ? Env::Default() : env;
}
FileSystem* ToolFiles() { return ToolEnv()->GetFileSystem().get(); }

Status UseToolEnv(const std::string& env_uri, const std::string& fs_uri) {
  ConfigOptions config;
  config.env = ToolEnv();
  config.ignore_unsupported_options = false;
  // The call that names the URI ends before the process does, and open files must not outlive their
  // environment.
  static auto* const kept = new std::vector<std::shared_ptr<Env>>;
  std::shared_ptr<Env> guard;
  Env* env = nullptr;
  RETURN_IF_ERROR(Env::CreateFromUri(config, env_uri, fs_uri, &env, &guard));
  if (env == nullptr)
    return Status::NotSupported(StrCat("no files of this name: ", env_uri, fs_uri));
  kept->push_back(std::move(guard));
  Current().options.env = env;
  return Status::OK();
}

const Comparator* FindComparator(const std::string& name) {
  if (IsNamed(Program().options.comparator, name)) return Program().options.comparator;
  for (const ColumnFamilyDescriptor& family : Program().families) {
    if (IsNamed(family.options.comparator, name)) return family.options.comparator;
  }
  const Comparator* comparator = nullptr;
  const Status status = Comparator::CreateFromString(ConfigOptions(), name, &comparator);
  return status.ok() ? comparator : nullptr;
}

const ColumnFamilyOptions& ProgramOptions(const std::string& family) {
  const ColumnFamilyDescriptor* const descriptor = FindDescriptor(family);
  if (descriptor != nullptr) return descriptor->options;
  return Program().options;
}

bool IsProgramFamily(const std::string& family) { return FindDescriptor(family) != nullptr; }

}  // namespace ashlar
