// SPDX-License-Identifier: Apache-2.0
//
// The steps: reserve the family's id, stage the tables, copy the blob files and write the tables
// that refer to them, record the family with its files, publish it.
#include "db/ingestion/family_import.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "db/jobs/table_options.h"
#include "db/options/bare_factories.h"
#include "db/state/family_handle.h"
#include "db/state/undo_change.h"
#include "db/version/level_tables.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/new_entries.h"
#include "util/rare_sort.h"
#include "util/scope_exit.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Uses the checksum that the exporting database recorded if this database can verify it later;
// otherwise computes its own.
Status SettleExportedChecksum(const InspectOptions& inspect, const LiveFileMetaData& exported,
                              ExternalFile* file) {
  assert(file != nullptr);
  assert(!inspect.ingest->verify_file_checksum);
  const FileChecksum recorded{.value = exported.file_checksum,
                              .function = exported.file_checksum_func_name};
  FileChecksumGenFactory* const factory = inspect.checksum_factory;
  const bool is_known = factory != nullptr && !recorded.value.empty() &&
                        NewChecksumGenerator(factory, file->path, recorded.function) != nullptr;
  return SettleChecksum(inspect, is_known ? std::optional(recorded) : std::nullopt, file);
}

// Without recorded internal keys the program has named the table itself.
bool HasRecordedKeys(const LiveFileMetaData& exported) {
  return exported.smallest.size() >= kTrailerBytes && exported.largest.size() >= kTrailerBytes;
}

}  // namespace

// After an error the files are deleted again; if the MANIFEST may name them, after the next change
// that writes it anew. A family without its OPTIONS file is dropped again, since no handle of it is
// returned.
Status FamilyImport::Run(const ColumnFamilyOptions& options, const std::string& name,
                         const ImportColumnFamilyOptions& import_options,
                         const std::vector<const ExportImportFilesMetaData*>& parts,
                         ColumnFamilyHandle** handle) {
  assert(tables_.empty() && !InEpoch());
  *handle = nullptr;
  comparator_ = InternalKeyComparator(options.comparator);
  bare_ = BareFormatOf(options);
  staging_.move_files = import_options.move_files;
  staging_.allow_db_generated_files = true;
  staging_.verify_file_checksum = false;  // left to VerifyFileChecksums(), as for all other tables
  dir_ = core_->paths.TableDirsFor(options).front();
  Status status = CheckParts(parts);
  if (status.ok()) status = changes_->Begin(options, name, &family_);
  if (status.ok()) status = Prepare(parts);
  if (status.ok()) status = Add(handle);
  const Status settled = status.ok() ? status : Undo();
  {
    MutexLock lock(&core_->mutex);
    numbers_.Settle(settled, settled.ok() ? std::vector<std::string>() : StagedPaths());
  }
  if (!status.ok()) {
    if (!numbers_.may_be_named()) DeleteStaged();
    return status;
  }
  status = changes_->WriteOptions();
  if (!status.ok()) {
    IgnoreError(changes_->Drop(FamilyOf(*handle)), "the first error says more");
    delete std::exchange(*handle, nullptr);
    return status;
  }
  if (import_options.move_files) DeleteSources();
  return status;
}

// Writes all files of the new family. The directory has their names durably then.
Status FamilyImport::Prepare(const std::vector<const ExportImportFilesMetaData*>& parts) {
  const NewEntries entries(core_->environment.fs.get(), dir_);
  for (const ExportImportFilesMetaData* part : parts) RETURN_IF_ERROR(Stage(*part));
  RETURN_IF_ERROR(CheckRanges());
  RETURN_IF_ERROR(WriteTablesWithBlobs());
  return entries.Sync();
}

// After a failed write the MANIFEST may name the family and its files. OK: no MANIFEST names them
// any more.
Status FamilyImport::Undo() {
  if (!numbers_.may_be_named()) return Status::OK();
  return UndoChange(core_, /*failed_before=*/0);  // the change of this import is among them
}

// The program must have chosen the comparator with which the tables were written.
Status FamilyImport::CheckParts(const std::vector<const ExportImportFilesMetaData*>& parts) const {
  const std::string order = comparator_.user_comparator()->Name();
  for (const ExportImportFilesMetaData* part : parts) {
    if (part == nullptr || part->files.empty()) {
      return Status::InvalidArgument("import of a column family: no file is named");
    }
    if (part->db_comparator_name != order) {
      return Status::InvalidArgument(StrCat("import of a column family: comparator expected ",
                                            order, ", found ", part->db_comparator_name));
    }
  }
  if (!parts.empty()) return Status::OK();
  return Status::InvalidArgument("import of a column family: no file is named");
}

