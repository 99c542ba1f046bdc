// SPDX-License-Identifier: Apache-2.0
//
// The C API: backups.
//
// An engine handle owns the C++ engine. A list of backups is a copy, made when it is asked for, and
// owned by the program; later backups do not appear in it.
#include "ashlar/c/backup.h"

#include <cassert>

#include "ashlar/utilities/backup_engine.h"
#include "capi/option_handles.h"

using ashlar::BackupEngine;
using ashlar::BackupEngineOptions;
using ashlar::BackupID;
using ashlar::BackupInfo;
using ashlar::CreateBackupOptions;
using ashlar::Env;
using ashlar::capi::Failed;
using ashlar::capi::OptionsIn;
using ashlar::capi::Text;

struct ashlar_backup_engine_t {
  std::unique_ptr<BackupEngine> rep;
};
struct ashlar_backup_engine_info_t {
  std::vector<BackupInfo> rep;
};

namespace ashlar::capi {
namespace {

// The part that both opening functions share. `env` is that of the database; options may name
// another one for the backups. Null after an error.
ashlar_backup_engine_t* OpenBackups(Env* env, const BackupEngineOptions& options, char** errptr) {
  BackupEngine* engine = nullptr;
  if (Failed(errptr, BackupEngine::Open(env, options, &engine))) return nullptr;
  assert(engine != nullptr);
  return new ashlar_backup_engine_t{std::unique_ptr<BackupEngine>(engine)};
}

// The program guarantees that 0 <= index < count.
const BackupInfo& Backup(const ashlar_backup_engine_info_t* info, int index) {
  assert(info != nullptr);
  assert(index >= 0 && static_cast<size_t>(index) < info->rep.size());
  return info->rep[static_cast<size_t>(index)];
}

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::Backup;
using ashlar::capi::OpenBackups;

ashlar_backup_engine_t* ashlar_backup_engine_open(const ashlar_options_t* options, const char* path,
                                                  char** errptr) {
  assert(path != nullptr);
  return OpenBackups(OptionsIn(options).env, BackupEngineOptions(path), errptr);
}

ashlar_backup_engine_t* ashlar_backup_engine_open_opts(
    const ashlar_backup_engine_options_t* options, ashlar_env_t* env, char** errptr) {
  assert(options != nullptr);
  return OpenBackups(env == nullptr ? Env::Default() : env->rep, options->rep, errptr);
}

void ashlar_backup_engine_close(ashlar_backup_engine_t* be) { delete be; }

void ashlar_backup_engine_create_new_backup(ashlar_backup_engine_t* be, ashlar_t* db,
                                            char** errptr) {
  ashlar_backup_engine_create_new_backup_flush(be, db, 0, errptr);
}

void ashlar_backup_engine_create_new_backup_flush(ashlar_backup_engine_t* be, ashlar_t* db,
                                                  unsigned char flush_before_backup,
                                                  char** errptr) {
  assert(be != nullptr);
  assert(db != nullptr);
  Failed(errptr, be->rep->CreateNewBackup(db->rep, flush_before_backup != 0));
}

void ashlar_backup_engine_create_new_backup_with_options(
    ashlar_backup_engine_t* be, ashlar_t* db, const ashlar_create_backup_options_t* options,
    uint32_t* backup_id, char** errptr) {
  ashlar_backup_engine_create_new_backup_with_metadata(be, db, options, nullptr, 0, backup_id,
                                                       errptr);
}

void ashlar_backup_engine_create_new_backup_with_metadata(
    ashlar_backup_engine_t* be, ashlar_t* db, const ashlar_create_backup_options_t* options,
    const char* app_metadata, size_t app_metadata_len, uint32_t* backup_id, char** errptr) {
  assert(be != nullptr);
  assert(db != nullptr);
  // *backup_id changes only if the backup was made.
  BackupID id = 0;
  if (Failed(errptr, be->rep->CreateNewBackupWithMetadata(
                         OptionsIn(options), db->rep,
                         Text(app_metadata, app_metadata_len).ToString(), &id))) {
    return;
  }
  if (backup_id != nullptr) *backup_id = id;
}

void ashlar_backup_engine_stop_backup(ashlar_backup_engine_t* be) { be->rep->StopBackup(); }

void ashlar_backup_engine_purge_old_backups(ashlar_backup_engine_t* be,
                                            uint32_t num_backups_to_keep, char** errptr) {
  Failed(errptr, be->rep->PurgeOldBackups(num_backups_to_keep));
}

void ashlar_backup_engine_verify_backup(ashlar_backup_engine_t* be, uint32_t backup_id,
                                        char** errptr) {
  assert(be != nullptr);
  Failed(errptr, be->rep->VerifyBackup(backup_id));
}

void ashlar_backup_engine_restore_db_from_latest_backup(
    ashlar_backup_engine_t* be, const char* db_dir, const char* wal_dir,
    const ashlar_restore_options_t* restore_options, char** errptr) {
  assert(be != nullptr);
  assert(db_dir != nullptr);
  assert(wal_dir != nullptr);
  Failed(errptr, be->rep->RestoreDBFromLatestBackup(db_dir, wal_dir, OptionsIn(restore_options)));
}

void ashlar_backup_engine_restore_db_from_backup(ashlar_backup_engine_t* be, const char* db_dir,
                                                 const char* wal_dir,
                                                 const ashlar_restore_options_t* restore_options,
                                                 uint32_t backup_id, char** errptr) {
  assert(be != nullptr);
  assert(db_dir != nullptr);
  assert(wal_dir != nullptr);
  Failed(errptr,
         be->rep->RestoreDBFromBackup(backup_id, db_dir, wal_dir, OptionsIn(restore_options)));
}

const ashlar_backup_engine_info_t* ashlar_backup_engine_get_backup_info(
    ashlar_backup_engine_t* be) {
  assert(be != nullptr);
  auto* info = new ashlar_backup_engine_info_t;
  be->rep->GetBackupInfo(&info->rep);
  return info;
}

int ashlar_backup_engine_info_count(const ashlar_backup_engine_info_t* info) {
  return static_cast<int>(info->rep.size());
}

int64_t ashlar_backup_engine_info_timestamp(const ashlar_backup_engine_info_t* info, int index) {
  return Backup(info, index).timestamp;
}

uint32_t ashlar_backup_engine_info_backup_id(const ashlar_backup_engine_info_t* info, int index) {
  return Backup(info, index).backup_id;
}

uint64_t ashlar_backup_engine_info_size(const ashlar_backup_engine_info_t* info, int index) {
  return Backup(info, index).size;
}

uint32_t ashlar_backup_engine_info_number_files(const ashlar_backup_engine_info_t* info,
                                                int index) {
  return Backup(info, index).number_files;
}

const char* ashlar_backup_engine_info_app_metadata(const ashlar_backup_engine_info_t* info,
                                                   int index, size_t* len) {
  assert(len != nullptr);
  // Belongs to the list, and is valid until the list is destroyed.
  const std::string& text = Backup(info, index).app_metadata;
  *len = text.size();
  return text.data();
}

void ashlar_backup_engine_info_destroy(const ashlar_backup_engine_info_t* info) { delete info; }
