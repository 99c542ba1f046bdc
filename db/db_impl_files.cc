// SPDX-License-Identifier: Apache-2.0
//
// Files on disk: metadata of live files, lists for copies of a database, and checksums.
#include <algorithm>
#include <cassert>

#include "ashlar/file_checksum.h"
#include "db/blob/blob_file.h"
#include "db/db_impl.h"
#include "db/files/live_files.h"
#include "db/files/obsolete_files.h"
#include "db/files/wal_iterator.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/io_deadline.h"
#include "table/format/unique_id.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/stored_key.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Fills in everything except two things: the counts, which only the file itself has, and the values
// that the DB mutex guards.
void FillFileMetaData(const TableCache& tables, const FileMetadata& meta, SstFileMetaData* result) {
  assert(result != nullptr);
  result->relative_filename = BaseNameOf(TableFileName("", meta.number));
  result->name = "/" + result->relative_filename;
  result->directory = result->db_path = tables.DirOf(meta.path_id);
  result->file_number = meta.number.value();
  result->file_type = kTableFile;
  result->size = meta.file_size;
  result->temperature = static_cast<Temperature>(meta.temperature);
  result->smallest_seqno = meta.smallest_seqno;
  result->largest_seqno = meta.largest_seqno;
  result->smallestkey = meta.smallest_user_key().ToString();
  result->largestkey = meta.largest_user_key().ToString();
  result->smallest = meta.smallest;
  result->largest = meta.largest;
  result->oldest_ancester_time = meta.oldest_ancestor_time;
  result->file_creation_time = meta.file_creation_time;
  result->epoch_number = meta.epoch_number;
  result->oldest_blob_file_number = meta.oldest_blob_file_number.value();
  result->file_checksum = meta.file_checksum;
  result->file_checksum_func_name = ChecksumFunctionOf(meta);
}

// Adds the counts from the properties of the table, which is opened for this if necessary. A table
// that cannot be opened has no counts.
void FillCounts(TableCache* tables, TableFile* file, SstFileMetaData* result) {
  assert(tables != nullptr);
  assert(file != nullptr);
  assert(result != nullptr);
  result->num_reads_sampled = file->sampled_reads.all.load(std::memory_order_relaxed);
  Result<TableHandle> table = tables->Pin(file);
  if (!table.ok()) return;
  result->num_entries = (*table)->facts().num_entries;
  result->num_deletions = (*table)->facts().num_deletions;
}

// Describes the live blob files of a version. `blobs` is null if it has none.
std::vector<BlobMetaData> DescribeBlobs(const BlobFiles* blobs) {
  std::vector<BlobMetaData> result;
  if (blobs == nullptr) return result;
  for (const BlobFiles::Live& live : blobs->all()) {
    const BlobFileAddition& meta = live.file->meta;
    result.emplace_back(meta.number.value(), "/" + BaseNameOf(live.file->path),
                        DirectoryOf(live.file->path), meta.file_bytes(), meta.blob_count,
                        meta.blob_bytes, live.garbage_count, live.garbage_bytes,
                        meta.checksum_method, meta.checksum_value);
  }
  return result;
}

// Returns the tables of the level that the call asks for: those in the wanted range and level.
std::vector<TableFile*> FilesWanted(const Version& version, Level level,
                                    const GetColumnFamilyMetaDataOptions& wanted) {
  if (wanted.level >= 0 && level != wanted.level) return {};
  const InternalKeyComparator& order = version.comparator();
  const StoredKey start(order, wanted.range.start.AsPtr());
  const StoredKey limit(order, wanted.range.limit.AsPtr());
  std::vector<TableFile*> files = version.Overlapping(level, start.get(), limit.get()).files;
  if (limit.get() == nullptr) return files;
  std::erase_if(files, [&](const TableFile* file) {  // the limit is exclusive
    return order.OrderWithoutTimestamp(file->meta.smallest_user_key(), *limit) >= 0;
  });
  return files;
}

