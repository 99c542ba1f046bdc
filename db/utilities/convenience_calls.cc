// SPDX-License-Identifier: Apache-2.0
//
// The free functions of ashlar/convenience.h that act on a database or a table file. Those that act
// on option texts are in db/options.
#include "ashlar/convenience.h"

#include <cassert>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "db/db_impl.h"
#include "env/random_reader.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// Every wrapper of a database ends in a DBImpl, which GetRootDB() returns.
void CancelAllBackgroundWork(DB* db, bool wait) {
  assert(db != nullptr);
  IgnoreError(static_cast<DBImpl*>(db->GetRootDB())->CancelBackgroundWork(wait),
              "the call has no status; the error of a failed flush is in the info log");
}

// The forms with pointers and with a single range are converted to the one with optional bounds.
Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family, const RangeOpt* ranges,
                           size_t n, bool include_end) {
  assert(db != nullptr);
  return static_cast<DBImpl*>(db->GetRootDB())
      ->DeleteFilesInRanges(column_family, {ranges, n}, include_end);
}
Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family, const RangePtr* ranges,
                           size_t n, bool include_end) {
  std::vector<RangeOpt> with_options;
  assert(ranges != nullptr || n == 0);
  for (size_t i = 0; i < n; i++) {
    with_options.emplace_back(OptSlice::CopyFromPtr(ranges[i].start),
                              OptSlice::CopyFromPtr(ranges[i].limit));
  }
  return DeleteFilesInRanges(db, column_family, with_options.data(), n, include_end);
}
Status DeleteFilesInRange(DB* db, ColumnFamilyHandle* column_family, const Slice* begin,
                          const Slice* end, bool include_end) {
  const RangePtr range(begin, end);
  return DeleteFilesInRanges(db, column_family, &range, 1, include_end);
}

// Reads all blocks of a table file that need not belong to a database.
Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                             const std::string& file_path) {
  return VerifySstFileChecksum(options, env_options, ReadOptions(), file_path);
}

Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                             const ReadOptions& read_options, const std::string& file_path,
                             const SequenceNumber& largest_seqno) {
  const InternalKeyComparator comparator(options.comparator);
  const FileOptions file_options(env_options);
  ASSIGN_OR_RETURN(std::unique_ptr<RandomReader> file,
                   RandomReader::Open(options.env->GetFileSystem().get(), file_path, file_options));
  TableReaderOptions reader_options;
  reader_options.icmp = &comparator;
  // 0 means that the caller does not know the number.
  if (largest_seqno > 0) reader_options.manifest_largest_seqno = largest_seqno;
  ASSIGN_OR_RETURN(const std::unique_ptr<TableReader> reader,
                   TableReader::Open(std::move(file), reader_options));
  return reader->VerifyChecksums(read_options);
}

}  // namespace ashlar
