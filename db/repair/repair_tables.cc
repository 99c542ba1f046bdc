// SPDX-License-Identifier: Apache-2.0
//
// Decides what becomes of each table and blob file, and from which WAL on a family needs its
// entries.
#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "db/options/options_check.h"
#include "db/repair/repair.h"
#include "db/repair/repair_parts.h"
#include "db/repair/tombstone_limits.h"
#include "db/version/level_tables.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/rare_sort.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The first few lines, so that a report stays readable.
std::string Joined(const std::vector<std::string>& lines) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < lines.size() && i < kMost; i++) {
    StrAppend(&text, i == 0 ? "" : "; ", lines[i]);
  }
  if (lines.size() > kMost) StrAppend(&text, "; and ", lines.size() - kMost, " more");
  return text;
}

// The indexes of the tables, which have their places, in the order in which reads search them.
std::vector<size_t> SearchOrder(const std::vector<PlacedTable>& tables) {
  std::vector<size_t> order(tables.size());
  std::iota(order.begin(), order.end(), size_t{0});
  SortRarely(&order, [&tables](size_t a, size_t b) {
    const Level first = *tables[a].level, second = *tables[b].level;
    if (first != second) return first < second;
    return first == 0 && IsNewer(tables[a].meta, tables[b].meta);
  });
  return order;
}

// Replaces the checksum that the MANIFEST has of a blob file that is another one now. Without a
// factory nobody can compute it, and the file has none.
Status RenewChecksum(const DbEnvironment& environment, const std::string& path,
                     BlobFileAddition* addition) {
  assert(addition != nullptr);
  FileChecksum checksum;
  if (FileChecksumGenFactory* const factory = environment.outputs.checksum_factory.get()) {
    ASSIGN_OR_RETURN(checksum,
                     ChecksumFile(environment.fs.get(), path, environment.file_options, factory));
  }
  addition->checksum_method = std::move(checksum.function);
  addition->checksum_value = std::move(checksum.value);
  return Status::OK();
}

}  // namespace

TableReadContext Repair::ReadContext(const Family& family) const {
  return {.fs = environment_.fs.get(),
          .file_options = environment_.file_options,
          .comparator = &family.comparator,
          .prefix_extractor = family.options->prefix_extractor.get()};
}

TableOutputOptions Repair::OutputOptions(const Family& family, Level level) {
  TableOutputOptions output;
  output.context = &environment_.outputs;
  output.family_options = family.options;
  output.comparator = &family.comparator;
  output.family_name = family.name;
  output.family_id = family.id;
  output.dir = family.dirs.front();
  output.blob_dir = family.dirs.front();
  output.creation_time = environment_.NowSeconds();
  output.file_number = NewNumber();
  output.level = level;
  output.is_flush = false;
  return output;
}

// The directory in which the file was found; if there is no such file, the one that the MANIFEST
// says.
std::string Repair::PathOf(const Family& family, const FileMetadata& meta) const {
  const auto found = files_->tables.find(meta.number);
  if (found != files_->tables.end()) return found->second;
  assert(!family.dirs.empty());
  const size_t place = std::min<size_t>(meta.path_id, family.dirs.size() - 1);
  return TableFileName(family.dirs[place], meta.number);
}

// The path id is an index of the family's directories, so that a table elsewhere cannot be named by
// a MANIFEST.
Result<uint32_t> Repair::PathIdOf(const Family& family, const std::string& path) const {
  const auto dir = std::find(family.dirs.begin(), family.dirs.end(), DirectoryOf(path));
  if (dir != family.dirs.end()) return static_cast<uint32_t>(dir - family.dirs.begin());
  return Status::InvalidArgument(StrCat(path, ": not in a directory of column family \"",
                                        family.name, "\"; check db_paths and cf_paths"));
}