// Sums up the tables and blob files of a family. `only_level` is as in
// GetColumnFamilyMetaDataOptions: -1 selects all levels.
void FillFamilyMetaData(const ColumnFamilyData& family,
                        std::vector<std::vector<SstFileMetaData>> tables,
                        std::vector<BlobMetaData> blobs, int only_level,
                        ColumnFamilyMetaData* metadata) {
  assert(metadata != nullptr);
  metadata->name = family.name();
  metadata->size = 0;
  metadata->file_count = 0;
  metadata->levels.clear();
  for (size_t level = 0; level < tables.size(); level++) {
    if (only_level >= 0 && static_cast<int>(level) != only_level) continue;
    uint64_t bytes = 0;
    for (const SstFileMetaData& file : tables[level]) bytes += file.size;
    metadata->file_count += tables[level].size();
    metadata->size += bytes;
    metadata->levels.emplace_back(static_cast<int>(level), bytes, std::move(tables[level]));
  }
  metadata->blob_file_size = 0;
  for (const BlobMetaData& blob : blobs) metadata->blob_file_size += blob.blob_file_size;
  metadata->blob_file_count = blobs.size();
  metadata->blob_files = std::move(blobs);
}

// The bounds in the MANIFEST, against which VerifyChecksum() compares the entries of the table.
RecordedBounds BoundsOf(const FileMetadata& meta) {
  return {meta.smallest, meta.largest, meta.smallest_seqno, meta.largest_seqno};
}

}  // namespace

void DBImpl::DeleteObsoleteFiles() { PurgeObsoleteFiles(&core_); }

// Refuses calls that hand out files. The files of a followed database belong to another process,
// which may delete any of them at any time.
Status DBImpl::CheckOwnsFiles() const {
  return core_.mode.is_following() ? CheckWritable() : Status::OK();
}

// Refuses to list files of which no copy could be made. After best-efforts recovery the visible
// state is older than that of the MANIFEST, and a read-only database has not written a new one.
Status DBImpl::CheckManifestFits(const char* call) const {
  if (!core_.mode.is_read_only || !core_.findings.has_gone_back) return Status::OK();
  return Status::NotSupported(
      StrCat(call,
             ": best-efforts recovery shows an older state than that of the MANIFEST, and the "
             "database is open for reading only"),
      core_.paths.dir);
}

// Calls may be nested: each needs a call of EnableFileDeletions().
Status DBImpl::DisableFileDeletions() {
  RETURN_IF_ERROR(CheckOwnsFiles());
  MutexLock lock(&core_.mutex);
  core_.kept_files.deletions_disabled++;
  // What another thread has begun to delete or to archive is listed nowhere afterwards.
  AwaitPurges(&core_);
  return Status::OK();
}

// The last of several calls deletes the files that became obsolete in the meantime.
Status DBImpl::EnableFileDeletions() {
  RETURN_IF_ERROR(CheckOwnsFiles());
  {
    MutexLock lock(&core_.mutex);
    if (core_.kept_files.deletions_disabled == 0) return Status::OK();
    if (--core_.kept_files.deletions_disabled > 0) return Status::OK();
  }
  PurgeObsoleteFiles(&core_);
  return Status::OK();
}

// Lists the live files. The result holds the current version of each family, so that its tables
// stay.
LiveFiles DBImpl::CaptureFiles() {
  MutexLock lock(&core_.mutex);
  return CaptureLiveFiles(core_);
}

// The creation times are stored in the tables. So all tables must be open, which max_open_files =
// -1 ensures.
Status DBImpl::GetCreationTimeOfOldestFile(uint64_t* creation_time) {
  assert(creation_time != nullptr);
  *creation_time = 0;
  if (GetDBOptions().max_open_files != -1) {
    return Status::NotSupported("GetCreationTimeOfOldestFile needs max_open_files = -1");
  }
  *creation_time = OldestCreationTimeOf(CaptureFiles());
  OnViewReleased(Purge::kNow);
  return Status::OK();
}

