// SPDX-License-Identifier: Apache-2.0
//
// What a user of RocksDB's ldb may look for in vain. A command that is built needs no edit here.
#include <algorithm>

#include "tools/ldb/command.h"

namespace ashlar {
namespace {

// Those that RocksDB 7.8 or 11.9 has and that were missing at first.
constexpr std::string_view kNames[] = {
    "backup",
    "change_compaction_style",
    "checkpoint",
    "deleterange",
    "file_checksum_dump",
    "get_entity",
    "ingest_extern_sst",
    "list_file_range_deletes",
    "list_live_files_metadata",
    "load",
    "multi_get",
    "multi_get_entity",
    "put_entity",
    "query",
    "reduce_levels",
    "repair",
    "restore",
    "singledelete",
    "unsafe_remove_sst_file",
    "update_manifest",
    "write_extern_sst",
};

bool IsBuilt(std::string_view name) {
  for (const std::span<const LdbCommand> commands : {DataCommands(), AdminCommands()}) {
    const auto has_name = [&](const LdbCommand& command) { return command.name == name; };
    if (std::any_of(commands.begin(), commands.end(), has_name)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string_view> UnbuiltCommands() {
  std::vector<std::string_view> names;
  for (const std::string_view name : kNames) {
    if (!IsBuilt(name)) names.push_back(name);
  }
  return names;
}

}  // namespace ashlar