Status Repair::SurveyTables(Family* family) {
  assert(family != nullptr);
  if (family->content == nullptr) return Status::OK();
  for (const auto& [number, file] : family->content->tables) {
    const std::string path = PathOf(*family, file.meta);
    if (!files_->tables.contains(number)) {
      Note(StrCat(path, ": lost: the MANIFEST names it, but it does not exist"));
      family->has_losses = true;
      continue;
    }
    const Status status = VerifyTable(ReadContext(*family), path, file.meta);
    if (!status.ok() && !status.IsCorruption()) return status;
    PlacedTable table{.meta = file.meta, .level = file.level};
    // The file may lie in another directory than before.
    ASSIGN_OR_RETURN(table.meta.path_id, PathIdOf(*family, path));
    if (status.ok()) {
      family->largest_named = std::max(family->largest_named, file.meta.largest_seqno);
      family->tables.push_back(std::move(table));
      continue;
    }
    Note(StrCat(path, ": damaged: ", status.ToString()));
    RETURN_IF_ERROR(CopyTable(path, &file.meta, family, std::move(table)));
  }
  return Status::OK();
}

// `table` has the level that the copy takes over from the original.
Status Repair::CopyTable(const std::string& path, const FileMetadata* meta, Family* family,
                         PlacedTable table) {
  assert(family != nullptr);
  family->has_losses = true;
  const TableOutputOptions output = OutputOptions(*family, table.level.value_or(Level()));
  ASSIGN_OR_RETURN(SalvagedTable salvaged,
                   SalvageTable(ReadContext(*family), path, meta, /*elsewhere=*/nullptr, output));
  if (!salvaged.meta) {
    // The damaged file is moved to `lost` at the end, like all files that are not needed.
    Note(StrCat(path, ": lost: nothing can be read: ", Joined(salvaged.damage)));
    return Status::OK();
  }
  Note(StrCat(path, ": ", salvaged.entries, " entries copied to ",
              TableFileName(output.dir, output.file_number),
              "; not readable: ", Joined(salvaged.damage)));
  // The copy is as old as the original.
  const FileMetadata before = std::exchange(table.meta, *std::move(salvaged.meta));
  table.meta.epoch_number = before.epoch_number;
  table.meta.oldest_ancestor_time = before.oldest_ancestor_time;
  SequenceNumber& largest = meta != nullptr ? family->largest_named : family->largest_flushed;
  largest = std::max(largest, table.meta.largest_seqno);
  family->tables.push_back(std::move(table));
  return Status::OK();
}

// Entries of a WAL may be applied only if no table has newer entries of the same family, because
// they become the newest table. The MANIFEST knows from which WAL on that holds for the tables that
// it names. The others show it, because the entries of a family are flushed in their order.
void Repair::SettleLogs(Family* family) {
  assert(family != nullptr);
  FileNumber number = family->content != nullptr ? family->content->log_number : FileNumber();
  // Older WALs that were kept may have the entries of tables that are lost.
  if (family->has_losses) {
    number = std::min(number, logs_.FirstLogBehind(family->id, family->largest_named));
  }
  if (!base_.IsFinal()) {
    number = std::max(number, logs_.FirstLogBehind(family->id, family->largest_flushed));
  }
  family->log_number = number;
}

Status Repair::LimitTombstones(Family* family) {
  const auto path_of = [&](const FileMetadata& meta) { return PathOf(*family, meta); };
  return ::ashlar::LimitTombstones(ReadContext(*family), path_of, &family->tables, &report_);
}

