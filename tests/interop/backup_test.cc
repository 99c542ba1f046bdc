// SPDX-License-Identifier: Apache-2.0
//
// Backups that we make and RocksDB restores, the other way round, and both in turn in one
// directory. Skipped without RocksDB's library and tools.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/utilities/backup_engine.h"
#include "env/file_util.h"
#include "tests/support/opened_db.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/sample_database.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Naming = BackupEngineOptions::ShareFilesNaming;

// How a directory of backups is made, by either.
struct Form {
  const char* name;
  int schema = 1;
  uint32_t naming =
      BackupEngineOptions::kUseDbSessionId | BackupEngineOptions::kFlagIncludeFileSize;
  bool by_number = false;
  bool alone = false;
  bool blobs = false;
};
constexpr uint32_t kLegacy = BackupEngineOptions::kLegacyCrc32cAndFileSize;
constexpr uint32_t kSession = BackupEngineOptions::kUseDbSessionId;
const Form kForms[] = {
    {.name = "default"},
    {.name = "schema 2", .schema = 2},
    {.name = "without sizes", .naming = kSession},
    {.name = "legacy names", .naming = kLegacy},
    {.name = "shared by number", .by_number = true},
    {.name = "not shared", .alone = true},
    {.name = "blobs", .blobs = true},
    {.name = "blobs, schema 2, legacy names", .schema = 2, .naming = kLegacy, .blobs = true},
};

class BackupInterop : public testing::Test {
 protected:
  void SetUp() override {
    theirs_ = BuildPath("backup_theirs");
    int exit_code = 0;
    RunCommand(StrCat("test -x '", theirs_, "' && command -v ldb"), &exit_code);
    if (exit_code != 0) return SkipAsMissing("RocksDB (librocksdb-dev, rocksdb-tools)");
    Begin();
  }
  // New directories.
  void Begin() {
    const std::string dir = FreshTempDir("backup_interop");
    db_dir_ = dir + "/db";
    backups_ = dir + "/backups";
    restored_ = dir + "/restored";
  }

  static Options DbOptions(const Form& form) {
    Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.enable_blob_files = form.blobs;
    options.min_blob_size = 100;
    options.write_compatible_with = "7.8";
    return options;
  }
  std::unique_ptr<BackupEngine> Engine(const Form& form) const {
    BackupEngineOptions options(backups_);
    options.schema_version = form.schema;
    options.share_files_with_checksum_naming = static_cast<Naming>(form.naming);
    options.share_files_with_checksum = !form.by_number;
    options.share_table_files = !form.alone;
    BackupEngine* engine = nullptr;
    EXPECT_OK(BackupEngine::Open(Env::Default(), options, &engine));
    return std::unique_ptr<BackupEngine>(engine);
  }

  // A table and a log more; a second family from the first time on.
  void WriteOurs(const Form& form, int round) {
    OpenedDb opened;
    ASSERT_OK(opened.Open(DbOptions(form), db_dir_));
    if (round == 1) {
      ASSERT_OK(opened.CreateFamily(DbOptions(form), "other"));
    }
    for (ColumnFamilyHandle* handle : opened.handles()) {
      const std::string tag = StrCat("ours", round);
      ASSERT_OK(opened.db()->Put(WriteOptions(), handle, tag, std::string(200, 'x')));
      ASSERT_OK(opened.db()->Flush(FlushOptions(), handle));
      ASSERT_OK(opened.db()->Put(WriteOptions(), handle, tag + "-log", "in the log"));
    }
    ASSERT_OK(opened.Close());
  }
  void CreateOurs(const Form& form) {
    OpenedDb opened;
    ASSERT_OK(opened.Open(DbOptions(form), db_dir_));
    ASSERT_OK(
        Engine(form)->CreateNewBackupWithMetadata(CreateBackupOptions(), opened.db(), "ours"));
    ASSERT_OK(opened.Close());
  }
  Contents ReadOurs(const std::string& dir, const Form& form) {
    OpenedDb opened;
    Contents contents;
    EXPECT_OK(opened.Open(DbOptions(form), dir));
    if (opened.db() == nullptr) return contents;
    EXPECT_OK(opened.ReadAll(&contents));
    return contents;
  }
  Contents RestoreOurs(const Form& form, BackupID id) {
    EXPECT_OK(Engine(form)->RestoreDBFromBackup(id, restored_, restored_));
    return ReadOurs(restored_, form);
  }
  void VerifyOurs(const Form& form, size_t count) {
    const auto engine = Engine(form);
    std::vector<BackupInfo> infos;
    engine->GetBackupInfo(&infos);
    EXPECT_EQ(infos.size(), count);
    for (const BackupInfo& info : infos) EXPECT_OK(engine->VerifyBackup(info.backup_id, true));
    std::vector<BackupID> corrupt;
    engine->GetCorruptedBackups(&corrupt);
    EXPECT_TRUE(corrupt.empty());
  }