// Stages the tables of one part, and remembers their range.
Status FamilyImport::Stage(const ExportImportFilesMetaData& part) {
  assert(!part.files.empty());
  const size_t first = tables_.size();
  for (const LiveFileMetaData& exported : part.files) RETURN_IF_ERROR(StageTable(exported));
  Range range{tables_[first].meta.smallest_user_key().ToString(),
              tables_[first].meta.largest_user_key().ToString()};
  for (size_t i = first + 1; i < tables_.size(); i++) {
    const Slice smallest = tables_[i].meta.smallest_user_key();
    const Slice largest = tables_[i].meta.largest_user_key();
    if (comparator_.OrderWithoutTimestamp(smallest, range.begin) < 0)
      range.begin = smallest.ToString();
    if (comparator_.OrderWithoutTimestamp(largest, range.end) > 0) range.end = largest.ToString();
  }
  ranges_.push_back(std::move(range));
  return Status::OK();
}

// Sorts the ranges by their beginnings, and compares neighbours. All versions of a key belong to
// one part.
Status FamilyImport::CheckRanges() {
  std::sort(ranges_.begin(), ranges_.end(), [this](const Range& a, const Range& b) {
    return comparator_.OrderWithoutTimestamp(a.begin, b.begin) < 0;
  });
  for (size_t i = 1; i < ranges_.size(); i++) {
    if (comparator_.OrderWithoutTimestamp(ranges_[i - 1].end, ranges_[i].begin) >= 0) {
      return Status::InvalidArgument("import of a column family: its parts have common keys");
    }
  }
  return Status::OK();
}

// The recorded metadata is authoritative: the table itself knows neither the sequence number that
// an ingestion gave it nor the bounds to which its range tombstones are cut.
Status FamilyImport::StageTable(const LiveFileMetaData& exported) {
  const InspectOptions inspect = InspectionOf(exported);
  const std::string source =
      StrCat(exported.db_path, exported.name.starts_with('/') ? "" : "/", exported.name);
  const int levels = family_->options()->num_levels;
  if (exported.level < 0 || exported.level >= levels) {
    return Status::InvalidArgument(StrCat("import of a column family: ", source, " is of level ",
                                          exported.level, ", but there are ", levels, " levels"));
  }
  ASSIGN_OR_RETURN(ExternalFile file, InspectImportedTable(inspect, source));
  if (exported.size != 0 && file.bytes != exported.size) {
    return Status::Corruption(StrCat("import of a column family: ", source, ": expected ",
                                     exported.size, " bytes, found ", file.bytes));
  }
  Table& table = tables_.emplace_back();
  table.level = Level{exported.level};
  table.file = std::move(file);
  table.file.number = numbers_.NewNumber();
  table.file.temperature = exported.temperature;
  if (table.has_blobs()) {
    RETURN_IF_ERROR(blobs_.Add(table.file));
  } else {
    RETURN_IF_ERROR(
        StageExternalFile(inspect, TableFileName(dir_, table.file.number), &table.file));
    RETURN_IF_ERROR(SettleExportedChecksum(inspect, exported, &table.file));
  }
  // A sequence number that was written into the table is kept.
  const bool has_written_one = table.file.bounds.largest_seqno != 0;
  table.file.takes_seqno =
      !HasRecordedKeys(exported) && !has_written_one && TakesSeqno(*table.file.properties);
  table.meta = MetadataOf(table.file, table.file.takes_seqno ? exported.largest_seqno : 0);
  if (HasRecordedKeys(exported)) {
    table.meta.smallest_seqno = exported.smallest_seqno;
    table.meta.largest_seqno = exported.largest_seqno;
    table.meta.smallest = exported.smallest;
    table.meta.largest = exported.largest;
  }
  table.meta.epoch_number = exported.epoch_number;
  table.meta.oldest_ancestor_time = exported.oldest_ancester_time;
  table.meta.file_creation_time = exported.file_creation_time;
  return Status::OK();
}

// How a table is inspected. If the export has recorded that it refers to no blob file, its entries
// need not be searched for references.
InspectOptions FamilyImport::InspectionOf(const LiveFileMetaData& exported) const {
  const bool has_no_blobs = HasRecordedKeys(exported) && exported.oldest_blob_file_number == 0;
  return {
      .fs = core_->environment.fs.get(),
      .file_options = core_->environment.file_options,
      .comparator = &comparator_,
      .ingest = &staging_,
      .bare = &bare_,
      .checksum_factory = core_->environment.outputs.checksum_factory.get(),
      .blobs = has_no_blobs ? InspectOptions::Blobs::kKnownNone : InspectOptions::Blobs::kFound};
}