// Describes the tables by family and level, for all families at the same moment.
std::vector<DBImpl::DescribedFiles> DBImpl::DescribeTables(
    const std::vector<FamilyRef>& families, const GetColumnFamilyMetaDataOptions& wanted) {
  std::vector<DescribedFiles> result(families.size());
  std::vector<std::vector<std::vector<TableFile*>>> files(families.size());  // by family and level
  std::vector<ReadView> views;
  {
    MutexLock lock(&core_.mutex);
    for (size_t i = 0; i < families.size(); i++) {
      views.push_back(families[i]->AcquireView());
      const Version& version = *views[i].super_version()->version();
      result[i].levels.resize(version.num_levels());
      assert(result[i].levels.size() >= 1);
      result[i].blobs = DescribeBlobs(version.blobs());
    }
  }
  // The slow part, which may open files, needs only the views.
  for (size_t i = 0; i < families.size(); i++) {
    const Version& version = *views[i].super_version()->version();
    for (size_t level = 0; level < result[i].levels.size(); level++) {
      files[i].push_back(FilesWanted(version, Level{static_cast<int>(level)}, wanted));
      for (TableFile* file : files[i].back()) {
        SstFileMetaData& entry = result[i].levels[level].emplace_back();
        FillFileMetaData(*version.tables(), file->meta, &entry);
        FillCounts(version.tables(), file, &entry);
      }
    }
  }
  // The flag being_compacted is guarded by the mutex. It may have changed since the views were
  // taken.
  MutexLock lock(&core_.mutex);
  for (size_t i = 0; i < families.size(); i++) {
    for (size_t level = 0; level < files[i].size(); level++) {
      for (size_t f = 0; f < files[i][level].size(); f++) {
        result[i].levels[level][f].being_compacted = files[i][level][f]->being_compacted;
      }
    }
  }
  return result;
}

// The tables of all families, as of one moment. The families are pinned, so their objects stay even
// if they are dropped during the call.
void DBImpl::GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata) {
  assert(metadata != nullptr);
  metadata->clear();
  const std::vector<FamilyRef> families = PinAllFamilies();
  const std::vector<DescribedFiles> tables = DescribeTables(families, {});
  for (size_t i = 0; i < families.size(); i++) {
    for (size_t level = 0; level < tables[i].levels.size(); level++) {
      for (const SstFileMetaData& file : tables[i].levels[level]) {
        LiveFileMetaData& entry = metadata->emplace_back();
        static_cast<SstFileMetaData&>(entry) = file;
        entry.column_family_name = families[i]->name();
        entry.level = static_cast<int>(level);
      }
    }
  }
}

void DBImpl::GetColumnFamilyMetaData(ColumnFamilyHandle* handle, ColumnFamilyMetaData* metadata) {
  GetColumnFamilyMetaData(handle, GetColumnFamilyMetaDataOptions(), metadata);
}

// The call has no status, so a null handle gives empty metadata.
void DBImpl::GetColumnFamilyMetaData(ColumnFamilyHandle* handle,
                                     const GetColumnFamilyMetaDataOptions& options,
                                     ColumnFamilyMetaData* metadata) {
  if (handle == nullptr) {
    *metadata = ColumnFamilyMetaData();
    return;
  }
  ColumnFamilyData* family = FamilyOf(handle);
  std::vector<FamilyRef> one;
  one.emplace_back(family);
  DescribedFiles files = std::move(DescribeTables(one, options)[0]);
  FillFamilyMetaData(*family, std::move(files.levels), std::move(files.blobs), options.level,
                     metadata);
}

void DBImpl::GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata) {
  assert(metadata != nullptr);
  metadata->clear();
  const std::vector<FamilyRef> families = PinAllFamilies();
  std::vector<DescribedFiles> tables = DescribeTables(families, {});
  for (size_t i = 0; i < families.size(); i++) {
    FillFamilyMetaData(*families[i], std::move(tables[i].levels), std::move(tables[i].blobs),
                       /*only_level=*/-1, &metadata->emplace_back());
  }
}

// Returns the checksums that the MANIFEST records. No file is read.
Status DBImpl::GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) {
  assert(checksum_list != nullptr);
  checksum_list->reset();
  const Status status = AddChecksumsOf(CaptureFiles(), checksum_list);
  OnViewReleased(Purge::kNow);
  return status;
}

