// SPDX-License-Identifier: Apache-2.0
//
// Operations that copy the database: checkpoints, backups, exports. Each opens the copy and
// compares one family in it with the states before and after the copying: a write that had ended
// before is in the copy, one that began afterwards is not.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/metadata.h"
#include "ashlar/utilities/backup_engine.h"
#include "ashlar/utilities/checkpoint.h"
#include "tools/db_stress/worker.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

// The states of all keys of a family before and after a copy was made.
struct Limits {
  KeyId first;
  std::vector<KeyState> before, after;
};

// Copies with the states of a family taken around it. The copy is opened with all families, so the
// volatile family must not be dropped meanwhile.
template <typename Copy>
Limits CopyWithLimits(Worker* worker, Copy copy) {
  const FamilyUse keeps = worker->db().Use(worker->db().volatile_family());
  Limits limits{.first = {worker->StableFamily(), 0}};
  limits.before = worker->LoadRange(limits.first, worker->space().keys);
  copy(limits.first.family);
  limits.after = worker->LoadRange(limits.first, worker->space().keys);
  return limits;
}

void CompareFamily(Worker* worker, DB* copy, ColumnFamilyHandle* handle, const Limits& limits,
                   const char* call) {
  ReadOptions read;
  read.total_order_seek = true;
  const std::unique_ptr<Iterator> it(copy->NewIterator(read, handle));
  CheckScan(it.get(), limits.first, limits.before, limits.after, worker->random.OneIn(2), call);
}

// Every key of the family may have been absent.
void CheckNothing(const Limits& limits, const char* call) {
  for (size_t i = 0; i < limits.before.size(); i++) {
    const KeyId key{limits.first.family, limits.first.number + i};
    CheckFound(key, limits.before[i], limits.after[i], std::nullopt, call);
  }
}

// Opens the copy, compares the family, closes it and removes it.
void CompareAndRemove(Worker* worker, const std::string& path, const Limits& limits,
                      const char* call) {
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> copy;
  DBOptions options;
  // A copy may contain prepared transactions.
  options.allow_2pc = worker->db().transactions() == Transactions::kLocking;
  Require(DB::OpenForReadOnly(options, path, worker->db().Descriptors(), &handles, &copy),
          StrCat("opening for ", call));
  CompareFamily(worker, copy.get(), handles[static_cast<size_t>(limits.first.family)], limits,
                call);
  for (ColumnFamilyHandle* handle : handles) {
    Require(copy->DestroyColumnFamilyHandle(handle), StrCat("closing after ", call));
  }
  Require(copy->Close(), StrCat("closing after ", call));
  copy.reset();
  Require(DestroyDB(path, Options(), worker->db().Descriptors()), StrCat("DestroyDB after ", call));
}

void RemoveDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) Fail(StrCat("removing ", path, ": ", error.message()));
}

BackupEngineOptions DrawBackupOptions(Worker* worker, const std::string& path) {
  BackupEngineOptions options(path);
  options.share_table_files = !worker->random.OneIn(4);
  options.sync = false;  // nothing here survives a kill
  options.max_background_operations = 1 + static_cast<int>(worker->random.Uniform(3));
  options.schema_version = 1 + static_cast<int>(worker->random.Uniform(2));
  options.share_files_with_checksum_naming = worker->random.OneIn(4)
                                                 ? BackupEngineOptions::kLegacyCrc32cAndFileSize
                                                 : options.share_files_with_checksum_naming;
  return options;
}

// A third of the times the directory is emptied, or old backups are removed.
void RemoveOldBackups(Worker* worker, BackupEngine* engine) {
  std::vector<BackupID> corrupt;
  engine->GetCorruptedBackups(&corrupt);
  if (!corrupt.empty()) Fail(StrCat("backup ", corrupt.front(), " is corrupt"));
  if (!worker->random.OneIn(3)) return;
  Require(engine->PurgeOldBackups(static_cast<uint32_t>(worker->random.Uniform(3))),
          "PurgeOldBackups");
  Require(engine->GarbageCollect(), "GarbageCollect of backups");
}

}  // namespace

void CheckCheckpoint(Worker* worker) {
  const std::unique_lock turn(worker->shared->copies.checkpoint_mutex, std::try_to_lock);
  if (!turn.owns_lock()) return;
  const std::string path = worker->db().TemporaryPath("checkpoint");
  Checkpoint* made = nullptr;
  Require(Checkpoint::Create(worker->db().get(), &made), "Checkpoint::Create");
  const std::unique_ptr<Checkpoint> checkpoint(made);
  const uint64_t log_bytes_for_flush = worker->random.OneIn(2) ? 0 : UINT64_MAX;
  const Limits limits = CopyWithLimits(worker, [&](int) {
    Require(checkpoint->CreateCheckpoint(path, log_bytes_for_flush), "CreateCheckpoint");
  });
  CompareAndRemove(worker, path, limits, "a scan of a checkpoint");
}

