// SPDX-License-Identifier: Apache-2.0
//
// What a program gives to LDBTool or SSTDumpTool: its files, comparators, merge operators and
// options. The programs ldb and sst_dump give nothing, and so have the defaults.
//
// Threads: the parts are those of the process, because both tools run one call at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/ldb_tool.h"
#include "ashlar/options.h"

namespace ashlar {

struct ProgramParts {
  Options options;
  std::vector<ColumnFamilyDescriptor> families;   // may be empty
  std::shared_ptr<SliceFormatter> key_formatter;  // may be null
  std::string help_head;                          // first line of the help; may be empty
};

// The parts of the call that runs.
const ProgramParts& Program();

// Sets the parts for the duration of a call.
class ProgramScope {
 public:
  explicit ProgramScope(ProgramParts parts);
  ~ProgramScope();
  ProgramScope(const ProgramScope&) = delete;
  ProgramScope& operator=(const ProgramScope&) = delete;

 private:
  ProgramParts former_;
};

// The environment and the files that the tools work on.
Env* ToolEnv();
FileSystem* ToolFiles();
// Replaces the environment for the rest of the call: --env_uri and --fs_uri. InvalidArgument if
// both are given, NotSupported for an unknown name.
Status UseToolEnv(const std::string& env_uri, const std::string& fs_uri);

// A comparator of the program, one that is registered, or a built-in one; null if none of them has
// the name.
const Comparator* FindComparator(const std::string& name);
// The options that the program gives for a family: those of its descriptor, or the common ones.
const ColumnFamilyOptions& ProgramOptions(const std::string& family);
// Whether the program has a descriptor of the family.
bool IsProgramFamily(const std::string& family);

}  // namespace ashlar
