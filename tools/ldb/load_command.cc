// SPDX-License-Identifier: Apache-2.0
//
// ldb load: puts "key ==> value" lines from standard input, as `ldb dump` prints them.
#include <memory>

#include "tools/ldb/arrow_lines.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/ldb/options_for_a_while.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

Status PutAll(const Invocation& call, const WriteOptions& options, OpenedDb* db,
              ColumnFamilyHandle* family) {
  Progress progress("pairs loaded");
  const auto put = [&](const std::string& key, const std::string& value) {
    progress.Add();
    return (*db)->Put(options, family, key, value);
  };
  ASSIGN_OR_RETURN(const size_t bad_lines, ForEachArrowLine(call, put));
  if (bad_lines > 0) PrintLine(StrCat("Warning: ", bad_lines, " bad lines ignored."));
  // Without the log a memtable is all that there is.
  if (options.disableWAL) RETURN_IF_ERROR((*db)->Flush(FlushOptions(), family));
  return Status::OK();
}

// No compaction gets in the way of the writer, and one at the end may take everything at once.
const OptionsForAWhile::Texts& BulkOptions() {
  static const OptionsForAWhile::Texts options = {
      {"disable_auto_compactions", "true"},
      {"level0_slowdown_writes_trigger", "1073741824"},
      {"level0_stop_writes_trigger", "1073741824"},
      {"soft_pending_compaction_bytes_limit", "0"},
      {"hard_pending_compaction_bytes_limit", "0"},
      {"max_write_buffer_number", "6"},
      {"max_compaction_bytes", "1152921504606846976"},
      {"target_file_size_base", "268435456"},
  };
  return options;
}

}  // namespace

Status RunLoad(const Invocation& call) {
  WriteOptions options;
  ASSIGN_OR_RETURN(options.disableWAL, call.line->Bool("disable_wal"));
  ASSIGN_OR_RETURN(const bool is_bulk, call.line->Bool("bulk_load"));
  ASSIGN_OR_RETURN(const bool compacts, call.line->Bool("compact"));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  OptionsForAWhile while_loading(db.get(), family);
  if (is_bulk) RETURN_IF_ERROR(while_loading.Set(BulkOptions()));
  Status loaded = PutAll(call, options, db.get(), family);
  if (loaded.ok() && compacts) {
    const Heartbeat heartbeat("compacting");
    loaded = (*db)->CompactRange(CompactRangeOptions(), family, nullptr, nullptr);
  }
  RETURN_IF_ERROR(while_loading.PutBack());
  RETURN_IF_ERROR(loaded);
  return db->Close();
}

}  // namespace ashlar
