// SPDX-License-Identifier: Apache-2.0
//
// Files are staged family by family, file by file.
#include "db/ingestion/staged_files.h"

#include <cassert>
#include <map>
#include <set>
#include <utility>

#include "db/files/prepared_file_info.h"
#include "db/ingestion/ingest_place.h"
#include "db/ingestion/range_file.h"
#include "db/options/bare_factories.h"
#include "db/state/family_handle.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/new_entries.h"
#include "util/rare_sort.h"
#include "util/text/str_cat.h"

namespace ashlar {

// A destructor cannot return errors.
StagedFiles::~StagedFiles() { IgnoreError(Abort(), "what stays is deleted at the next open"); }

// Deletes the staged files. After a commit they belong to the database, and nothing is deleted.
Status StagedFiles::Abort() {
  if (std::exchange(is_settled, true)) return Status::OK();
  Status status;
  for (const std::string& path : Paths()) {
    Status deleted = DeleteFileIfExists(core_->environment.fs.get(), path);
    if (status.ok()) status = std::move(deleted);
  }
  MutexLock lock(&core_->mutex);
  numbers.Settle(Status::Aborted());
  return status;
}

std::vector<std::string> StagedFiles::Paths() const {
  std::vector<std::string> paths;
  for (const FamilyFiles& family : families) {
    for (const ExternalFile& file : family.files) {
      if (!file.path.empty()) paths.push_back(file.path);
    }
  }
  return paths;
}

std::string StagedFiles::DebugString() const {
  std::string text =
      StrCat("staged for ", families.size(), " families", is_settled ? ", settled" : "", "\n");
  for (const FamilyFiles& family : families) {
    for (const ExternalFile& file : family.files) {
      StrAppend(&text, family.family->name(), ": ", file.DebugString());
    }
  }
  return text;
}

namespace {

// Checks that need no file.
Status CheckArg(const IngestExternalFileArg& arg) {
  const IngestExternalFileOptions& options = arg.options;
  if (arg.column_family == nullptr) {
    return Status::InvalidArgument("IngestExternalFile: the column family is a null pointer");
  }
  if (arg.external_files.empty()) {
    return Status::InvalidArgument("IngestExternalFile: the list of files is empty");
  }
  if (options.move_files && options.link_files) {
    return Status::InvalidArgument("IngestExternalFile: both move_files and link_files are set");
  }
  const size_t checksums = arg.files_checksums.size();
  if (checksums != arg.files_checksum_func_names.size() ||
      (checksums != 0 && checksums != arg.external_files.size())) {
    return Status::InvalidArgument(
        StrCat("IngestExternalFile: ", arg.external_files.size(), " files, ", checksums,
               " checksums and ", arg.files_checksum_func_names.size(), " names of functions"));
  }
  const size_t infos = arg.file_infos.size();
  if (infos != 0 && infos != arg.external_files.size()) {
    return Status::InvalidArgument(StrCat("IngestExternalFile: ", arg.external_files.size(),
                                          " files and ", infos, " elements of file_infos"));
  }
  return Status::OK();
}

// Inspects a file of which the database that wrote it has told something, unless `info` is null.
// What it has told is used only if the file is a copy of that table.
Result<ExternalFile> InspectPreparedFile(InspectOptions inspect, const std::string& path,
                                         const PreparedFileInfo* info) {
  if (info == nullptr) return InspectExternalFile(inspect, path);
  if (info->has_no_blobs && !info->unique_id.empty()) {
    inspect.blobs = InspectOptions::Blobs::kKnownNone;
  }
  ASSIGN_OR_RETURN(ExternalFile file, InspectExternalFile(inspect, path));
  const std::string unique_id = MetadataOf(file, /*seqno=*/0).unique_id;
  const bool is_same_table = info->unique_id.empty() || info->unique_id == unique_id;
  if (file.bytes == info->bytes && is_same_table) return file;
  return Status::InvalidArgument(
      StrCat("IngestExternalFile: ", path, " is not the table that its file_infos describe"),
      StrCat("expected ", info->bytes, " bytes, found ", file.bytes,
             is_same_table ? "" : ", and another unique id"));
}

// Sorts the files by their first keys: if two of them overlap, then two neighbours do.
bool OverlapEachOther(const InternalKeyComparator& comparator,
                      const std::vector<ExternalFile>& files) {
  std::vector<const TableBounds*> sorted;
  for (const ExternalFile& file : files) sorted.push_back(&file.bounds);
  assert(sorted.size() == files.size());
  SortRarely(&sorted, [&](const TableBounds* a, const TableBounds* b) {
    return comparator.Compare(a->smallest, b->smallest) < 0;
  });
  for (size_t i = 1; i < sorted.size(); i++) {
    if (!EndsBefore(comparator, *sorted[i - 1], *sorted[i])) return true;
  }
  return false;
}

// Files behind all others need an option of the database, and a level that compactions leave alone.
Status CheckMayGoBehind(const IngestExternalFileArg& arg, const ColumnFamilyOptions& options) {
  if (!options.cf_allow_ingest_behind) {
    return Status::InvalidArgument(
        "IngestExternalFile: ingest_behind needs DBOptions::allow_ingest_behind");
  }
  if (options.compaction_style == kCompactionStyleFIFO) {
    return Status::InvalidArgument(
        "IngestExternalFile: ingest_behind needs a level below others, and FIFO has none");
  }
  if (arg.options.allow_db_generated_files) {
    return Status::InvalidArgument(
        "IngestExternalFile: ingest_behind excludes allow_db_generated_files");
  }
  return Status::OK();
}

// Stages the file with the range tombstone: the first and oldest of the family's files.
Status StageRange(DbCore* core, const IngestExternalFileArg& arg,
                  const ColumnFamilyOptions& options, const InspectOptions& inspect,
                  StagedFiles* staged) {
  assert(core != nullptr);
  assert(staged != nullptr);
  assert(!staged->families.empty());
  FamilyFiles& family = staged->families.back();
  RETURN_IF_ERROR(CheckReplacedRange(arg, *inspect.comparator, family.files));
  ASSIGN_OR_RETURN(ExternalFile file,
                   WriteRangeFile(*core, inspect, options, *arg.atomic_replace_range,
                                  staged->numbers.NewNumber()));
  // First in the list, so that it gets the lowest sequence number and hides none of the new keys.
  family.files.insert(family.files.begin(), std::move(file));
  family.overlap_each_other = true;
  return SettleChecksum(inspect, std::nullopt, &family.files.front());
}

// Also adds the directories that must be synced to `*dirs`.
Status StageFamily(DbCore* core, const IngestExternalFileArg& arg, StagedFiles* staged,
                   std::map<std::string, NewEntries>* dirs) {
  assert(dirs != nullptr);
  assert(staged != nullptr);
  // The handle keeps the family alive until the files are committed or deleted.
  FamilyFiles& family = staged->families.emplace_back();
  family.family = FamilyRef(FamilyOf(arg.column_family));
  family.options = arg.options;
  // Holds the options, because SetOptions() may replace them while the files are staged.
  std::shared_ptr<const ColumnFamilyOptions> options;
  {
    MutexLock lock(&core->mutex);
    if (family.family->is_dropped()) return Status::ColumnFamilyDropped();
    if (core->errors.BlocksWrites()) return core->errors.Get();
    options = family.family->shared_options();
  }
  if (arg.options.ingest_behind) RETURN_IF_ERROR(CheckMayGoBehind(arg, *options));
  const BareTableFormat bare = BareFormatOf(*options);
  if (bare.is_bare() && arg.atomic_replace_range.has_value()) {
    return Status::NotSupported(
        StrCat("atomic_replace_range: ", bare.name(), " has no range tombstones"));
  }
  const InspectOptions inspect{
      .fs = core->environment.fs.get(),
      .file_options = core->environment.file_options,
      .comparator = &family.family->comparator(),
      .prefix_extractor = options->prefix_extractor.get(),
      .family_id = family.family->id(),
      .ingest = &family.options,
      .bare = &bare,
      .checksum_factory = core->environment.outputs.checksum_factory.get()};
  for (size_t i = 0; i < arg.external_files.size(); i++) {
    const PreparedFileInfo* const info = arg.file_infos.empty() ? nullptr : arg.file_infos[i];
    ASSIGN_OR_RETURN(ExternalFile file, InspectPreparedFile(inspect, arg.external_files[i], info));
    family.files.push_back(std::move(file));
  }
  family.overlap_each_other = OverlapEachOther(family.family->comparator(), family.files);
  if (arg.options.ingest_behind && family.overlap_each_other) {
    return Status::InvalidArgument("Can't ingest_behind files that overlap each other");
  }
  const std::string dir = core->paths.TableDirsFor(*options).front();
  dirs->try_emplace(dir, core->environment.fs.get(), dir);
  for (size_t i = 0; i < family.files.size(); i++) {
    ExternalFile& file = family.files[i];
    file.number = staged->numbers.NewNumber();
    file.temperature = arg.file_temperature;
    RETURN_IF_ERROR(StageExternalFile(inspect, TableFileName(dir, file.number), &file));
    RETURN_IF_ERROR(SettleChecksum(inspect, GivenChecksum(arg, i), &file));
  }
  return arg.atomic_replace_range.has_value() ? StageRange(core, arg, *options, inspect, staged)
                                              : Status::OK();
}

}  // namespace

// Everything is checked before the first file is staged, as far as no file must be read for it. The
// directories are synced last.
Result<std::unique_ptr<StagedFiles>> StageFiles(DbCore* core,
                                                const std::vector<IngestExternalFileArg>& args) {
  if (args.empty()) return Status::InvalidArgument("IngestExternalFiles: the list is empty");
  std::set<uint32_t> ids;
  for (const IngestExternalFileArg& arg : args) {
    RETURN_IF_ERROR(CheckArg(arg));
    if (ids.insert(arg.column_family->GetID()).second) continue;
    return Status::InvalidArgument("IngestExternalFiles: a column family is named twice",
                                   arg.column_family->GetName());
  }
  auto staged = std::make_unique<StagedFiles>(core);
  std::map<std::string, NewEntries> dirs;
  for (const IngestExternalFileArg& arg : args) {
    RETURN_IF_ERROR(StageFamily(core, arg, staged.get(), &dirs));
  }
  for (const auto& [dir, entries] : dirs) RETURN_IF_ERROR(entries.Sync());
  return staged;
}

}  // namespace ashlar
