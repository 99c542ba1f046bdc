// SPDX-License-Identifier: Apache-2.0
//
// ldb write_extern_sst and ingest_extern_sst: tables made outside of a database and taken in.
#include <iostream>
#include <memory>
#include <string>

#include "ashlar/sst_file_writer.h"
#include "tools/ldb/arrow_lines.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {

// The database says which options, comparator and family the file is for.
Status RunWriteExternSst(const Invocation& call) {
  const std::string& path = call.arguments[0];
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  SstFileWriter writer(EnvOptions(), (*db)->GetOptions(family), family);
  RETURN_IF_ERROR(writer.Open(path));
  const auto put = [&](const std::string& key, const std::string& value) {
    return writer.Put(key, value);
  };
  ASSIGN_OR_RETURN(const size_t bad_lines, ForEachArrowLine(call, put));
  if (bad_lines > 0) std::cerr << "Warning: " << bad_lines << " bad lines ignored.\n";
  RETURN_IF_ERROR(writer.Finish());
  return db->Close();
}

Status RunIngestExternSst(const Invocation& call) {
  IngestExternalFileOptions options;
  const CommandLine& line = *call.line;
  ASSIGN_OR_RETURN(options.move_files, line.Bool("move_files", false));
  ASSIGN_OR_RETURN(options.snapshot_consistency, line.Bool("snapshot_consistency", true));
  ASSIGN_OR_RETURN(options.allow_global_seqno, line.Bool("allow_global_seqno", true));
  ASSIGN_OR_RETURN(options.allow_blocking_flush, line.Bool("allow_blocking_flush", true));
  ASSIGN_OR_RETURN(options.ingest_behind, line.Bool("ingest_behind", false));
  ASSIGN_OR_RETURN(options.write_global_seqno, line.Bool("write_global_seqno", false));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  RETURN_IF_ERROR((*db)->IngestExternalFile(family, {call.arguments[0]}, options));
  RETURN_IF_ERROR(db->Close());
  PrintLine(StrCat("external SST files ingested"));
  return Status::OK();
}

}  // namespace ashlar
