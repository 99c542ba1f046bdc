// SPDX-License-Identifier: Apache-2.0
//
// The table is written like one of an SstFileWriter, so that it can take a sequence number.
//
// DeleteRange with the new files at the same moment: the range tombstone is a table of its own,
// older than the other files of the call. So one record of the MANIFEST removes the old keys and
// adds the new ones.
#include "db/ingestion/range_file.h"

#include <cassert>
#include <memory>
#include <utility>

#include "db/options/table_factory.h"
#include "env/file_util.h"
#include "env/file_writer.h"
#include "env/filename.h"
#include "table/sst/write/table_builder.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {

// The new files must be inside the range: otherwise they would not be what replaces it.
Status CheckReplacedRange(const IngestExternalFileArg& arg, const InternalKeyComparator& comparator,
                          const std::vector<ExternalFile>& files) {
  assert(arg.atomic_replace_range.has_value());
  if (comparator.stamp_bytes() != 0) {
    return Status::NotSupported(
        "atomic_replace_range: not in a column family whose keys have timestamps");
  }
  const RangeOpt& range = *arg.atomic_replace_range;
  if (!range.start.has_value() || !range.limit.has_value()) {
    return Status::NotSupported("atomic_replace_range: a range without a start or a limit");
  }
  if (comparator.user_comparator()->Compare(*range.start, *range.limit) >= 0) {
    return Status::InvalidArgument("atomic_replace_range: its limit is not after its start");
  }
  const IngestExternalFileOptions& options = arg.options;
  if (options.ingest_behind || options.fail_if_not_bottommost_level ||
      !options.allow_global_seqno) {
    return Status::InvalidArgument(
        "atomic_replace_range: it needs allow_global_seqno, and excludes ingest_behind and "
        "fail_if_not_bottommost_level");
  }
  for (const ExternalFile& file : files) {
    const int order = comparator.OrderWithoutTimestamp(file.bounds.end(), *range.limit);
    const bool ends_at_limit =
        order == 0 && ExtractTrailer(file.bounds.largest) == kRangeTombstoneSentinel;
    const bool begins_before =
        comparator.OrderWithoutTimestamp(file.bounds.begin(), *range.start) < 0;
    if (!begins_before && (order < 0 || ends_at_limit)) continue;
    return Status::InvalidArgument("atomic_replace_range: a file reaches out of it", file.source);
  }
  return Status::OK();
}

// The file is deleted if it cannot be completed.
Result<ExternalFile> WriteRangeFile(const DbCore& core, const InspectOptions& inspect,
                                    const ColumnFamilyOptions& options, const RangeOpt& range,
                                    FileNumber number) {
  const std::string path = TableFileName(core.paths.TableDirsFor(options).front(), number);
  const BlockBasedTableOptions* const given = BlockBasedOptionsOf(options.table_factory.get());
  assert(given != nullptr && range.start.has_value() && range.limit.has_value());
  BlockBasedTableOptions table =
      core.environment.outputs.write_for_7_8 ? ReadableByRocksDb78(*given) : *given;
  TableBuilderOptions made;
  made.icmp = inspect.comparator;
  made.table = &table;
  made.column_family_id = inspect.family_id;
  made.db_id = core.identity.db_id;
  made.db_session_id = core.identity.session_id;
  made.file_number = number;
  // Such a table has the property that marks files of an SstFileWriter, and the place for a
  // sequence number.
  made.is_external_file = true;
  ASSIGN_OR_RETURN(
      const std::unique_ptr<FileWriter> file,
      FileWriter::Create(core.environment.fs.get(), path, core.environment.outputs.file_options,
                         core.environment.outputs.writer_options));
  TableBuilder builder(made, file.get());
  const std::string key = MakeInternalKey(*range.start, 0, kTypeRangeDeletion);
  Status status = builder.Add(key, *range.limit);
  if (status.ok()) {
    status = builder.Finish();
  } else {
    builder.Abandon();
  }
  if (status.ok()) status = file->Sync();
  if (status.ok()) status = file->Close();
  if (status.ok()) {
    Result<ExternalFile> staged = InspectExternalFile(inspect, path);
    if (staged.ok()) {
      staged->path = path;
      staged->number = number;
      return staged;
    }
    status = staged.status();
  }
  IgnoreError(DeleteFileIfExists(core.environment.fs.get(), path), "the next open deletes it");
  return status;
}

}  // namespace ashlar
