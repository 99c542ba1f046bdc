// SPDX-License-Identifier: Apache-2.0
//
// Utilities that are declared but not built yet: opening them returns NotSupported and names the
// call. Each leaves this file when it is built.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "ashlar/db_dump_tool.h"
#include "ashlar/ldb_tool.h"
#include "ashlar/sst_dump_tool.h"
#include "ashlar/utilities/checkpoint.h"
#include "ashlar/utilities/db_ttl.h"
#include "ashlar/utilities/option_change_migration.h"

namespace ashlar {

Status DBWithTTL::Open(const Options&, const std::string&, DBWithTTL** dbptr, int32_t, bool) {
  *dbptr = nullptr;
  return Status::NotSupported("DBWithTTL::Open: not built yet");
}
Status DBWithTTL::Open(const DBOptions&, const std::string&,
                       const std::vector<ColumnFamilyDescriptor>&,
                       std::vector<ColumnFamilyHandle*>*, DBWithTTL** dbptr,
                       const std::vector<int32_t>&, bool) {
  *dbptr = nullptr;
  return Status::NotSupported("DBWithTTL::Open: not built yet");
}

Status CheckpointEngine::Open(const CheckpointEngineOptions&,
                              std::unique_ptr<CheckpointEngine>* out_checkpoint_engine) {
  out_checkpoint_engine->reset();
  return Status::NotSupported("CheckpointEngine::Open: not built yet; use Checkpoint::Create");
}

Status OptionChangeMigration(const std::string&, const Options&, const Options&) {
  return Status::NotSupported("OptionChangeMigration: not built yet");
}
Status OptionChangeMigration(const std::string&, const DBOptions&,
                             const std::vector<ColumnFamilyDescriptor>&, const DBOptions&,
                             const std::vector<ColumnFamilyDescriptor>&) {
  return Status::NotSupported("OptionChangeMigration: not built yet");
}

LDBOptions::LDBOptions() = default;
int LDBTool::RunAndReturn(int, char**, const Options&, const LDBOptions&,
                          const std::vector<ColumnFamilyDescriptor>*) {
  std::fputs("LDBTool: not built yet; use the program ldb\n", stderr);
  return 1;
}
void LDBTool::Run(int argc, char** argv, Options options, const LDBOptions& ldb_options,
                  const std::vector<ColumnFamilyDescriptor>* column_families) {
  std::exit(RunAndReturn(argc, argv, options, ldb_options, column_families));
}
int SSTDumpTool::Run(int, char const* const*, Options) {
  std::fputs("SSTDumpTool: not built yet; use the program sst_dump\n", stderr);
  return 1;
}

bool DbDumpTool::Run(const DumpOptions&, Options) { return false; }
bool DbUndumpTool::Run(const UndumpOptions&, Options) { return false; }

}  // namespace ashlar