Status DBImpl::GetPreparedFileInfoForExternalSstIngestion(
    const std::string& file_name, std::shared_ptr<const PreparedFileInfo>* info) {
  constexpr const char* kCall = "GetPreparedFileInfoForExternalSstIngestion";
  info->reset();
  FileNumber number;
  FileType type;
  if (!ParseFileName(BaseNameOf(file_name), &number, &type) || type != kTableFile) {
    return Status::InvalidArgument(StrCat(kCall, ": not the name of a table"), file_name);
  }
  *info = PreparedInfoOf(CaptureFiles(), number);
  OnViewReleased(Purge::kNow);
  return *info != nullptr ? Status::OK()
                          : Status::NotFound(StrCat(kCall, ": no live table"), file_name);
}

// Names the files that a copy of the database needs. The caller must disable file deletions first,
// or files may disappear before they are copied.
Status DBImpl::GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                            bool flush_memtable) {
  assert(manifest_file_size != nullptr);
  files.clear();
  *manifest_file_size = 0;
  RETURN_IF_ERROR(CheckOwnsFiles());
  RETURN_IF_ERROR(CheckManifestFits("GetLiveFiles"));
  flush_memtable = flush_memtable && !core_.mode.is_read_only;
  if (flush_memtable)
    RETURN_IF_ERROR(manual_flushes_.FlushAll(FlushOptions(), FlushReason::kGetLiveFiles));
  LiveFiles live;
  {
    MutexLock lock(&core_.mutex);
    if (flush_memtable) {
      // After the flush the copy is complete without the logs, so the MANIFEST need not name them.
      // Its next change names them again.
      VersionSet::Change change;
      change.edits.emplace_back().forgotten_logs_end = core_.versions->next_file_number();
      change.last_sequence = core_.pipeline->visible_seqno();
      RETURN_IF_ERROR(core_.versions->LogAndApply(std::move(change), &core_.mutex));
    }
    live = CaptureLiveFiles(core_);
  }
  files = NamesOf(live);
  *manifest_file_size = live.manifest_bytes;
  live.versions.clear();
  OnViewReleased(Purge::kNow);
  return Status::OK();
}

// The error for calls about logs. A read-only database reads only the logs that it needs, and knows
// no others.
Status DBImpl::LogsAreUnknown(const char* call) const {
  assert(core_.mode.is_read_only);
  return Status::NotSupported(StrCat(call, ": the database is open for reading only"),
                              core_.paths.dir);
}

// Lists everything that a copy of the database needs, with the sizes up to which growing files must
// be copied. The log buffer is flushed to the file first, because a copy sees only what is in the
// file.
Status DBImpl::GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& options,
                                       std::vector<LiveFileStorageInfo>* files) {
  assert(files != nullptr);
  files->clear();
  RETURN_IF_ERROR(CheckOwnsFiles());
  RETURN_IF_ERROR(CheckManifestFits("GetLiveFilesStorageInfo"));
  if (!core_.mode.is_read_only) {
    // With two-phase commit, old logs may be needed for a long time. The flush saves an opening of
    // the copy from replaying all of them.
    if (core_.wals->total_bytes() >= options.wal_size_for_flush || GetDBOptions().allow_2pc) {
      FlushOptions flush;
      flush.force_atomic_flush = options.atomic_flush;
      RETURN_IF_ERROR(manual_flushes_.FlushAll(flush, FlushReason::kGetLiveFiles));
    }
    RETURN_IF_ERROR(FlushWAL(/*sync=*/false));
  }
  *files = StorageInfoOf(CaptureFiles(), core_.paths, options.include_checksum_info);
  OnViewReleased(Purge::kNow);
  return Status::OK();
}

// Archived logs come first, then the live ones; numbers ascend.
Status DBImpl::GetSortedWalFiles(VectorWalPtr& files) {
  files.clear();
  if (core_.mode.is_read_only) return LogsAreUnknown("GetSortedWalFiles");
  ASSIGN_OR_RETURN(const std::vector<LogPlace> logs, ListLogs(core_));
  for (const LogPlace& log : logs) {
    if (log.first_seqno != 0) files.push_back(WalFileOf(log));  // else the log is empty
  }
  return Status::OK();
}

