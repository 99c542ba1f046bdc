// SPDX-License-Identifier: Apache-2.0
//
// Backups by RocksDB itself, for tests/interop/backup_test.cc: linked with the installed RocksDB,
// it knows nothing of Ashlar.
//
//   backup_theirs BACKUPS [--schema=2] [--naming=N] [--by-number] [--alone] [--blobs] COMMAND ...
//
//   create DB           verify          restore ID DIR      purge N      delete ID
//   list                collect         rows DIR            rows-in-place ID
//   put DB KEY VALUE    flush DB
//
// Prints what it found; exit code 1 and the status if something failed.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/backup_engine.h"

namespace {

using rocksdb::BackupEngine;
using rocksdb::BackupEngineOptions;
using rocksdb::BackupInfo;
using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::Status;

void Require(const Status& status, const char* what) {
  if (status.ok()) return;
  std::cout << what << ": " << status.ToString() << "\n";
  std::exit(1);
}

Options DbOptions(bool has_blobs) {
  Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.enable_blob_files = has_blobs;
  options.min_blob_size = 100;
  return options;
}

// A database with all its families, in whichever way it is opened.
class Opened {
 public:
  Opened(Options options, const std::string& dir, bool for_reading) {
    std::vector<std::string> names;
    if (!DB::ListColumnFamilies(options, dir, &names).ok()) names = {"default"};
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, options);
    DB* db = nullptr;
    Require(for_reading ? DB::OpenForReadOnly(options, dir, families, &handles_, &db)
                        : DB::Open(options, dir, families, &handles_, &db),
            "open");
    db_.reset(db);
  }
  ~Opened() {
    for (ColumnFamilyHandle* handle : handles_)
      Require(db_->DestroyColumnFamilyHandle(handle), "close");
  }

  DB* db() { return db_.get(); }
  void PrintRows() {
    for (ColumnFamilyHandle* handle : handles_) {
      std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), handle));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        std::cout << handle->GetName() << " " << it->key().ToString() << " "
                  << it->value().ToString() << "\n";
      }
      Require(it->status(), "iterate");
    }
  }

 private:
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

void List(BackupEngine* engine) {
  std::vector<BackupInfo> infos;
  engine->GetBackupInfo(&infos, /*include_file_details=*/true);
  for (const BackupInfo& info : infos) {
    std::cout << info.backup_id << " \"" << info.app_metadata << "\" " << info.number_files << " "
              << info.size << "\n";
  }
  std::vector<rocksdb::BackupID> corrupt;
  engine->GetCorruptedBackups(&corrupt);
  for (const rocksdb::BackupID id : corrupt) std::cout << id << " corrupt\n";
}

void Verify(BackupEngine* engine) {
  std::vector<BackupInfo> infos;
  engine->GetBackupInfo(&infos);
  for (const BackupInfo& info : infos) {
    Require(engine->VerifyBackup(info.backup_id, /*verify_with_checksum=*/true), "verify");
    std::cout << info.backup_id << "\n";
  }
}

void RowsInPlace(BackupEngine* engine, rocksdb::BackupID id, bool has_blobs) {
  BackupInfo info;
  Require(engine->GetBackupInfo(id, &info, /*include_file_details=*/true), "info");
  Options options = DbOptions(has_blobs);
  options.env = info.env_for_open.get();
  Opened(options, info.name_for_open, /*for_reading=*/true).PrintRows();
}

// Commands on a database alone; false if it is none of these.
bool RunOnDatabase(const std::vector<std::string>& words, const Options& options) {
  if (words[0] == "rows") {
    Opened(options, words[1], /*for_reading=*/false).PrintRows();
  } else if (words[0] == "put") {
    Opened opened(options, words[1], /*for_reading=*/false);
    Require(opened.db()->Put(rocksdb::WriteOptions(), words[2], words[3]), "put");
  } else if (words[0] == "flush") {
    Opened opened(options, words[1], /*for_reading=*/false);
    Require(opened.db()->Flush(rocksdb::FlushOptions()), "flush");
  } else {
    return false;
  }
  return true;
}

void RunOnBackups(BackupEngine* engine, const std::vector<std::string>& words, bool has_blobs) {
  const auto number = [&words] { return static_cast<uint32_t>(std::stoul(words[1])); };
  if (words[0] == "create") {
    Opened opened(DbOptions(has_blobs), words[1], /*for_reading=*/false);
    Require(
        engine->CreateNewBackupWithMetadata(rocksdb::CreateBackupOptions(), opened.db(), "theirs"),
        "create");
  } else if (words[0] == "verify") {
    Verify(engine);
  } else if (words[0] == "restore") {
    Require(engine->RestoreDBFromBackup(number(), words[2], words[2]), "restore");
  } else if (words[0] == "purge") {
    Require(engine->PurgeOldBackups(number()), "purge");
  } else if (words[0] == "delete") {
    Require(engine->DeleteBackup(number()), "delete");
  } else if (words[0] == "collect") {
    Require(engine->GarbageCollect(), "collect");
  } else if (words[0] == "list") {
    List(engine);
  } else if (words[0] == "rows-in-place") {
    RowsInPlace(engine, number(), has_blobs);
  } else {
    std::cout << "unknown: " << words[0] << "\n";
    std::exit(2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  BackupEngineOptions backup_options(argv[1]);
  bool has_blobs = false;
  std::vector<std::string> words;
  for (int i = 2; i < argc; i++) {
    const std::string word = argv[i];
    if (word.rfind("--schema=", 0) == 0) {
      backup_options.schema_version = std::atoi(word.c_str() + 9);
    } else if (word.rfind("--naming=", 0) == 0) {
      backup_options.share_files_with_checksum_naming =
          static_cast<BackupEngineOptions::ShareFilesNaming>(std::stoul(word.substr(9)));
    } else if (word == "--by-number") {
      backup_options.share_files_with_checksum = false;
    } else if (word == "--alone") {
      backup_options.share_table_files = false;
    } else if (word == "--blobs") {
      has_blobs = true;
    } else {
      words.push_back(word);
    }
  }
  if (RunOnDatabase(words, DbOptions(has_blobs))) return 0;
  BackupEngine* opened = nullptr;
  Require(BackupEngine::Open(rocksdb::Env::Default(), backup_options, &opened), "open engine");
  const std::unique_ptr<BackupEngine> engine(opened);
  RunOnBackups(engine.get(), words, has_blobs);
  return 0;
}
