// SPDX-License-Identifier: Apache-2.0
//
// The read half of opening: nothing in this file changes a file of an existing database.
#include "db/opening/open.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <thread>
#include <utility>

#include "db/manifest/manifest_reader.h"
#include "db/opening/best_efforts.h"
#include "db/opening/open_tables.h"
#include "db/options/options_check.h"
#include "db/options/table_factory.h"
#include "db/state/log_needs.h"
#include "db/wal/log_archive.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "env/io_rule.h"
#include "table/sst/write/table_builder.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

// Declared in the public headers, without any members for programs.
struct ImmutableDBOptions {};

// The order of the steps is described in open.h. Up to OpenLog() nothing of an existing database is
// changed.
Status Opener::Run() {
  if (request_.db_options.allow_data_in_errors) AllowDataInErrors();
  RETURN_IF_ERROR(CheckOptions());
  core_->mode.is_read_only = request_.is_read_only();
  core_->mode.access = request_.access;
  core_->environment.outputs.file_options = core_->environment.fs->OptimizeForCompactionTableWrite(
      core_->environment.outputs.file_options, ImmutableDBOptions());
  RETURN_IF_ERROR(PrepareDirectories());
  if (!request_.is_read_only()) RETURN_IF_ERROR(LockDirectory());
  RETURN_IF_ERROR(CreateIfMissing());
  if (!request_.is_read_only()) RETURN_IF_ERROR(CheckDirectIo());
  if (!request_.is_read_only() && core_->kept_files.archive.is_on())
    RETURN_IF_ERROR(core_->kept_files.archive.Prepare());

  MutexLock lock(&core_->mutex);
  const IoUnderDbMutex nobody_waits;
  // No other thread knows the database yet, so file operations under the mutex delay nobody.
  RETURN_IF_ERROR(RecoverVersions());
  RETURN_IF_ERROR(OpenFamilies());
  if (request_.is_for_tables) return FinishReadOnly();
  if (request_.is_following()) return FinishFollowing();
  RETURN_IF_ERROR(CheckTables());
  RETURN_IF_ERROR(ReplayLogs());
  core_->findings.recovery_report = report_.ToString();
  core_->findings.has_whole_logs =
      !stopped_early_ && !report_.HasLostRecords() && report_.batches_filtered == 0;
  if (request_.is_read_only()) return FinishReadOnly();

  RETURN_IF_ERROR(OpenLog());
  RETURN_IF_ERROR(SettleDbId());
  RETURN_IF_ERROR(SettleFileNumbers());
  RETURN_IF_ERROR(FlushReplayed());
  RETURN_IF_ERROR(StartLog());
  RETURN_IF_ERROR(InstallRecovery());
  return CreateMissingFamilies();
}

// All families are checked before the directory is touched.
Status Opener::CheckOptions() const {
  std::set<std::string> names;
  for (const ColumnFamilyDescriptor& family : request_.families) {
    if (names.insert(family.name).second) continue;
    return Status::InvalidArgument("Column family named twice", family.name);
  }
  for (const ColumnFamilyDescriptor& family : request_.families) {
    RETURN_IF_ERROR(CheckOptionsSupported(request_.db_options, family.options));
    const BlockBasedTableOptions* table = BlockBasedOptionsOf(family.options.table_factory.get());
    if (table == nullptr) {
      return Status::NotSupported("table_factory: a class of the program is not supported");
    }
    RETURN_IF_ERROR(CheckTableOptionsWritable(*table, family.options.compression));
  }
  return Status::OK();
}

