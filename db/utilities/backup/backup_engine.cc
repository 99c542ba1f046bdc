// SPDX-License-Identifier: Apache-2.0
//
// The two public classes. Each call waits for its turn (EngineTurns) and calls EngineCore.
#include "ashlar/utilities/backup_engine.h"

#include <cassert>
#include <memory>
#include <utility>

#include "db/utilities/backup/backup_names.h"
#include "db/utilities/backup/engine_core.h"
#include "db/utilities/backup/engine_turns.h"

namespace ashlar {
namespace {

using Turn = EngineTurns::Turn;
using TurnKind = EngineTurns::Kind;

IOStatus AsIOStatus(Status status) { return status_to_io_status(std::move(status)); }

// The functions that both classes of the API have; Base is BackupEngine or BackupEngineReadOnly.
// The object owns the core and the turns. Statuses become IOStatuses here.
template <typename Base>
class ReadingEngine : public Base {
 public:
  explicit ReadingEngine(std::unique_ptr<EngineCore> core) : core_(std::move(core)) {}

  Status GetLatestBackupInfo(BackupInfo* backup_info, bool include_file_details) const override {
    return GetBackupInfo(kLatestBackupId, backup_info, include_file_details);
  }

  Status GetBackupInfo(BackupID backup_id, BackupInfo* backup_info,
                       bool include_file_details) const override {
    assert(backup_info != nullptr);
    const Turn turn(&turns_, TurnKind::kRead);
    ASSIGN_OR_RETURN(*backup_info, core_->Describe(backup_id, include_file_details));
    return Status::OK();
  }

  void GetBackupInfo(std::vector<BackupInfo>* backup_infos,
                     bool include_file_details) const override {
    assert(backup_infos != nullptr);
    const Turn turn(&turns_, TurnKind::kRead);
    *backup_infos = core_->DescribeAll(include_file_details);
  }

  void GetCorruptedBackups(std::vector<BackupID>* corrupt_backup_ids) const override {
    assert(corrupt_backup_ids != nullptr);
    const Turn turn(&turns_, TurnKind::kRead);
    *corrupt_backup_ids = core_->Damaged();
  }

  using BackupEngineReadOnlyBase::RestoreDBFromBackup;
  IOStatus RestoreDBFromBackup(const RestoreOptions& options, BackupID backup_id,
                               const std::string& db_dir,
                               const std::string& wal_dir) const override {
    const Turn turn(&turns_, TurnKind::kRead);
    return AsIOStatus(core_->Restore(options, backup_id, db_dir, wal_dir));
  }

  using BackupEngineReadOnlyBase::RestoreDBFromLatestBackup;
  IOStatus RestoreDBFromLatestBackup(const RestoreOptions& options, const std::string& db_dir,
                                     const std::string& wal_dir) const override {
    return RestoreDBFromBackup(options, kLatestBackupId, db_dir, wal_dir);
  }

  IOStatus VerifyBackup(BackupID backup_id, bool verify_with_checksum) const override {
    const Turn turn(&turns_, TurnKind::kRead);
    return AsIOStatus(core_->Verify(backup_id, verify_with_checksum));
  }

 protected:
  // Only for derived classes. They must take a turn before they use the core.
  EngineCore* core() { return core_.get(); }
  EngineTurns* turns() { return &turns_; }

 private:
  const std::unique_ptr<EngineCore> core_;
  // Reading calls are const, but they wait for their turn as well.
  mutable EngineTurns turns_;
};

class ReadOnlyEngine final : public ReadingEngine<BackupEngineReadOnly> {
 public:
  using ReadingEngine::ReadingEngine;
  BackupEngine* AsBackupEngine() override { return nullptr; }
};

class WritingEngine final : public ReadingEngine<BackupEngine> {
 public:
  using ReadingEngine::ReadingEngine;
  BackupEngine* AsBackupEngine() override { return this; }

  using BackupEngine::CreateNewBackupWithMetadata;
  IOStatus CreateNewBackupWithMetadata(const CreateBackupOptions& options, DB* db,
                                       const std::string& app_metadata,
                                       BackupID* new_backup_id) override {
    const Turn turn(turns(), TurnKind::kAppend);
    Result<BackupID> id = core()->Create(options, db, app_metadata);
    // *new_backup_id is left unchanged by a failed call.
    if (!id.ok()) return AsIOStatus(id.status());
    if (new_backup_id != nullptr) *new_backup_id = *id;
    return IOStatus::OK();
  }

  // Does not wait for a turn, because it must reach the running operation.
  void StopBackup() override { core()->Stop(); }

  IOStatus GarbageCollect() override {
    const Turn turn(turns(), TurnKind::kAppend);
    return AsIOStatus(core()->CollectGarbage());
  }
  IOStatus PurgeOldBackups(uint32_t num_backups_to_keep) override {
    const Turn turn(turns(), TurnKind::kWrite);
    return AsIOStatus(core()->Purge(num_backups_to_keep));
  }
  IOStatus DeleteBackup(BackupID backup_id) override {
    const Turn turn(turns(), TurnKind::kWrite);
    return AsIOStatus(core()->Delete(backup_id));
  }
};

// On an error *engine is null. The caller of Open() owns the engine.
template <typename Engine, typename Base>
IOStatus OpenEngine(const BackupEngineOptions& options, Env* db_env, EngineCore::Access access,
                    Base** engine) {
  assert(engine != nullptr);
  *engine = nullptr;
  auto core = EngineCore::Open(options, db_env, access);
  if (!core.ok()) return AsIOStatus(core.status());
  *engine = new Engine(core.Take());
  return IOStatus::OK();
}

}  // namespace

IOStatus BackupEngine::Open(const BackupEngineOptions& options, Env* db_env,
                            BackupEngine** backup_engine_ptr) {
  return OpenEngine<WritingEngine>(options, db_env, EngineCore::Access::kReadWrite,
                                   backup_engine_ptr);
}

IOStatus BackupEngineReadOnly::Open(const BackupEngineOptions& options, Env* db_env,
                                    BackupEngineReadOnly** backup_engine_ptr) {
  return OpenEngine<ReadOnlyEngine>(options, db_env, EngineCore::Access::kReadOnly,
                                    backup_engine_ptr);
}

void BackupEngineOptions::Dump(Logger* logger) const {
  // One line for each option, so that a log shows with which settings the backups were made.
  const auto line = [logger](const char* name, const std::string& value) {
    Log(InfoLogLevel::INFO_LEVEL, logger, "backup engine: %s: %s", name, value.c_str());
  };
  line("backup_dir", backup_dir);
  line("share_table_files", std::to_string(share_table_files));
  line("share_files_with_checksum", std::to_string(share_files_with_checksum));
  line("share_files_with_checksum_naming",
       std::to_string(static_cast<uint32_t>(share_files_with_checksum_naming)));
  line("schema_version", std::to_string(schema_version));
  line("sync", std::to_string(sync));
  line("destroy_old_data", std::to_string(destroy_old_data));
  line("backup_log_files", std::to_string(backup_log_files));
  line("io_buffer_size", std::to_string(io_buffer_size));
  line("backup_rate_limit", std::to_string(backup_rate_limit));
  line("restore_rate_limit", std::to_string(restore_rate_limit));
  line("max_background_operations", std::to_string(max_background_operations));
  line("callback_trigger_interval_size", std::to_string(callback_trigger_interval_size));
  line("max_valid_backups_to_open", std::to_string(max_valid_backups_to_open));
  line("current_temperatures_override_manifest",
       std::to_string(current_temperatures_override_manifest));
}

}  // namespace ashlar