// The new tables have the bounds, sequence numbers and times that are recorded for the old ones.
Status FamilyImport::WriteTablesWithBlobs() {
  if (blobs_.empty()) return Status::OK();
  RETURN_IF_ERROR(blobs_.CopyAll(family_->id(), dir_));
  TableOutputOptions output;
  {
    MutexLock lock(&core_->mutex);
    output = TableOptionsFor(*core_, OutputFamily{.id = family_->id(),
                                                  .name = family_->name(),
                                                  .options = family_->options(),
                                                  .comparator = &family_->comparator(),
                                                  .tables = &family_->tables()});
  }
  output.is_flush = false;
  const InspectOptions inspect = InspectionOf(LiveFileMetaData());
  for (Table& table : tables_) {
    if (!table.has_blobs()) continue;
    output.file_number = table.file.number;
    output.level = table.level;
    output.epoch_number = table.meta.epoch_number;
    output.creation_time = table.meta.file_creation_time;
    output.oldest_ancestor_time = table.meta.oldest_ancestor_time;
    output.oldest_key_time = table.file.properties->oldest_key_time;
    output.temperature = table.file.temperature;
    FileMetadata meta;
    RETURN_IF_ERROR(blobs_.WriteTable(table.file, inspect, output, &meta));
    table.file.path = TableFileName(dir_, table.file.number);
    meta.smallest = table.meta.smallest;
    meta.largest = table.meta.largest;
    meta.smallest_seqno = table.meta.smallest_seqno;
    meta.largest_seqno = table.meta.largest_seqno;
    table.meta = std::move(meta);
  }
  return Status::OK();
}

// No thread uses the family yet, so the order of the view and the sequence number does not matter.
// But the number must not be given to a write again.
Status FamilyImport::Add(ColumnFamilyHandle** handle) {
  assert(family_ != nullptr && !tables_.empty());
  core_->pipeline->Pause();
  const ScopeExit resume([this] { core_->pipeline->Resume(); });
  MutexLock lock(&core_->mutex);
  if (core_->errors.BlocksWrites()) return core_->errors.Get();
  VersionEdit edit;
  SequenceNumber last_seqno = core_->pipeline->visible_seqno();
  // Older tables first: deeper levels first, and level 0 by age.
  std::vector<Table*> tables;
  for (Table& table : tables_) tables.push_back(&table);
  SortRarely(&tables, [](const Table* a, const Table* b) {
    if (a->level != b->level) return a->level > b->level;
    return a->level == 0 && IsNewer(b->meta, a->meta);
  });
  uint64_t epoch = 0;
  for (Table* const in_order : tables) {
    Table& table = *in_order;
    // The epoch numbers of the exporting database mean nothing here. The order of the loop gives
    // newer tables higher numbers.
    table.meta.epoch_number = ++epoch;
    last_seqno = std::max(last_seqno, table.meta.largest_seqno);
    edit.AddFile(table.level, table.meta);
  }
  blobs_.Describe(&edit);
  // From here on an error may leave the files in the MANIFEST, so that they must not be deleted.
  numbers_.ExpectNaming();
  const Status added = family_->Add(&edit, last_seqno);
  if (!added.ok()) {
    numbers_.NoteFailedWrite();
    return added;
  }
  core_->pipeline->SkipTo(last_seqno);
  *handle = new FamilyHandle(family_->added(), core_);
  blobs_.NoteAdded();
  if (core_->resources.space == nullptr) return Status::OK();
  for (const Table& table : tables_) {
    // The others were counted when they were written.
    if (!table.has_blobs()) core_->resources.space->OnAddFile(table.file.path, table.file.bytes);
  }
  return Status::OK();
}

std::vector<std::string> FamilyImport::StagedPaths() const {
  std::vector<std::string> paths = blobs_.CopyPaths();
  for (const Table& table : tables_) {
    if (!table.file.path.empty()) paths.push_back(table.file.path);
  }
  return paths;
}

// Deletes the files that were created so far.
void FamilyImport::DeleteStaged() {
  for (const Table& table : tables_) {
    if (table.file.path.empty()) continue;
    IgnoreError(DeleteFileIfExists(core_->environment.fs.get(), table.file.path),
                "what stays is deleted at the next open");
    if (core_->resources.space != nullptr) core_->resources.space->OnDeleteFile(table.file.path);
  }
  blobs_.DeleteCopies();
}

// With move_files the files of the export are deleted, after the import has succeeded.
void FamilyImport::DeleteSources() {
  for (const Table& table : tables_) {
    IgnoreError(DeleteFileIfExists(core_->environment.fs.get(), table.file.source),
                "the table is in the database; its other name does no harm");
  }
  blobs_.DeleteSources();
}

}  // namespace ashlar