Status Repair::PlaceFamily(Family* family) {
  assert(family != nullptr);
  const TableReadContext context = ReadContext(*family);
  // Readers stay open, because each table is compared with several others.
  constexpr size_t kMostOpen = 64;
  std::map<FileNumber, std::unique_ptr<TableReader>> open;
  const auto open_table = [&](const FileMetadata& meta) -> Result<const TableReader*> {
    std::unique_ptr<TableReader>& reader = open[meta.number];
    if (reader == nullptr) {
      ASSIGN_OR_RETURN(reader, OpenTableForRepair(context, PathOf(*family, meta), &meta));
    }
    return static_cast<const TableReader*>(reader.get());
  };
  const auto compare = [&](const FileMetadata& first,
                           const FileMetadata& second) -> Result<NewerTable> {
    // All are closed at once: the pairs come in the order of the keys, so that old readers are
    // rarely needed again.
    if (open.size() >= kMostOpen) open.clear();
    ASSIGN_OR_RETURN(const TableReader* const a, open_table(first));
    ASSIGN_OR_RETURN(const TableReader* const b, open_table(second));
    return CompareTableAges(context, *a, *b);
  };
  const PlacementOptions options{
      .comparator = &family->comparator,
      .num_levels = family->options->num_levels,
      .uses_level0_only = family->options->compaction_style == kCompactionStyleFIFO,
      .reserves_last_level =
          family->options->cf_allow_ingest_behind && family->options->num_levels > 2};
  return PlaceTables(options, compare, &family->tables, &report_);
}

// A blob file that the MANIFEST names and that does not exist need not be lost: no record says that
// a file was dropped because no table refers to it any more. CountGarbage() notes references to
// files that do not exist.
Status Repair::SurveyBlobs() {
  for (const auto& [number, path] : files_->blobs) RETURN_IF_ERROR(SurveyBlob(number, path));
  return Status::OK();
}

// Adds the blob file to its family, or reports why it is not used.
Status Repair::SurveyBlob(FileNumber number, const std::string& path) {
  const FileOptions& options = environment_.file_options;
  auto survey = SurveyBlobFile(environment_.fs.get(), options, path);
  if (!survey.ok()) {
    if (!survey.status().IsCorruption()) return survey.status();
    Note(StrCat(path, ": lost: ", survey.status().ToString()));
    return Status::OK();
  }
  const auto family = families_.find(survey->family_id);
  if (family == families_.end()) {
    Note(StrCat(path, ": of column family ", survey->family_id, ", which is dropped"));
    return Status::OK();
  }
  const FamilyContent* const content = family->second.content;
  // A complete MANIFEST explains the file: it is obsolete.
  const bool is_named = content != nullptr && content->blobs.contains(number);
  if (base_.IsFinal() && !is_named) return Status::OK();
  if (!survey->damage.empty()) Note(StrCat(path, ": damaged: ", Joined(survey->damage)));
  BlobFileContent blob;
  if (is_named) blob.addition = content->blobs.at(number).addition;
  const bool has_changed = blob.addition.blob_count != survey->blob_count ||
                           blob.addition.blob_bytes != survey->blob_bytes;
  blob.addition.number = number;
  blob.addition.blob_count = survey->blob_count;
  blob.addition.blob_bytes = survey->blob_bytes;
  if (!survey->has_footer) {
    // The temporary file is in the same directory, because a rename to another one may cross file
    // systems.
    const std::string temporary = TempFileName(DirectoryOf(path), number);
    RETURN_IF_ERROR(CompleteBlobFile(environment_.fs.get(), options, path, *survey, temporary));
    // A crash before the rename leaves the original, and a temporary file that an opening deletes.
    ASSIGN_OR_RETURN(const std::string kept, lost_.Keep(path));
    RETURN_IF_ERROR(lost_.Sync());
    RETURN_IF_ERROR(environment_.fs->RenameFile(temporary, path, IOOptions(), nullptr));
    Note(StrCat(path, ": ", survey->blob_count, " values kept, a footer added; the original is ",
                kept));
  }
  // Also if it was an interrupted repair that has added the footer.
  if (is_named && has_changed) {
    RETURN_IF_ERROR(RenewChecksum(environment_, path, &blob.addition));
  }
  family->second.blobs[number] = blob;
  return Status::OK();
}

