// SPDX-License-Identifier: Apache-2.0
//
// Makes two backups of a growing database, deletes the database, and restores it from each backup.
//
//   rocksdb_backup_restore_example FOLDER
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/backup_engine.h"

#include "examples/rocksdb/example.h"

using rocksdb::BackupEngine;
using rocksdb::BackupEngineOptions;
using rocksdb::BackupEngineReadOnly;
using rocksdb::DB;
using rocksdb::ReadOptions;

int main(int argc, char** argv) {
  const std::string folder = FolderFromArguments(argc, argv);
  const std::string backups = folder + ".backups";
  rocksdb::Options options;
  options.create_if_missing = true;
  DB* db = nullptr;
  Require(DB::Open(options, folder, &db), "open");
  Require(db->Put(rocksdb::WriteOptions(), "tower", "first storey"), "put");

  BackupEngine* engine = nullptr;
  Require(BackupEngine::Open(rocksdb::Env::Default(), BackupEngineOptions(backups), &engine),
          "open the backups");
  Require(engine->CreateNewBackup(db), "first backup");
  Require(db->Put(rocksdb::WriteOptions(), "tower", "second storey"), "put");
  Require(engine->CreateNewBackup(db, /*flush_before_backup=*/true), "second backup");
  std::vector<rocksdb::BackupInfo> infos;
  engine->GetBackupInfo(&infos);
  Require(infos.size() == 2, "two backups");
  for (const rocksdb::BackupInfo& info : infos) {
    Require(engine->VerifyBackup(info.backup_id), "verify");
  }
  delete engine;
  delete db;
  Require(rocksdb::DestroyDB(folder, options), "lose the database");

  BackupEngineReadOnly* reader = nullptr;
  Require(
      BackupEngineReadOnly::Open(rocksdb::Env::Default(), BackupEngineOptions(backups), &reader),
      "open the backups to read");
  const char* const expected[] = {"first storey", "second storey"};
  for (size_t i = 0; i < infos.size(); i++) {
    Require(reader->RestoreDBFromBackup(infos[i].backup_id, folder, folder), "restore");
    Require(DB::Open(options, folder, &db), "open what was restored");
    std::string value;
    Require(db->Get(ReadOptions(), "tower", &value), "get");
    Require(value == expected[i], "the value at the time of the backup");
    delete db;
  }
  delete reader;
  std::printf("rocksdb_backup_restore_example: ok\n");
  return 0;
}