// Creates the directories that are missing, if the database may be created.
Status Opener::PrepareDirectories() {
  for (const std::string& dir : {core_->paths.dir, core_->paths.wal_dir}) {
    bool is_dir = true;
    const IOStatus status = core_->environment.fs->IsDirectory(dir, IOOptions(), &is_dir, nullptr);
    if (status.ok() && !is_dir) return Status::IOError(dir, "exists but is not a directory");
  }
  for (const ColumnFamilyDescriptor& family : request_.families) {
    const std::vector<std::string> dirs = core_->paths.TableDirsFor(family.options);
    core_->paths.table_dirs.insert(dirs.begin(), dirs.end());
  }
  if (request_.is_read_only()) return Status::OK();
  // A database may get more directories than it had.
  const bool is_there =
      core_->environment.fs->FileExists(CurrentFileName(core_->paths.dir), IOOptions(), nullptr)
          .ok();
  if (!is_there && !request_.db_options.create_if_missing) return Status::OK();
  RETURN_IF_ERROR(CreateDirectories(core_->environment.fs.get(), core_->paths.dir));
  RETURN_IF_ERROR(CreateDirectories(core_->environment.fs.get(), core_->paths.wal_dir));
  for (const std::string& path : core_->paths.table_dirs) {
    RETURN_IF_ERROR(CreateDirectories(core_->environment.fs.get(), path));
  }
  return Status::OK();
}

// Two processes must not write to the same database.
Status Opener::LockDirectory() {
  // If there is no database, no lock file is left behind.
  if (!request_.db_options.create_if_missing) {
    ASSIGN_OR_RETURN(const bool exists, HasDatabase());
    if (!exists) return CreateIfMissing();
  }
  return core_->directory_lock.Take(core_->paths.dir);
}

// If the file system refuses direct I/O, opening fails, and not only the first flush.
Status Opener::CheckDirectIo() {
  FileOptions options = core_->environment.outputs.file_options;
  if (!options.use_direct_reads && !options.use_direct_writes) return Status::OK();
  FileSystem* const fs = core_->environment.fs.get();
  for (const std::string& dir : core_->paths.table_dirs) {
    const std::string path = TempFileName(dir, 1);
    std::unique_ptr<FSWritableFile> written;
    Status status = fs->NewWritableFile(path, options, &written, nullptr);
    if (status.ok()) status = written->Close(IOOptions(), nullptr);
    std::unique_ptr<FSRandomAccessFile> read;
    if (status.ok()) status = fs->NewRandomAccessFile(path, options, &read, nullptr);
    read.reset();
    // The test file is deleted in any case; the error of the test comes first.
    const Status deleted = DeleteFileIfExists(fs, path);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(deleted);
  }
  return Status::OK();
}

// Best-efforts recovery works without CURRENT.
Result<bool> Opener::HasDatabase() const {
  const IOStatus exists =
      core_->environment.fs->FileExists(CurrentFileName(core_->paths.dir), IOOptions(), nullptr);
  if (exists.ok()) return true;
  if (!exists.IsNotFound() && !exists.IsPathNotFound()) return Status(exists);
  if (!request_.db_options.best_efforts_recovery) return false;
  return HasManifest(core_->environment.fs.get(), core_->paths.dir);
}

// Decides what happens if there is no database: it is created, or an error says why not.
Status Opener::CreateIfMissing() {
  ASSIGN_OR_RETURN(const bool exists, HasDatabase());
  if (exists) {
    if (request_.db_options.error_if_exists && !request_.is_read_only()) {
      return Status::InvalidArgument(core_->paths.dir, "exists (error_if_exists is true)");
    }
    return Status::OK();
  }
  if (request_.is_read_only()) {
    return Status::PathNotFound(core_->paths.dir, "no database here: there is no CURRENT file");
  }
  if (!request_.db_options.create_if_missing) {
    return Status::InvalidArgument(core_->paths.dir, "does not exist (create_if_missing is false)");
  }
  // IDENTITY is written before CURRENT. A crash between the two leaves a directory without a
  // database, and the next opening writes both again.
  RETURN_IF_ERROR(CheckNothingLeft());
  core_->identity.db_id = core_->environment.env->GenerateUniqueId();
  RETURN_IF_ERROR(WriteIdentity());
  return VersionSet::CreateNew(VersionOptions(), core_->identity.db_id);
}

