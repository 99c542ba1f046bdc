// SPDX-License-Identifier: Apache-2.0
//
// A crash at every file call of every operation, with whatever it may leave: each backup is whole
// or not there, older ones are as they were, garbage can be collected, and a restored database is
// the old one, the new one, or does not open.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/utilities/backup_engine.h"
#include "db/utilities/backup/backup_names.h"
#include "env/file_util.h"
#include "tests/support/opened_db.h"
#include "tests/support/sim_machine.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr uint64_t kSeed = 3;

// Only the files below this directory.
SimImage Below(const SimImage& image, const std::string& dir) {
  SimImage part;
  for (const auto& [path, bytes] : image.files) {
    if (path.starts_with(dir + "/")) part.files[path] = bytes;
  }
  for (const std::string& path : image.directories) {
    if (path == dir || path.starts_with(dir + "/")) part.directories.push_back(path);
  }
  return part;
}

class BackupCrashTest : public testing::Test {
 protected:
  BackupCrashTest() : machine_(kSeed, SimMachine::Disk::kCrashing) {
    options_.env = machine_.env();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    // Numbers and names are those of one run: all of it is read from the image afterwards.
    backup_options_.io_buffer_size = 4096;
  }
  ~BackupCrashTest() override {
    engine_.reset();
    if (db_ == nullptr) return;
    EXPECT_OK(db_->Close());
    db_.reset();
  }

  SimFS* sim() { return machine_.sim_fs(); }

  void OpenBoth() {
    ASSERT_OK(DB::Open(options_, "/db", &db_));
    BackupEngine* engine = nullptr;
    ASSERT_OK(BackupEngine::Open(machine_.env(), backup_options_, &engine));
    engine_.reset(engine);
  }
  void Put(int first, int end, const std::string& value) {
    for (int i = first; i < end; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), "key" + std::to_string(100 + i), value));
    }
  }
  void Create(bool flush) {
    CreateBackupOptions options;
    options.flush_before_backup = flush;
    ASSERT_OK(engine_->CreateNewBackup(options, db_.get()));
  }

  using Texts = std::map<std::string, std::string>;  // of meta files, by name
  Texts MetaTexts() {
    Texts texts;
    for (const auto& [path, bytes] : sim()->memory()->AllFiles()) {
      if (path.starts_with("/backups/meta/") && ParseBackupId(path.substr(14))) {
        texts[path.substr(14)] = bytes;
      }
    }
    return texts;
  }

  // Runs one operation and looks at each crash within it.
  void CrashWithin(const std::string& name, const std::function<void()>& operation) {
    const Texts before = MetaTexts();
    const uint64_t begin = sim()->CallCount();
    operation();
    if (HasFatalFailure()) return;
    const uint64_t end = sim()->CallCount();
    const Texts after = MetaTexts();
    size_t points = 0;
    for (const FileCall& call : sim()->MutatingCalls()) {
      if (call.index < begin || call.index > end) continue;
      ++points;
      ForEachCrash(call, "/backups", [&](const SimImage& image) {
        SCOPED_TRACE(name);
        CheckImage(image, before, after);
      });
      if (HasFailure()) return;
    }
    EXPECT_GT(points, 0u);
    for (const CrashPolicy policy : kAllCrashPolicies) {
      SCOPED_TRACE(name + ", after it, " + NameOf(policy));
      CheckImage(Below(sim()->CrashContents(end, policy, kSeed), "/backups"), after, after);
    }
  }

  // What a crash just before the call may leave of a directory.
  void ForEachCrash(const FileCall& call, const std::string& dir,
                    const std::function<void(const SimImage&)>& check) {
    constexpr uint64_t kDraws = 8;
    for (const CrashPolicy policy : kAllCrashPolicies) {
      for (uint64_t seed = 0; seed < (UsesSeed(policy) ? kDraws : 1); seed++) {
        SCOPED_TRACE("before call " + std::to_string(call.index) + " (" + NameOf(call.kind) + " " +
                     call.path + "), " + NameOf(policy) + " " + std::to_string(seed));
        check(Below(sim()->CrashContents(call.index, policy, seed), dir));
      }
    }
  }

  void CheckImage(const SimImage& image, const Texts& before, const Texts& after) {
    if (!known_images_.insert({image.Hash(), before, after}).second) return;
    const std::shared_ptr<SimFS> fs = SimFS::FromImage(image, machine_.executor()->clock());
    const std::unique_ptr<Env> env = NewSimEnv(fs, machine_.executor());
    BackupEngine* opened = nullptr;
    ASSERT_OK(BackupEngine::Open(env.get(), backup_options_, &opened));
    const std::unique_ptr<BackupEngine> engine(opened);
    std::vector<BackupID> corrupt;
    engine->GetCorruptedBackups(&corrupt);
    EXPECT_TRUE(corrupt.empty()) << corrupt[0];
    std::vector<BackupInfo> infos;
    engine->GetBackupInfo(&infos);
    std::set<std::string> found;
    for (const BackupInfo& info : infos) {
      const std::string id = std::to_string(info.backup_id);
      found.insert(id);
      const auto text = ReadWholeFile(fs.get(), "/backups/meta/" + id);
      ASSERT_OK(text);
      EXPECT_TRUE(IsOneOf(text.value(), id, before, after)) << text.value();
      EXPECT_OK(engine->VerifyBackup(info.backup_id, /*verify_with_checksum=*/true));
    }
    for (const auto& [id, text] : before) {
      EXPECT_TRUE(found.contains(id) || !after.contains(id)) << "backup " << id << " is gone";
    }
    ASSERT_OK(engine->GarbageCollect());
    ExpectNoGarbage(fs.get(), infos, engine.get());
  }

  static bool IsOneOf(const std::string& text, const std::string& id, const Texts& before,
                      const Texts& after) {
    const auto old = before.find(id), next = after.find(id);
    return (old != before.end() && old->second == text) ||
           (next != after.end() && next->second == text);
  }

  static void ExpectNoGarbage(SimFS* fs, const std::vector<BackupInfo>& infos,
                              BackupEngine* engine) {
    std::set<std::string> expected;
    for (const BackupInfo& info : infos) {
      BackupInfo details;
      ASSERT_OK(engine->GetBackupInfo(info.backup_id, &details, /*include_file_details=*/true));
      expected.insert("/backups/" + MetaName(info.backup_id));
      for (const BackupFileInfo& file : details.file_details) {
        expected.insert("/backups/" + file.relative_filename);
      }
    }
    std::set<std::string> found;
    for (const auto& [path, bytes] : fs->memory()->AllFiles()) found.insert(path);
    EXPECT_EQ(found, expected);
    auto directories = ListDirectory(fs, "/backups/private");
    ASSERT_OK(directories);
    EXPECT_EQ(directories->size(), infos.size());
  }

  struct Image {
    uint64_t hash;
    Texts before, after;
    bool operator<(const Image& other) const {
      return std::tie(hash, before, after) < std::tie(other.hash, other.before, other.after);
    }
  };

  SimMachine machine_;
  Options options_;
  BackupEngineOptions backup_options_{"/backups"};
  std::unique_ptr<DB> db_;
  std::unique_ptr<BackupEngine> engine_;
  std::set<Image> known_images_;
};

