// SPDX-License-Identifier: Apache-2.0
//
// ldb load and write_extern_sst, which read "key ==> value" lines from standard input, the form
// that `ldb dump` prints; and ingest_extern_sst, which adds an external table to a database.
#include <cassert>
#include <functional>
#include <iostream>
#include <memory>
#include <string>

#include "ashlar/sst_file_writer.h"
#include "db/utilities/ttl/write_time.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/console.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Lines that `ldb dump` prints before and after the pairs.
bool IsHeaderOrFooter(const std::string& line) {
  return line.empty() || line.starts_with("Keys in range:") ||
         line.starts_with("Created bg thread");
}

// Calls `take` with each key and value of standard input until it returns an error. Returns the
// number of lines that are neither pairs nor printed by `ldb dump` around pairs. The first arrow of
// a line ends the key; the value may contain more arrows.
using PairVisit = std::function<Status(const std::string& key, const std::string& value)>;
// Lines of the form "key ==> value". Lines without an arrow are counted and skipped; returns their
// number.
Result<size_t> ForEachArrowLine(const Invocation& call, const PairVisit& take) {
  size_t bad_lines = 0;
  for (std::string line; ReadInputLine(&line);) {
    const size_t arrow = line.find(kArrow);
    if (arrow == std::string::npos) {
      bad_lines += !IsHeaderOrFooter(line);
      continue;
    }
    ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(line.substr(0, arrow)));
    ASSIGN_OR_RETURN(const std::string value, call.ValueFrom(line.substr(arrow + kArrow.size())));
    RETURN_IF_ERROR(take(key, value));
  }
  RETURN_IF_ERROR(InputStatus());
  return bad_lines;
}

Status PutAll(const Invocation& call, const WriteOptions& options, LdbDatabase* db,
              ColumnFamilyHandle* family) {
  assert(db != nullptr);
  Progress progress("pairs loaded");
  const auto put = [&](const std::string& key, const std::string& value) {
    progress.Add();
    return (*db)->Put(options, family, key, value);
  };
  ASSIGN_OR_RETURN(const size_t bad_lines, ForEachArrowLine(call, put));
  if (bad_lines > 0) PrintLine(StrCat("Warning: ", bad_lines, " bad lines ignored."));
  // Without the log the pairs are in the memtable only.
  if (options.disableWAL) RETURN_IF_ERROR((*db)->Flush(FlushOptions(), family));
  return Status::OK();
}

// While loading, no compaction delays writes; one compaction at the end may take all tables at
// once.
const TemporaryOptions::Texts& BulkOptions() {
  static const TemporaryOptions::Texts options = {
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

// --bulk_load changes options of the family until all pairs are written.
Status RunLoad(const Invocation& call) {
  WriteOptions options;
  ASSIGN_OR_RETURN(options.disableWAL, call.line->Bool("disable_wal"));
  ASSIGN_OR_RETURN(const bool is_bulk, call.line->Bool("bulk_load"));
  ASSIGN_OR_RETURN(const bool compacts, call.line->Bool("compact"));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  TemporaryOptions while_loading(db.get(), family);
  if (is_bulk) RETURN_IF_ERROR(while_loading.Set(BulkOptions()));
  Status loaded = PutAll(call, options, db.get(), family);
  if (loaded.ok() && compacts) {
    const Heartbeat heartbeat("compacting");
    loaded = (*db)->CompactRange(CompactRangeOptions(), family, nullptr, nullptr);
  }
  // Before the result of the load is looked at, so that the options are right after an error as
  // well.
  RETURN_IF_ERROR(while_loading.Restore());
  RETURN_IF_ERROR(loaded);
  return db->Close();
}

// The table is written with the options, comparator and family of the database. With --ttl all
// values get the present time, as if they were put: an ingestion takes them as they are.
Status RunWriteExternSst(const Invocation& call) {
  const std::string& path = call.arguments[0];
  ASSIGN_OR_RETURN(const bool has_ttl, call.line->Bool("ttl"));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  int64_t seconds = 0;
  if (has_ttl) RETURN_IF_ERROR(ReadWriteTime(ToolEnv()->GetSystemClock().get(), &seconds));
  SstFileWriter writer(EnvOptions(), (*db)->GetOptions(family), family);
  RETURN_IF_ERROR(writer.Open(path));
  const auto put = [&](const std::string& key, const std::string& value) {
    std::string stored = value;
    if (has_ttl) AppendWriteTime(&stored, seconds);
    return writer.Put(key, stored);
  };
  ASSIGN_OR_RETURN(const size_t bad_lines, ForEachArrowLine(call, put));
  if (bad_lines > 0) std::cerr << "Warning: " << bad_lines << " bad lines ignored.\n";
  RETURN_IF_ERROR(writer.Finish());
  return db->Close();
}

// The database is closed here and not only by a destructor, so that an error of closing it is
// reported.
Status RunIngestExternSst(const Invocation& call) {
  IngestExternalFileOptions options;
  const CommandLine& line = *call.line;
  ASSIGN_OR_RETURN(options.move_files, line.Bool("move_files", false));
  ASSIGN_OR_RETURN(options.snapshot_consistency, line.Bool("snapshot_consistency", true));
  ASSIGN_OR_RETURN(options.allow_global_seqno, line.Bool("allow_global_seqno", true));
  ASSIGN_OR_RETURN(options.allow_blocking_flush, line.Bool("allow_blocking_flush", true));
  ASSIGN_OR_RETURN(options.ingest_behind, line.Bool("ingest_behind", false));
  ASSIGN_OR_RETURN(options.write_global_seqno, line.Bool("write_global_seqno", false));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  RETURN_IF_ERROR((*db)->IngestExternalFile(family, {call.arguments[0]}, options));
  RETURN_IF_ERROR(db->Close());
  PrintLine(StrCat("external SST files ingested"));
  return Status::OK();
}

}  // namespace ashlar