// Logs or tables without CURRENT are the remains of another database: a new one would delete them
// or mix with them.
Status Opener::CheckNothingLeft() const {
  std::set<std::string> dirs = core_->paths.table_dirs;
  dirs.insert({core_->paths.dir, core_->paths.wal_dir});
  for (const std::string& dir : dirs) {
    auto names = ListDirectory(core_->environment.fs.get(), dir);
    if (!names.ok()) {
      if (IsMissing(names.status())) continue;
      return names.status();
    }
    for (const std::string& name : *names) {
      FileNumber number;
      FileType type;
      const bool is_content = ParseFileName(name, &number, &type) &&
                              (type == kWalFile || type == kTableFile || type == kBlobFile);
      if (!is_content) continue;
      return Status::InvalidArgument(
          StrCat(dir, "/", name, ": left of a database without CURRENT file; restore CURRENT, ",
                 "move the files away or choose another directory"));
    }
  }
  return Status::OK();
}

// The info log does not exist yet, so the version set gets none.
VersionSetOptions Opener::VersionOptions() const {
  const DBOptions& options = request_.db_options;
  VersionSetOptions result;
  result.fs = core_->environment.fs.get();
  result.file_options =
      core_->environment.fs->OptimizeForManifestWrite(core_->environment.file_options);
  result.file_options.temperature = options.metadata_write_temperature;
  result.dir = core_->paths.dir;
  result.use_fsync = options.use_fsync;
  result.max_bytes = options.max_manifest_file_size;
  result.preallocate_bytes = options.manifest_preallocation_size;
  result.statistics = core_->services.statistics.get();
  result.write_db_id = options.write_dbid_to_manifest;
  result.lists_logs = options.track_and_verify_wals_in_manifest;
  result.info_log = nullptr;
  result.is_followed = request_.is_following();
  return result;
}

// Everything that a family's table cache needs to know. The options of the family have been
// checked.
TableCacheOptions TableCacheOptionsFor(DbCore* core, const ColumnFamilyOptions& options) {
  assert(core != nullptr);
  // CheckOptions() and similar checks accept no other factory.
  assert(BlockBasedOptionsOf(options.table_factory.get()) != nullptr);
  TableCacheOptions result(InternalKeyComparator(options.comparator));
  result.fs = core->environment.fs.get();
  result.file_options = core->environment.file_options;
  const ImmutableDBOptions nothing_to_tell;
  result.compaction_file_options = core->environment.fs->OptimizeForCompactionTableRead(
      core->environment.file_options, nothing_to_tell);
  result.blob_file_options = core->environment.fs->OptimizeForBlobFileRead(
      core->environment.file_options, nothing_to_tell);
  result.paths = core->paths.TableDirsFor(options);
  result.table = *BlockBasedOptionsOf(options.table_factory.get());
  result.prefix_extractor = options.prefix_extractor;
  // If the table should have a block cache, the factory has created it.
  if (!result.table.no_block_cache) result.block_cache = result.table.block_cache;
  result.row_cache = core->options->row_cache;
  result.blob_cache = options.blob_cache;
  result.budget = &core->resources.open_tables;
  result.statistics = core->services.statistics.get();
  result.level_count = options.num_levels;
  result.default_temperature = options.default_temperature;
  result.write_buffer_bytes = options.write_buffer_size;
  result.clock = core->environment.clock.get();
  result.block_protection_bytes = options.block_protection_bytes_per_key;
  result.verify_unique_ids = core->options->verify_sst_unique_id_in_manifest;
  result.bears_longer_files = !core->options->paranoid_checks;
  return result;
}

// Families are requested before the MANIFEST is read, because it decides which of them exist.
FamilyRequest Opener::RequestFor(const ColumnFamilyDescriptor& descriptor) const {
  FamilyRequest request(descriptor.name, InternalKeyComparator(descriptor.options.comparator));
  request.num_levels = descriptor.options.num_levels;
  request.tables = std::make_unique<TableCache>(TableCacheOptionsFor(core_, descriptor.options));
  return request;
}

