// SPDX-License-Identifier: Apache-2.0
//
// The file is opened like an unknown file: nothing that the builder still has in memory is used.
#include "db/output/output_check.h"

#include <cassert>
#include <memory>
#include <utility>

#include "env/file_util.h"
#include "env/filename.h"
#include "env/random_reader.h"
#include "table/iterator/internal_iterator.h"
#include "table/sst/read/table_reader.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

bool Has(VerifyOutputFlags flags, VerifyOutputFlags flag) { return !!(flags & flag); }

// Reads the table again and compares a hash over all entries with that of the entries that were
// written.
Status CheckEntries(const TableReader& table, const EntriesHash& written) {
  ReadOptions read;
  read.fill_cache = false;
  EntriesHash found;
  const std::unique_ptr<InternalIterator> entries(table.NewIterator(read, nullptr));
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    found.Add(entries->key(), entries->value());
  }
  RETURN_IF_ERROR(entries->status());
  if (found.hash() == written.hash() && found.count() == written.count()) return Status::OK();
  return Status::Corruption(
      table.path(), StrCat("read back: expected ", written.count(), " entries with hash ",
                           written.hash(), ", found ", found.count(), " with hash ", found.hash()));
}

Status CheckTable(const OutputChecks& checks, const TableOutputOptions& options,
                  const std::string& path, const FileMetadata& meta, const EntriesHash& written) {
  const TableOutputContext& context = *options.context;
  ASSIGN_OR_RETURN(auto file, RandomReader::Open(context.fs, path, context.file_options));
  TableReaderOptions table_options;
  table_options.icmp = options.comparator;
  table_options.prefix_extractor = options.family_options->prefix_extractor.get();
  table_options.expected_unique_id = meta.unique_id;
  ASSIGN_OR_RETURN(const std::unique_ptr<TableReader> table,
                   TableReader::Open(std::move(file), table_options));
  if (checks.blocks) {
    const RecordedBounds bounds{.smallest = meta.smallest,
                                .largest = meta.largest,
                                .smallest_seqno = meta.smallest_seqno,
                                .largest_seqno = meta.largest_seqno};
    RETURN_IF_ERROR(table->VerifyChecksums(ReadOptions(), &bounds));
  }
  return checks.entries ? CheckEntries(*table, written) : Status::OK();
}

}  // namespace

OutputChecks OutputChecksFor(const ColumnFamilyOptions& options, bool is_flush) {
  OutputChecks checks{.entries = options.paranoid_file_checks};
  const VerifyOutputFlags flags = options.verify_output_flags;
  if (is_flush || !Has(flags, VerifyOutputFlags::kEnableForLocalCompaction)) return checks;
  checks.blocks = Has(flags, VerifyOutputFlags::kVerifyBlockChecksum);
  checks.entries |= Has(flags, VerifyOutputFlags::kVerifyIteration);
  checks.checksum = Has(flags, VerifyOutputFlags::kVerifyFileChecksum);
  return checks;
}

Status CheckOutput(const OutputChecks& checks, const TableOutputOptions& options,
                   const FileMetadata& meta, const EntriesHash& written) {
  assert(checks.any());
  const std::string path = TableFileName(options.dir, meta.number);
  if (checks.blocks || checks.entries) {
    RETURN_IF_ERROR(CheckTable(checks, options, path, meta, written));
  }
  const TableOutputContext& context = *options.context;
  if (!checks.checksum || !meta.has_file_checksum) return Status::OK();
  return CheckFileChecksum(context.fs, path, context.file_options, context.checksum_factory.get(),
                           {.value = meta.file_checksum, .function = meta.file_checksum_function});
}

}  // namespace ashlar
