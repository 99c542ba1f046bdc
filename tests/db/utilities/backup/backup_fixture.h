// SPDX-License-Identifier: Apache-2.0
//
// What the tests of this folder share: a database and an engine for backups over one file system in
// memory. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "ashlar/utilities/backup_engine.h"
#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

inline constexpr char kDbDir[] = "/db";
inline constexpr char kBackupDir[] = "/backups";

class BackupTest : public testing::Test {
 protected:
  BackupTest() { UseFiles(files_); }
  ~BackupTest() override { CloseDb(); }

  // From here on database and backups go through this file system, over files_ or not.
  void UseFiles(const std::shared_ptr<FileSystem>& fs) {
    engine_.reset();
    CloseDb();
    env_ = NewCompositeEnv(fs);
    options_.env = env_.get();
    options_.create_if_missing = true;
  }

  void OpenDb() { ASSERT_OK(DB::Open(options_, kDbDir, &db_)); }
  void CloseDb() {
    if (db_ == nullptr) return;
    EXPECT_OK(db_->Close());
    db_.reset();
  }
  void Put(int first, int end, const std::string& value) {
    for (int i = first; i < end; ++i) {
      ASSERT_OK(db_->Put(WriteOptions(), "key" + std::to_string(1000 + i), value));
    }
  }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }

  IOStatus TryOpenEngine() {
    engine_.reset();
    BackupEngine* engine = nullptr;
    const IOStatus status = BackupEngine::Open(env_.get(), backup_options_, &engine);
    engine_.reset(engine);
    return status;
  }
  void OpenEngine() { ASSERT_OK(TryOpenEngine()); }
  std::unique_ptr<BackupEngineReadOnly> OpenReader() {
    BackupEngineReadOnly* reader = nullptr;
    EXPECT_OK(BackupEngineReadOnly::Open(env_.get(), backup_options_, &reader));
    return std::unique_ptr<BackupEngineReadOnly>(reader);
  }

  // The id of the new backup; 0 after a failure.
  BackupID Create(CreateBackupOptions options = {}) {
    BackupID id = 0;
    EXPECT_OK(engine_->CreateNewBackup(options, db_.get(), &id));
    return id;
  }
  BackupID CreateFlushed() {
    CreateBackupOptions options;
    options.flush_before_backup = true;
    return Create(options);
  }
  std::vector<BackupID> Ids() const {
    std::vector<BackupInfo> infos;
    engine_->GetBackupInfo(&infos);
    std::vector<BackupID> ids;
    for (const BackupInfo& info : infos) ids.push_back(info.backup_id);
    return ids;
  }
  std::vector<BackupID> CorruptIds() const {
    std::vector<BackupID> ids;
    engine_->GetCorruptedBackups(&ids);
    return ids;
  }

  // What a database holds, opened as it is.
  Rows RowsOf(const std::string& dir, const std::string& wal_dir = "") {
    Options options = options_;
    options.create_if_missing = false;
    options.wal_dir = wal_dir;
    OpenedDb opened;
    Contents contents;
    EXPECT_OK(opened.Open(options, dir));
    if (opened.db() == nullptr) return {};
    EXPECT_OK(opened.ReadAll(&contents));
    return contents[kDefaultColumnFamilyName];
  }
  // The same of a backup, which is restored to a directory of its own.
  Rows RowsOf(BackupID id) {
    const std::string dir = "/restored" + std::to_string(++restores_);
    EXPECT_OK(engine_->RestoreDBFromBackup(id, dir, dir));
    return RowsOf(dir);
  }
  Rows Expected(int first, int end, const std::string& value) const {
    Rows rows;
    for (int i = first; i < end; ++i) rows["key" + std::to_string(1000 + i)] = value;
    return rows;
  }

  std::vector<std::string> List(const std::string& dir) {
    auto names = ListDirectory(files_.get(), dir);
    return names.ok() ? names.Take() : std::vector<std::string>();
  }
  std::string Read(const std::string& path) {
    auto text = ReadWholeFile(files_.get(), path);
    EXPECT_OK(text);
    return text.ok() ? text.Take() : "";
  }
  std::string MetaOf(BackupID id) { return Read("/backups/meta/" + std::to_string(id)); }
  void Write(const std::string& path, const std::string& bytes) { files_->PutFile(path, bytes); }
  bool Exists(const std::string& path) {
    return files_->FileExists(path, IOOptions(), nullptr).ok();
  }
  // The one file in shared_checksum/ with this ending.
  std::string SharedFile(const std::string& ending = ".sst") {
    for (const std::string& name : List("/backups/shared_checksum")) {
      if (name.ends_with(ending)) return "/backups/shared_checksum/" + name;
    }
    return "";
  }
  void FlipByte(const std::string& path, size_t at) {
    std::string bytes = Read(path);
    ASSERT_LT(at, bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    Write(path, bytes);
  }

  const std::shared_ptr<MemoryFileSystem> files_ = std::make_shared<MemoryFileSystem>();
  std::unique_ptr<Env> env_;
  Options options_;
  BackupEngineOptions backup_options_{kBackupDir};
  std::unique_ptr<DB> db_;
  std::unique_ptr<BackupEngine> engine_;
  int restores_ = 0;
};

}  // namespace ashlar