// The log that writes go to now. It may have been replaced when the call returns.
Status DBImpl::GetCurrentWalFile(std::unique_ptr<WalFile>* current_wal_file) {
  assert(current_wal_file != nullptr);
  current_wal_file->reset();
  if (core_.mode.is_read_only) return LogsAreUnknown("GetCurrentWalFile");
  ASSIGN_OR_RETURN(const LogPlace log, CurrentLog(core_));
  *current_wal_file = WalFileOf(log);
  return Status::OK();
}

// The iterator reads the log files, which must be kept by WAL_ttl_seconds or WAL_size_limit_MB; a
// gap gives an error at the iterator.
Status DBImpl::GetUpdatesSince(SequenceNumber seq_number, std::unique_ptr<WalIterator>* iter,
                               const WalIterator::ReadOptions&) {
  if (core_.mode.is_read_only) return LogsAreUnknown("GetUpdatesSince");
  RecordTick(core_.services.statistics.get(), GET_UPDATES_SINCE_CALLS);
  ASSIGN_OR_RETURN(*iter, NewWalIterator(&core_, seq_number));
  return Status::OK();
}

// Checks all blocks of all tables. A view holds the version while it is checked, so none of its
// files is deleted.
Status DBImpl::VerifyChecksum(const ReadOptions& options) {
  const std::vector<FamilyRef> families = PinAllFamilies();
  Status status;
  for (const FamilyRef& family : families) {
    const ReadView view = family->AcquireView();
    const Version* version = view.super_version()->version();
    if (status.ok()) status = version->CheckAges();
    for (Level level = 0; level < version->num_levels(); ++level) {
      for (TableFile* file : version->files(level)) {
        if (!status.ok()) break;
        Result<TableHandle> table = version->tables()->Pin(file);
        const RecordedBounds bounds = BoundsOf(file->meta);
        status = table.ok() ? (*table)->VerifyChecksums(options, &bounds) : table.status();
      }
    }
  }
  return status;
}

// Checks whole files against the checksums in the MANIFEST. Files without a recorded checksum are
// skipped; VerifyChecksum() covers all tables.
Status DBImpl::VerifyFileChecksums(const ReadOptions& options) {
  if (core_.environment.outputs.checksum_factory == nullptr) {
    return Status::InvalidArgument("VerifyFileChecksums: no file_checksum_gen_factory is set");
  }
  Status status;
  const LiveFiles live = CaptureFiles();
  for (const VersionRef& version : live.versions) {
    const TableCache& tables = *version->tables();
    for (Level level = 0; level < version->num_levels(); ++level) {
      for (const TableFile* file : version->files(level)) {
        if (!status.ok()) break;
        const FileMetadata& meta = file->meta;
        status =
            VerifyFileChecksum(options, tables.PathOf(meta),
                               {meta.file_checksum, meta.file_checksum_function}, meta.file_size);
      }
    }
    if (version->blobs() == nullptr) continue;
    for (const BlobFiles::Live& blob : version->blobs()->all()) {
      if (!status.ok()) break;
      const BlobFileAddition& meta = blob.file->meta;
      status = VerifyFileChecksum(options, blob.file->path,
                                  {meta.checksum_value, meta.checksum_method}, meta.file_bytes());
    }
  }
  OnViewReleased(Purge::kNow);
  return status;
}

// Skips a file without a recorded checksum. A database that another process writes has its tables
// open, but is read here by path: there the other process may have deleted a file.
Status DBImpl::VerifyFileChecksum(const ReadOptions& options, const std::string& path,
                                  const FileChecksum& expected, uint64_t file_bytes) const {
  if (expected.value.empty()) return Status::OK();
  IOOptions io;
  io.io_activity = Env::IOActivity::kVerifyFileChecksums;
  RETURN_IF_ERROR(IoDeadline(options, core_.environment.clock.get()).Prepare(&io));
  const Status status =
      CheckFileChecksum(core_.environment.fs.get(), path, core_.environment.file_options,
                        core_.environment.outputs.checksum_factory.get(), expected, io);
  if (core_.mode.access == Access::kSecondary && IsMissing(status)) return Status::OK();
  if (status.ok()) {
    RecordTick(core_.services.statistics.get(), VERIFY_CHECKSUM_READ_BYTES, file_bytes);
  }
  return status;
}