// Reads the MANIFEST. Families that it does not have go to missing_.
Status Opener::RecoverVersions() {
  Status status = RecoverVersionsOnce();
  constexpr int kMostSwitches = 10;
  const auto may_retry = [&] {
    return request_.is_following() && (status.IsCorruption() || IsMissing(status));
  };
  for (int i = 0; may_retry(); i++) {
    // The MANIFEST that CURRENT named may have been deleted before it was read.
    auto current = ReadCurrent(core_->environment.fs.get(), core_->paths.dir);
    if (!current.ok() || *current == current_manifest_) break;
    if (i == kMostSwitches) {
      return Status::TryAgain("the MANIFEST was replaced at every attempt to read it",
                              status.ToString());
    }
    // The failed version set is discarded as a whole, so that nothing of the old MANIFEST remains.
    core_->versions.reset();
    missing_.clear();
    status = RecoverVersionsOnce();
  }
  return status;
}

// One attempt. current_manifest_ is noted before the MANIFEST is read, so that the caller can tell
// whether CURRENT has changed since.
Status Opener::RecoverVersionsOnce() {
  assert(core_->versions == nullptr && missing_.empty());
  if (request_.is_following()) {
    ASSIGN_OR_RETURN(current_manifest_, ReadCurrent(core_->environment.fs.get(), core_->paths.dir));
  }
  core_->versions = std::make_unique<VersionSet>(VersionOptions());
  std::vector<FamilyRequest> requests;
  for (const ColumnFamilyDescriptor& family : request_.families) {
    requests.push_back(RequestFor(family));
  }
  if (request_.db_options.best_efforts_recovery) RETURN_IF_ERROR(GoBackIfNeeded(requests));
  RETURN_IF_ERROR(core_->versions->Recover(std::move(requests), request_.is_read_only(), &missing_,
                                           point_.has_value() ? &*point_ : nullptr));
  report_.dropped_manifest_bytes = core_->versions->torn_manifest_bytes();
  const auto is_hidden = [&](const FamilyRequest& family) {
    return request_.has_hidden_family && family.name == kPersistentStatsColumnFamilyName;
  };
  if (!request_.db_options.persist_stats_to_disk || request_.is_read_only()) {
    std::erase_if(missing_, is_hidden);
  }
  if (request_.db_options.create_missing_column_families && !request_.is_read_only()) {
    return Status::OK();
  }
  const auto lacking = std::find_if_not(missing_.begin(), missing_.end(), is_hidden);
  if (lacking == missing_.end()) return Status::OK();
  return Status::InvalidArgument("Column family not found", lacking->name);
}

// If the logs would leave a hole after the state that was found, they are left out.
Status Opener::GoBackIfNeeded(const std::vector<FamilyRequest>& requests) {
  assert(!point_.has_value());
  BestState found;
  {
    MutexUnlock unlock(&core_->mutex);  // tables are opened; no other thread knows the database yet
    ASSIGN_OR_RETURN(found, FindBestState(core_->environment.fs.get(), core_->paths.dir, requests));
  }
  core_->findings.has_gone_back = !found.is_whole;
  report_.notes = std::move(found.notes);
  point_ = std::move(found.point);
  return Status::OK();
}

// The sanitized options of a requested family.
const ColumnFamilyOptions& Opener::OptionsOf(const std::string& family) const {
  const auto it = std::find_if(request_.families.begin(), request_.families.end(),
                               [&](const auto& descriptor) { return descriptor.name == family; });
  assert(it != request_.families.end());  // a family that was not requested is not recovered
  return it->options;
}

// The settled options of a requested family.
const ColumnFamilyOptions& Opener::SettledOptionsOf(const std::string& family) const {
  const auto it = request_.settled_options.find(family);
  assert(it != request_.settled_options.end());  // DBImpl::OpenChecked() has added it
  return it->second;
}

