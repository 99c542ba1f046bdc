// SPDX-License-Identifier: Apache-2.0
//
// The fixture of this folder: a database and an engine for backups over one file system in memory.
// Threads: one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/utilities/backup_engine.h"
#include "env/file_util.h"
#include "tests/support/test_db.h"

namespace ashlar {

inline constexpr char kDbDir[] = "/db";
inline constexpr char kBackupDir[] = "/backups";

class BackupTest : public DbTest {
 protected:
  void TearDown() override {
    Close();
    DbTest::TearDown();
  }

  // From here on database and backups use this file system, which may be a wrapper of memory_.
  void UseFiles(const std::shared_ptr<FileSystem>& fs) {
    engine_.reset();
    Close();
    DbTest::UseFiles(fs);
  }

  using DbTest::Put;
  void Put(int first, int end, const std::string& value) {
    for (int i = first; i < end; ++i) Put("key" + std::to_string(1000 + i), value);
  }

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

  // The rows of an existing database.
  Rows RowsOf(const std::string& dir, const std::string& wal_dir = "") {
    TestDb opened(env_->GetFileSystem(), options_);
    opened.dir() = dir;
    opened.options().create_if_missing = false;
    opened.options().wal_dir = wal_dir;
    opened.OpenAll();
    return opened.db() == nullptr ? Rows() : opened.ReadAll()[kDefaultColumnFamilyName];
  }
  // The rows of a backup, which is restored to a new directory.
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
    auto names = ListDirectory(memory_.get(), dir);
    return names.ok() ? names.Take() : std::vector<std::string>();
  }
  std::string Read(const std::string& path) {
    auto text = ReadWholeFile(memory_.get(), path);
    EXPECT_OK(text);
    return text.ok() ? text.Take() : "";
  }
  std::string MetaOf(BackupID id) { return Read("/backups/meta/" + std::to_string(id)); }
  void Write(const std::string& path, const std::string& bytes) { memory_->PutFile(path, bytes); }
  bool Exists(const std::string& path) {
    return memory_->FileExists(path, IOOptions(), nullptr).ok();
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

  BackupEngineOptions backup_options_{kBackupDir};
  std::unique_ptr<BackupEngine> engine_;
  int restores_ = 0;
};

}  // namespace ashlar