// Adds the properties of these tables to the collection, by path. Tables that are not open are
// opened.
Status DBImpl::CollectProperties(const Version& version, const std::vector<TableFile*>& files,
                                 TablePropertiesCollection* props) {
  for (TableFile* file : files) {
    Result<TableHandle> table = version.tables()->Pin(file);
    if (!table.ok()) return table.status();
    (*props)[version.tables()->PathOf(file->meta)] = (*table)->shared_properties();
  }
  return Status::OK();
}

Status DBImpl::CheckLiveFamily(const ColumnFamilyHandle* handle) const {
  RETURN_IF_ERROR(CheckHandle(handle));
  const auto* const own = static_cast<const FamilyHandle*>(handle);
  if (!own->IsOf(&core_)) {
    return Status::InvalidArgument("the column family is not of this database", handle->GetName());
  }
  MutexLock lock(&core_.mutex);
  if (!own->family()->is_dropped()) return Status::OK();
  return Status::InvalidArgument("the column family was dropped", handle->GetName());
}

// A table without a unique id has no lasting id in a cache, so none is added for it.
Status DBImpl::CollectCacheFileIds(std::set<uint64_t>* ids) {
  assert(ids != nullptr);
  for (const FamilyRef& family : PinAllFamilies()) {
    const ReadView view = family->AcquireView();
    const Version& version = *view.super_version()->version();
    for (Level level = 0; level < version.num_levels(); ++level) {
      for (TableFile* file : version.files(level)) {
        Result<TableHandle> table = version.tables()->Pin(file);
        if (!table.ok()) return table.status();
        const TableReader& reader = **table;
        const Result<InternalUniqueId> id = reader.UniqueId();
        if (!id.ok()) continue;
        ids->insert(CacheFileId(id.value(), reader.footer().checksum.base, reader.global_seqno()));
      }
    }
  }
  return Status::OK();
}

// The view holds the version, so no table of it is deleted while its properties are read.
Status DBImpl::GetPropertiesOfAllTables(ColumnFamilyHandle* handle,
                                        TablePropertiesCollection* props) {
  RETURN_IF_ERROR(CheckHandle(handle));
  const ReadView view = FamilyOf(handle)->AcquireView();
  const Version& version = *view.super_version()->version();
  Status status;
  for (Level level = 0; level < version.num_levels() && status.ok(); ++level) {
    status = CollectProperties(version, version.files(level), props);
  }
  return status;
}

// A table that overlaps several ranges is added only once, because the collection is a map by path.
Status DBImpl::GetPropertiesOfTablesInRange(ColumnFamilyHandle* handle, const Range* range,
                                            std::size_t n, TablePropertiesCollection* props) {
  RETURN_IF_ERROR(CheckHandle(handle));
  const ReadView view = FamilyOf(handle)->AcquireView();
  const Version& version = *view.super_version()->version();
  Status status;
  for (size_t i = 0; i < n; i++) {
    for (Level level = 0; level < version.num_levels() && status.ok(); ++level) {
      const StoredKey start(version.comparator(), &range[i].start);
      const StoredKey limit(version.comparator(), &range[i].limit);
      const LevelFiles files = version.Overlapping(level, start.get(), limit.get());
      status = CollectProperties(version, files.files, props);
    }
  }
  return status;
}

Status DBImpl::GetPropertiesOfTablesByLevel(
    ColumnFamilyHandle* handle,
    std::vector<std::unique_ptr<TablePropertiesCollection>>* props_by_level) {
  assert(props_by_level != nullptr);
  props_by_level->clear();
  RETURN_IF_ERROR(CheckHandle(handle));
  const ReadView view = FamilyOf(handle)->AcquireView();
  const Version& version = *view.super_version()->version();
  Status status;
  for (Level level = 0; level < version.num_levels() && status.ok(); ++level) {
    props_by_level->push_back(std::make_unique<TablePropertiesCollection>());
    status = CollectProperties(version, version.files(level), props_by_level->back().get());
  }
  return status;
}

}  // namespace ashlar