// Creates the objects of the families and publishes their first super versions.
Status Opener::OpenFamilies() {
  assert(core_->families.All().empty());
  for (FamilyVersions* versions : core_->versions->LiveFamilies()) {
    auto options = std::make_shared<const ColumnFamilyOptions>(OptionsOf(versions->name));
    FamilyRef family = FamilyRef::Adopt(
        new ColumnFamilyData(versions, std::move(options), core_->versions.get(), host_));
    family->settled_options =
        std::make_shared<const ColumnFamilyOptions>(SettledOptionsOf(versions->name));
    family->PublishSuperVersion();
    core_->families.Add(std::move(family));
  }
  return Status::OK();
}

// Checks that every table exists and is as long as the MANIFEST says. Tables with unsupported
// features are refused now, while nothing has been changed.
Status Opener::CheckTables() {
  std::vector<NamedTable> tables;
  core_->versions->ForEachLiveFile([&](const FamilyVersions& family, Level, TableFile* file) {
    tables.push_back({&family, file});
  });
  MutexUnlock unlock(&core_->mutex);  // waits for threads; no other thread knows the database yet
  return LookAtTables(core_->environment, core_->resources.open_tables, request_.db_options,
                      tables);
}

// A log that the MANIFEST knows must exist, and be as long as it was when synced, as long as it is
// needed. Only a recovery mode that accepts any remains opens without it, because a MANIFEST that
// has lost its end may name logs that were deleted since.
Status Opener::CheckTrackedLogs(const std::vector<FileNumber>& logs, FileNumber min_log) {
  assert(std::is_sorted(logs.begin(), logs.end()));
  for (const auto& [number, log] : core_->versions->tracked_logs()) {
    if (number < min_log) continue;
    const bool exists = std::binary_search(logs.begin(), logs.end(), number);
    Status status = CheckTrackedLog(number, log, exists);
    if (status.ok()) continue;
    const DBOptions& options = request_.db_options;
    const bool is_tolerated =
        status.IsCorruption() &&
        (options.best_efforts_recovery ||
         options.wal_recovery_mode == WALRecoveryMode::kSkipAnyCorruptedRecords);
    if (!is_tolerated) return status;
    report_.dropped.push_back({.log_number = number, .reason = status.ToString()});
  }
  return Status::OK();
}

// Whether a log is as long as it was when it was synced.
Status Opener::CheckTrackedLog(FileNumber number, const LogSummary& log, bool exists) const {
  const std::string path = LogFileName(core_->paths.wal_dir, number);
  constexpr char kAdvice[] =
      "; restore the file, or open with kSkipAnyCorruptedRecords to go on without what it held";
  if (!exists) {
    return Status::Corruption(StrCat(path, ": Missing WAL with log number: ", number,
                                     ": the MANIFEST needs this log, but there is no such file",
                                     kAdvice));
  }
  ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(core_->environment.fs.get(), path));
  if (bytes >= log.synced_bytes) return Status::OK();
  return Status::Corruption(StrCat(path, ": Size mismatch: ", bytes, " bytes, but ",
                                   log.synced_bytes, " were synced", kAdvice));
}

// Replays with several threads if there is enough work for them, and if memtables may become
// slightly fuller than their limit. Stored statistics, which are small, and updates in place, which
// are sequential, use one thread.
size_t Opener::ThreadsToReplay(const std::vector<FileNumber>& logs) const {
  // With less to replay, starting threads costs more than they save.
  constexpr uint64_t kLeastBytes = 4 << 20;
  constexpr size_t kMost = 8;
  static_assert(kLeastBytes >= 4 * ReplayInserter::kMaxInFlightBytes);
  const size_t processors = std::thread::hardware_concurrency();
  uint64_t bytes = 0;
  for (FileNumber number : logs) {
    auto size = FileSizeOf(core_->environment.fs.get(), LogFileName(core_->paths.wal_dir, number));
    if (size.ok()) bytes += *size;  // else replay reports the error
  }
  const bool goes_alone =
      std::any_of(request_.families.begin(), request_.families.end(), [](const auto& family) {
        if (family.options.inplace_update_support) return true;
        return family.name != kPersistentStatsColumnFamilyName &&
               family.options.write_buffer_size < kLeastBytes;
      });
  if (processors < 2 || bytes < kLeastBytes || goes_alone) return 0;
  return std::min(processors, kMost);
}