  std::string Theirs(const Form& form, const std::string& command) {
    int exit_code = 0;
    const std::string call =
        StrCat("'", theirs_, "' '", backups_, "' --schema=", form.schema, " --naming=", form.naming,
               form.by_number ? " --by-number" : "", form.alone ? " --alone" : "",
               form.blobs ? " --blobs " : " ", command);
    const std::string output = RunCommand(call, &exit_code);
    EXPECT_EQ(exit_code, 0) << call << "\n" << output;
    return output;
  }
  static Contents ContentsIn(const std::string& printed) {
    Contents contents;
    std::istringstream lines(printed);
    for (std::string family, key, value; lines >> family >> key && std::getline(lines, value);) {
      contents[family][key] = value.substr(1);
    }
    return contents;
  }
  Contents ReadTheirs(const std::string& dir, const Form& form) {
    return ContentsIn(Theirs(form, StrCat("rows '", dir, "'")));
  }
  Contents RestoreTheirs(const Form& form, BackupID id) {
    Theirs(form, StrCat("restore ", id, " '", restored_, "'"));
    return ReadTheirs(restored_, form);
  }
  std::vector<std::string> SharedNames() const {
    auto names = ListDirectory(FileSystem::Default().get(), backups_ + "/shared_checksum");
    return names.ok() ? names.Take() : std::vector<std::string>();
  }

  std::string theirs_, db_dir_, backups_, restored_;
};

TEST_F(BackupInterop, RocksDbRestoresOurs) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    Begin();
    WriteOurs(form, 1);
    CreateOurs(form);
    const Contents first = ReadOurs(db_dir_, form);
    WriteOurs(form, 2);
    CreateOurs(form);
    const Contents second = ReadOurs(db_dir_, form);
    EXPECT_EQ(Theirs(form, "verify"), "1\n2\n");
    const std::string list = Theirs(form, "list");
    EXPECT_TRUE(list.starts_with("1 \"ours\" ")) << list;
    EXPECT_EQ(list.find("corrupt"), std::string::npos) << list;
    EXPECT_EQ(RestoreTheirs(form, 1), first);
    EXPECT_EQ(RestoreTheirs(form, 2), second);
    EXPECT_EQ(ContentsIn(Theirs(form, "rows-in-place 1")), first);
    if (HasFailure()) return;
  }
}

TEST_F(BackupInterop, WeRestoreRocksDbs) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    Begin();
    WriteOurs(form, 1);
    Theirs(form, StrCat("put '", db_dir_, "' theirs1 value"));
    Theirs(form, StrCat("create '", db_dir_, "'"));
    const Contents first = ReadTheirs(db_dir_, form);
    Theirs(form, StrCat("put '", db_dir_, "' theirs2 value"));
    Theirs(form, StrCat("create '", db_dir_, "'"));
    const Contents second = ReadTheirs(db_dir_, form);
    VerifyOurs(form, 2);
    EXPECT_EQ(RestoreOurs(form, 1), first);
    EXPECT_EQ(RestoreOurs(form, 2), second);
    if (HasFailure()) return;
  }
}