TEST_F(BackupCrashTest, InEveryOperationOfALife) {
  OpenBoth();
  Put(0, 50, "one");
  sim()->SyncEverything();
  CrashWithin("first backup", [&] { Create(/*flush=*/true); });
  Put(50, 60, "two");
  CrashWithin("with a log", [&] { Create(/*flush=*/false); });
  Put(60, 70, "three");
  CrashWithin("incremental", [&] { Create(/*flush=*/true); });
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  CrashWithin("after a compaction", [&] { Create(/*flush=*/true); });
  CrashWithin("delete", [&] { ASSERT_OK(engine_->DeleteBackup(2)); });
  CrashWithin("purge", [&] { ASSERT_OK(engine_->PurgeOldBackups(1)); });
  CrashWithin("another one", [&] { Create(/*flush=*/true); });
  EXPECT_EQ(MetaTexts().size(), 2u);
}

TEST_F(BackupCrashTest, WithTheSecondSchemaAndNamesByChecksum) {
  backup_options_.schema_version = 2;
  backup_options_.share_files_with_checksum_naming = BackupEngineOptions::kLegacyCrc32cAndFileSize;
  options_.enable_blob_files = true;
  OpenBoth();
  Put(0, 50, std::string(100, 'x'));
  sim()->SyncEverything();
  CrashWithin("first backup", [&] { Create(/*flush=*/true); });
  Put(0, 10, "two");
  CrashWithin("incremental", [&] { Create(/*flush=*/true); });
  CrashWithin("delete", [&] { ASSERT_OK(engine_->DeleteBackup(1)); });
}