namespace {

// A value that takes the place of another one keeps the number of that one, so a replay with
// inplace_update_support has shown what the table of undecided transactions is to hide.
Status CheckUndecidedIn(const std::vector<ColumnFamilyDescriptor>& families,
                        const UndecidedTable& undecided, SequenceNumber last) {
  if (!undecided.is_used()) return Status::OK();
  const EpochGuard guard;
  if (undecided.Load()->FirstHiddenAt(last) > last) return Status::OK();
  for (const ColumnFamilyDescriptor& family : families) {
    if (!family.options.inplace_update_support) continue;
    return Status::NotSupported(
        StrCat("column family ", family.name, " has inplace_update_support, but the log holds ",
               "prepared transactions: decide them first, with TransactionDB::Open()"));
  }
  return Status::OK();
}

}  // namespace

// Replays the logs that the MANIFEST needs, in their order.
Status Opener::ReplayLogs() {
  ASSIGN_OR_RETURN(std::vector<FileNumber> logs, LogsAmong(names_->In(core_->paths.wal_dir)));
  assert(replayed_.empty() && log_bytes_.empty());
  if (!logs.empty()) highest_log_ = logs.back();
  const bool has_min_log = core_->versions->min_log_number_to_keep() > 0;
  const bool allows_two_phase = request_.db_options.allow_2pc;
  // Prepare sections may be in logs that are older than all unflushed data: without a recorded
  // number every log is read.
  const FileNumber min_log =
      allows_two_phase && !has_min_log ? FileNumber{} : OldestLogOfManifest(*core_->versions);
  if (core_->findings.has_gone_back) return LeaveOut(logs);
  RETURN_IF_ERROR(CheckTrackedLogs(logs, min_log));
  std::erase_if(logs, [min_log](FileNumber number) { return number < min_log; });
  // Only logs that are needed count: older ones were replayed and flushed before.
  if (request_.error_if_wal_exists && !logs.empty()) {
    return Status::Corruption("The db was not closed cleanly, and error_if_wal_file_exists is set");
  }
  if (request_.is_read_only()) NoteLogSizes(logs);
  WalReplayOptions options;
  options.fs = core_->environment.fs.get();
  options.file_options = core_->environment.fs->OptimizeForLogRead(core_->environment.file_options);
  options.wal_dir = core_->paths.wal_dir;
  options.mode = request_.db_options.wal_recovery_mode;
  options.paranoid_checks = request_.db_options.paranoid_checks;
  options.min_log_number = min_log;
  options.allows_two_phase = allows_two_phase;
  options.undecided = &core_->undecided;
  options.has_min_log_to_keep = has_min_log;
  options.is_repair = request_.is_repair;
  options.last_sequence = core_->versions->recovered_last_sequence();
  options.tracked = &core_->versions->tracked_logs();
  options.max_family = core_->versions->max_column_family();
  options.verifies_predecessors = request_.db_options.track_and_verify_wals;
  options.filter = request_.db_options.wal_filter;
  options.mutex = &core_->mutex;
  options.env = core_->environment.env;
  options.insert_threads = ThreadsToReplay(logs);
  options.tools = MergeToolsOf(*core_);
  WalReplay replay(options, &core_->families, &report_);
  RETURN_IF_ERROR(replay.Run(logs));
  RETURN_IF_ERROR(CheckUndecidedIn(request_.families, core_->undecided, replay.last_sequence()));
  replayed_ = replay.logs();
  stopped_early_ = replay.stopped_early();
  core_->pipeline->StartAt(replay.last_sequence());
  if (request_.is_read_only())
    return Status::OK();  // it decides nothing: prepared data stays hidden (core_->undecided)
  for (SectionReplay::FoundSection& found : replay.TakeUndecided()) {
    core_->prepared_logs.AddRecovered(std::move(found.section), found.log, found.seqno);
  }
  return Status::OK();
}