TEST_F(BackupInterop, BothMakeBackupsInOneDirectory) {
  for (const Form& form : {kForms[0], kForms[4], kForms[7]}) {
    SCOPED_TRACE(form.name);
    Begin();
    std::vector<Contents> states;
    for (BackupID id = 1; id <= 4; id++) {
      if (id % 2 == 1) {
        WriteOurs(form, static_cast<int>(id));
        CreateOurs(form);
      } else {
        Theirs(form, StrCat("put '", db_dir_, "' theirs", id, " value"));
        Theirs(form, StrCat("create '", db_dir_, "'"));
      }
      states.push_back(ReadOurs(db_dir_, form));
    }
    VerifyOurs(form, 4);
    EXPECT_EQ(Theirs(form, "verify"), "1\n2\n3\n4\n");
    for (BackupID id = 1; id <= 4; id++) {
      EXPECT_EQ(RestoreOurs(form, id), states[id - 1]);
      EXPECT_EQ(RestoreTheirs(form, id), states[id - 1]);
    }
    if (HasFailure()) return;
  }
}

// Both name files alike.
TEST_F(BackupInterop, NeitherCopiesWhatTheOtherHasCopied) {
  for (const Form& form : kForms) {
    if (form.alone || form.by_number) continue;
    SCOPED_TRACE(form.name);
    Begin();
    WriteOurs(form, 1);
    Theirs(form, StrCat("put '", db_dir_, "' theirs ", std::string(200, 'y')));
    Theirs(form, StrCat("flush '", db_dir_, "'"));
    CreateOurs(form);
    const std::vector<std::string> names = SharedNames();
    EXPECT_FALSE(names.empty());
    Theirs(form, StrCat("create '", db_dir_, "'"));
    EXPECT_EQ(SharedNames(), names);
    CreateOurs(form);
    EXPECT_EQ(SharedNames(), names);
    if (HasFailure()) return;
  }
}

TEST_F(BackupInterop, EachPurgesAndCollectsWhatTheOtherMade) {
  const Form form = kForms[0];
  WriteOurs(form, 1);
  CreateOurs(form);
  Theirs(form, StrCat("put '", db_dir_, "' theirs value"));
  Theirs(form, StrCat("create '", db_dir_, "'"));
  const Contents second = ReadTheirs(db_dir_, form);
  Theirs(form, "purge 1");
  VerifyOurs(form, 1);
  EXPECT_EQ(RestoreOurs(form, 2), second);
  CreateOurs(form);
  ASSERT_OK(Engine(form)->PurgeOldBackups(1));
  EXPECT_EQ(Theirs(form, "verify"), "3\n");
  const std::vector<std::string> names = SharedNames();
  Theirs(form, "collect");
  EXPECT_EQ(SharedNames(), names);
  ASSERT_OK(Engine(form)->GarbageCollect());
  EXPECT_EQ(SharedNames(), names);
  EXPECT_EQ(RestoreTheirs(form, 3), second);
}

TEST_F(BackupInterop, LdbBacksUpAndRestores) {
  const Form form = kForms[0];
  WriteOurs(form, 1);
  int exit_code = 0;
  EXPECT_EQ(RunCommand(StrCat("ldb --db='", db_dir_, "' backup --backup_dir='", backups_, "'"),
                       &exit_code),
            "open db OK\nopen backup engine OK\ncreate new backup OK\n");
  const Contents first = ReadOurs(db_dir_, form);
  EXPECT_EQ(RestoreOurs(form, 1), first);
  WriteOurs(form, 2);
  CreateOurs(form);
  const Contents second = ReadOurs(db_dir_, form);
  EXPECT_EQ(RunCommand(StrCat("ldb --db='", restored_, "' restore --backup_dir='", backups_, "'"),
                       &exit_code),
            "open restore engine OK\nrestore from backup OK\n");
  EXPECT_EQ(ReadOurs(restored_, form), second);
}

// 7.8 knows nothing of files that were left out: it must not restore without them.
TEST_F(BackupInterop, RocksDb78RefusesABackupWithFilesLeftOut) {
  const Form form = kForms[1];
  WriteOurs(form, 1);
  OpenedDb opened;
  ASSERT_OK(opened.Open(DbOptions(form), db_dir_));
  CreateBackupOptions options;
  options.exclude_files_callback = [](MaybeExcludeBackupFile* file, MaybeExcludeBackupFile* end) {
    for (; file != end; ++file) file->exclude_decision = true;
  };
  ASSERT_OK(Engine(form)->CreateNewBackup(options, opened.db()));
  ASSERT_OK(opened.Close());
  EXPECT_EQ(Theirs(form, "list"), "1 corrupt\n");
}

}  // namespace
}  // namespace ashlar