// What an earlier crash has left is in the way of nobody.
TEST_F(BackupCrashTest, InTheCollectionOfGarbage) {
  OpenBoth();
  Put(0, 50, "one");
  Create(/*flush=*/true);
  ASSERT_OK(CreateDirectories(sim(), "/backups/private/2"));
  for (const char* path :
       {"/backups/private/2/CURRENT", "/backups/shared_checksum/.000099_s_1.sst.tmp",
        "/backups/shared_checksum/000098_1_1.sst", "/backups/meta/.2.tmp"}) {
    ASSERT_OK(WriteStringToFile(sim(), "left", path));
  }
  sim()->SyncEverything();
  CrashWithin("collect", [&] { ASSERT_OK(engine_->GarbageCollect()); });
  Put(0, 5, "two");
  CrashWithin("create", [&] { Create(/*flush=*/true); });
}

class RestoreCrashTest : public BackupCrashTest {
 protected:
  // The rows of the database in /x of an image; none and an error if it does not open.
  Status RowsIn(const SimImage& image, Rows* rows) {
    const std::shared_ptr<SimFS> fs = SimFS::FromImage(image, machine_.executor()->clock());
    const std::unique_ptr<Env> env = NewSimEnv(fs, machine_.executor());
    Options options = options_;
    options.env = env.get();
    options.create_if_missing = false;
    OpenedDb opened;
    Contents contents;
    Status status = opened.Open(options, "/x");
    if (status.ok()) status = opened.ReadAll(&contents);
    *rows = contents[kDefaultColumnFamilyName];
    return status;
  }

  void CrashInRestoreTo(RestoreOptions::Mode mode) {
    const Rows old = RowsNow();
    const uint64_t begin = sim()->CallCount();
    ASSERT_OK(engine_->RestoreDBFromBackup(RestoreOptions(false, mode), 1, "/x", "/x"));
    const uint64_t end = sim()->CallCount();
    const Rows restored = RowsNow();
    ASSERT_NE(old, restored);
    size_t closed = 0, images = 0;
    for (const FileCall& call : sim()->MutatingCalls()) {
      if (call.index < begin || call.index > end) continue;
      ForEachCrash(call, "/x", [&](const SimImage& image) {
        if (!known_images_.insert({image.Hash(), {}, {}}).second) return;
        ++images;
        Rows rows;
        const Status status = RowsIn(image, &rows);
        if (!status.ok()) {
          ++closed;
          EXPECT_FALSE(image.files.contains("/x/CURRENT")) << status.ToString();
        } else {
          EXPECT_TRUE(rows == old || rows == restored) << rows.size() << " rows";
        }
      });
      if (HasFailure()) return;
    }
    EXPECT_GT(closed, 0u);
    EXPECT_GT(images, closed);
    Rows rows;
    ASSERT_OK(RowsIn(Below(sim()->CrashContents(end, CrashPolicy::kStrict, kSeed), "/x"), &rows));
    EXPECT_EQ(rows, restored);
  }

  Rows RowsNow() {
    Rows rows;
    EXPECT_OK(
        RowsIn(Below(sim()->CrashContents(sim()->CallCount(), CrashPolicy::kAll), "/x"), &rows));
    return rows;
  }

  // A backup, and a database in /x that has gone on since it was restored from it.
  void MakeOld() {
    OpenBoth();
    Put(0, 50, "one");
    ASSERT_OK(db_->Flush(FlushOptions()));
    Put(50, 60, "in the log");
    Create(/*flush=*/false);
    ASSERT_OK(engine_->RestoreDBFromBackup(1, "/x", "/x"));
    std::unique_ptr<DB> old;
    ASSERT_OK(DB::Open(options_, "/x", &old));
    ASSERT_OK(old->Put(WriteOptions(), "key100", "went on"));
    ASSERT_OK(old->Flush(FlushOptions()));
    ASSERT_OK(old->Put(WriteOptions(), "key101", "went on"));
    ASSERT_OK(old->Close());
    sim()->SyncEverything();
  }
};

TEST_F(RestoreCrashTest, LeavesTheOldDatabaseOrTheNewOneOrNone) {
  MakeOld();
  CrashInRestoreTo(RestoreOptions::kPurgeAllFiles);
}

TEST_F(RestoreCrashTest, AlsoWhereFilesAreKept) {
  MakeOld();
  CrashInRestoreTo(RestoreOptions::kVerifyChecksum);
}

TEST_F(RestoreCrashTest, AlsoWhereFilesAreKeptBySession) {
  MakeOld();
  CrashInRestoreTo(RestoreOptions::kKeepLatestDbSessionIdFiles);
}

}  // namespace
}  // namespace ashlar