// The recovered state is not the one that these logs continue, so they are not replayed.
Status Opener::LeaveOut(const std::vector<FileNumber>& logs) {
  assert(core_->findings.has_gone_back && replayed_.empty());
  for (const FileNumber number : logs) {
    report_.dropped.push_back({.log_number = number,
                               .reason = "left out by best-efforts recovery",
                               .good_records_follow = true});
  }
  core_->pipeline->StartAt(core_->versions->recovered_last_sequence());
  return Status::OK();
}

// Sizes from before the replay, because another process may write to the last log.
void Opener::NoteLogSizes(const std::vector<FileNumber>& logs) {
  assert(log_bytes_.empty());
  for (const FileNumber number : logs) {
    auto bytes = FileSizeOf(core_->environment.fs.get(), LogFileName(core_->paths.wal_dir, number));
    log_bytes_[number] = bytes.ok() ? *bytes : 0;  // else replay reports the error
  }
}

// Records the files that a copy of the database needs beside its tables and its MANIFEST. The sizes
// of the logs are from before the replay, which may have read more of a log that another process
// writes.
void Opener::NoteFilesForCopies() {
  assert(core_->mode.is_read_only);
  for (const auto& [number, bytes] : log_bytes_) {
    const auto replayed = replayed_.find(number);
    const uint64_t end = replayed == replayed_.end() ? 0 : replayed->second.end_offset;
    core_->wals->AddRecovered({.number = number, .end_bytes = std::max(bytes, end)});
  }
  const Result<std::vector<std::string>>& names = names_->In(core_->paths.dir);
  if (!names.ok()) return;  // the database can be read without them
  FileNumber newest = 0;
  for (const std::string& name : names.value()) {
    FileNumber number;
    FileType type;
    if (!ParseFileName(name, &number, &type) || type != kOptionsFile) continue;
    newest = std::max(newest, number);
  }
  if (newest == 0) return;
  auto bytes = FileSizeOf(core_->environment.fs.get(), OptionsFileName(core_->paths.dir, newest));
  if (bytes.ok()) core_->kept_files.options_files[newest] = *bytes;
}

// The MANIFEST has the ID unless write_dbid_to_manifest was off; then the file IDENTITY has it.
void Opener::FindDbId() {
  core_->identity.db_id = core_->versions->db_id();
  if (core_->identity.db_id.empty()) core_->identity.db_id = StoredDbId();
}

// The links of a follower have the names of tables, so it would replace those of a database in the
// same directory; in the primary's directory these are the files themselves.
Status Opener::CheckDirectoryOfFollower() const {
  const IOStatus current =
      core_->environment.fs->FileExists(CurrentFileName(request_.own_dir), IOOptions(), nullptr);
  if (IsMissing(current)) return Status::OK();
  RETURN_IF_ERROR(current);
  return Status::InvalidArgument(request_.own_dir,
                                 "is the directory of a database: a follower needs its own");
}

// From here on the Follower (db/following) opens tables and reads logs, again and again.
Status Opener::FinishFollowing() {
  assert(core_->wals->current_number() == 0);
  FileSystem* const fs = core_->environment.fs.get();
  if (!request_.own_dir.empty()) RETURN_IF_ERROR(CreateDirectories(fs, request_.own_dir));
  if (request_.access == Access::kFollower) {
    RETURN_IF_ERROR(CheckDirectoryOfFollower());
    RETURN_IF_ERROR(core_->directory_lock.Take(request_.own_dir));
  }
  FindDbId();
  return OpenLog();
}

// A read-only database writes no info log.
Status Opener::FinishReadOnly() {
  assert(!core_->directory_lock.is_held() &&
         core_->wals->current_number() == 0);  // it writes nothing
  if (!request_.is_for_tables) NoteFilesForCopies();
  FindDbId();
  core_->services.info_log =
      core_->options->info_log != nullptr ? core_->options->info_log : NewNullLogger();
  core_->services.events =
      std::make_unique<EventLogger>(core_->services.info_log.get(), core_->environment.clock.get());
  return Status::OK();
}

}  // namespace ashlar