// The new backup must be right, and so must the others be, by their checksums.
void CheckBackup(Worker* worker) {
  const std::unique_lock turn(worker->shared->copies.backup_mutex, std::try_to_lock);
  if (!turn.owns_lock()) return;
  BackupEngine* opened = nullptr;
  Require(BackupEngine::Open(DrawBackupOptions(worker, worker->db().TemporaryPath("backups")),
                             Env::Default(), &opened),
          "BackupEngine::Open");
  const std::unique_ptr<BackupEngine> engine(opened);
  RemoveOldBackups(worker, engine.get());
  CreateBackupOptions create;
  create.flush_before_backup = worker->random.OneIn(2);
  BackupID made = 0;
  const Limits limits = CopyWithLimits(worker, [&](int) {
    Require(engine->CreateNewBackup(create, worker->db().get(), &made), "CreateNewBackup");
  });
  std::vector<BackupInfo> all;
  engine->GetBackupInfo(&all);
  if (all.empty() || all.back().backup_id != made) {
    Fail(StrCat("GetBackupInfo: the newest is not ", made));
  }
  const BackupInfo& drawn = all[worker->random.Uniform(all.size())];
  Require(engine->VerifyBackup(made, /*verify_with_checksum=*/true), "VerifyBackup");
  Require(engine->VerifyBackup(drawn.backup_id, worker->random.OneIn(2)),
          "VerifyBackup of an older backup");
  const std::string path = worker->db().TemporaryPath("restored");
  RestoreOptions restore;
  restore.mode = worker->random.OneIn(2) ? RestoreOptions::Mode::kVerifyChecksum
                                         : RestoreOptions::Mode::kPurgeAllFiles;
  // On top of another state, from which a mode may keep files.
  if (worker->random.OneIn(4)) {
    Require(engine->RestoreDBFromBackup(drawn.backup_id, path, path), "RestoreDBFromBackup");
  }
  Require(engine->RestoreDBFromBackup(restore, made, path, path), "RestoreDBFromBackup");
  CompareAndRemove(worker, path, limits, "a scan of a restored backup");
}

// The import goes into another database: a kill must not leave a family that the next run does not
// expect.
void CheckExport(Worker* worker) {
  const std::unique_lock turn(worker->shared->copies.export_mutex, std::try_to_lock);
  if (!turn.owns_lock()) return;
  const std::string from = worker->db().TemporaryPath("export");
  const std::string path = worker->db().TemporaryPath("imported");
  Checkpoint* made = nullptr;
  Require(Checkpoint::Create(worker->db().get(), &made), "Checkpoint::Create");
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* exported = nullptr;
  // An export is refused while transactions are undecided that have written to tables.
  bool is_refused = false;
  const Limits limits = CopyWithLimits(worker, [&](int family) {
    const FamilyUse use = worker->db().Use(family);
    const Status status = checkpoint->ExportColumnFamily(use.get(), from, &exported);
    is_refused = status.IsBusy() && worker->db().transactions() == Transactions::kLocking;
    if (!is_refused) Require(status, "ExportColumnFamily");
  });
  if (is_refused) return;
  const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
  if (metadata->files.empty()) {
    CheckNothing(limits, "an export without tables");
    return RemoveDirectory(from);
  }

  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> target;
  Require(DB::Open(options, path, &target), "opening a database for an import");
  ImportColumnFamilyOptions import_options;
  import_options.move_files = worker->random.OneIn(2);
  ColumnFamilyHandle* handle = nullptr;
  const ColumnFamilyOptions& family_options =
      worker->db().options().families[static_cast<size_t>(limits.first.family)];
  Require(target->CreateColumnFamilyWithImport(family_options, "imported", import_options,
                                               *metadata, &handle),
          "CreateColumnFamilyWithImport");
  CompareFamily(worker, target.get(), handle, limits, "a scan of an imported family");
  Require(target->DropColumnFamily(handle), "dropping an imported family");
  Require(target->DestroyColumnFamilyHandle(handle), "closing an imported family");
  Require(target->Close(), "closing a database after an import");
  target.reset();
  RemoveDirectory(path);
  RemoveDirectory(from);
}

}  // namespace ashlar::stress
