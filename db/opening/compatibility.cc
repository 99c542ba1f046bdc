// SPDX-License-Identifier: Apache-2.0
//
// Lists one directory and reads one small file, before any other file of the database is read.
#include "db/opening/compatibility.h"

#include <algorithm>
#include <cassert>

#include "ashlar/version.h"
#include "db/options/option_table.h"
#include "db/options/options_file.h"
#include "db/options/table_factory.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The rocksdb_version of the newest OPTIONS file; 0 if there is none. If the directory cannot be
// listed, the opener itself will report that.
Result<int> VersionInDirectory(FileSystem* fs, const std::string& dir) {
  auto names = ListDirectory(fs, dir, NameOrder::kAny);
  if (!names.ok()) return 0;
  FileNumber newest = 0;
  for (const std::string& name : *names) {
    FileNumber number;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == kOptionsFile) {
      newest = std::max(newest, number);
    }
  }
  if (newest == 0) return 0;
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(fs, OptionsFileName(dir, newest)));
  return VersionOfOptionsText(text);
}

// Whether an option that RocksDB 7.8 does not know differs from its default.
bool HasNewer(OptionTable table, const void* options, const void* defaults) {
  assert(options != nullptr && defaults != nullptr);
  return std::any_of(table.begin(), table.end(), [&](const OptionRow& row) {
    return row.facts.since == Since::kRocksDb119 && !row.IsSame(options, defaults);
  });
}

// Whether the program asks for something in its options that files for RocksDB 7.8 cannot have.
// Format versions above 5 are such a request, but the default format version is not, since nobody
// has asked for it.
bool AsksForNewer(const ColumnFamilyOptions& options) {
  static const auto* defaults = new ColumnFamilyOptions();
  static const auto* table_defaults = new BlockBasedTableOptions();
  if (HasNewer(ColumnFamilyOptionTable(), &options, defaults)) return true;
  const BlockBasedTableOptions* table = BlockBasedOptionsOf(options.table_factory.get());
  if (table == nullptr) return false;
  constexpr uint32_t kNewestOfRocksDb78 = 5;
  const bool asks_for_format = table->format_version > kNewestOfRocksDb78 &&
                               table->format_version != table_defaults->format_version;
  return asks_for_format || HasNewer(BlockBasedOptionTable(), table, table_defaults);
}

bool AsksForNewer(const OpenRequest& request) {
  static const auto* defaults = new DBOptions();
  return HasNewer(DbOptionTable(), &request.db_options, defaults) ||
         std::any_of(request.families.begin(), request.families.end(),
                     [](const auto& family) { return AsksForNewer(family.options); });
}

}  // namespace

// A directory that an older RocksDB has written keeps files that this RocksDB can read, unless the
// program has said otherwise.
Result<std::string> CompatibilityOf(const OpenRequest& request) {
  const std::string& said = request.db_options.write_compatible_with;
  if (!said.empty() || request.is_read_only() || AsksForNewer(request)) return said;
  assert(request.db_options.env != nullptr);
  ASSIGN_OR_RETURN(const int version,
                   VersionInDirectory(request.db_options.env->GetFileSystem().get(), request.dir));
  return std::string(version > 0 && version < ROCKSDB_VERSION_INT ? "7.8" : "");
}

}  // namespace ashlar