// Without a MANIFEST both the inputs and the outputs of a compaction may be there, and refer to the
// same blobs. Counted twice, such a blob would become garbage when a compaction drops one of its
// entries, and then a second time. So only the table that is searched first keeps the entry.
Status Repair::LeaveOutRepeatedBlobs(Family* family) {
  assert(family != nullptr);
  // A complete MANIFEST names no table beside those from which it was made.
  if (base_.IsFinal()) return Status::OK();
  BlobUsers known;
  for (const size_t i : SearchOrder(family->tables)) {
    PlacedTable& table = family->tables[i];
    if (table.meta.oldest_blob_file_number == 0) continue;
    const std::string path = PathOf(*family, table.meta);
    ASSIGN_OR_RETURN(const BlobUsers own, FindBlobUsers(ReadContext(*family), path, table.meta));
    bool repeats = false;
    for (const auto& [number, users] : own) {
      for (const auto& [offset, seqno] : users) {
        repeats = repeats || IsRepeated(known, number, offset, seqno);
      }
    }
    if (repeats) RETURN_IF_ERROR(CopyWithout(known, path, *family, &table));
    for (const auto& [number, users] : own) {
      // The greater number counts for tables that are searched later.
      for (const auto& [offset, seqno] : users) {
        SequenceNumber& newest = known[number][offset];
        newest = std::max(newest, seqno);
      }
    }
  }
  std::erase_if(family->tables, [](const PlacedTable& table) { return table.meta.number == 0; });
  return Status::OK();
}

// Replaces the table by one without the entries that repeat a use of a blob; by file number 0 if no
// other entries are left. The original is moved to `lost` at the end.
Status Repair::CopyWithout(const BlobUsers& known, const std::string& path, const Family& family,
                           PlacedTable* table) {
  assert(table != nullptr && table->level.has_value());
  const TableOutputOptions output = OutputOptions(family, *table->level);
  ASSIGN_OR_RETURN(SalvagedTable copy,
                   SalvageTable(ReadContext(family), path, &table->meta, &known, output));
  Note(StrCat(path, ": ", copy.repeated, " values left out that other tables refer to"));
  if (!copy.damage.empty()) return Status::Corruption(path, Joined(copy.damage));  // it was sound
  const FileMetadata before = std::exchange(table->meta, FileMetadata());
  if (!copy.meta) return Status::OK();
  table->meta = *std::move(copy.meta);
  table->meta.epoch_number = before.epoch_number;
  table->meta.oldest_ancestor_time = before.oldest_ancestor_time;
  return Status::OK();
}

// Bytes to which no entry refers are garbage. A blob file that is all garbage is not needed.
Status Repair::CountGarbage(Family* family) {
  assert(family != nullptr);
  SurveyedBlobs uses;
  // Without losses, the numbers of a complete MANIFEST are right.
  const bool may_refer = !family->blobs.empty() || !base_.IsFinal() || family->has_losses ||
                         (family->content != nullptr && !family->content->blobs.empty());
  if (!may_refer) return Status::OK();
  for (const PlacedTable& table : family->tables) {
    const std::string path = PathOf(*family, table.meta);
    SurveyedBlobs of_table;
    if (table.meta.oldest_blob_file_number == 0) continue;
    RETURN_IF_ERROR(CountBlobUses(ReadContext(*family), path, table.meta, &of_table));
    for (const auto& [number, use] : of_table) {
      uses[number].count += use.count;
      uses[number].bytes += use.bytes;
      if (family->blobs.contains(number)) continue;
      Note(StrCat(path, ": ", use.count, " values cannot be read: there is no blob file ", number));
    }
  }
  // Files without references are moved to `lost` at the end.
  std::erase_if(family->blobs, [&](const auto& blob) { return !uses.contains(blob.first); });
  for (auto& [number, blob] : family->blobs) {
    const SurveyedBlob& use = uses.at(number);
    // The numbers of a damaged file may be smaller than those of the references.
    blob.garbage_count = blob.addition.blob_count - std::min(use.count, blob.addition.blob_count);
    blob.garbage_bytes = blob.addition.blob_bytes - std::min(use.bytes, blob.addition.blob_bytes);
    if (blob.garbage_count == 0) blob.garbage_bytes = 0;
  }
  return Status::OK();
}

}  // namespace ashlar
