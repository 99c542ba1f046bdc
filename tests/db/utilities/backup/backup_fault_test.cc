// SPDX-License-Identifier: Apache-2.0
//
// Every file call of an operation fails in turn, once or from there on: the operation is done, or
// says that it failed; and then, also after a crash, each backup is whole or not there.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/utilities/backup_engine.h"
#include "tests/support/opened_db.h"
#include "tests/support/sim_machine.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// A database with two backups, which is made anew for each fault.
class Ground {
 public:
  Ground() : machine_(/*seed=*/5, SimMachine::Disk::kCrashing) {
    options.env = machine_.env();
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    EXPECT_OK(DB::Open(options, "/db", &db));
    Put("key1", "one");
    OpenEngine();
    EXPECT_OK(Create());
    Put("key2", "two");
    EXPECT_OK(Create());
    EXPECT_OK(engine->RestoreDBFromBackup(1, "/x", "/x"));
    Put("key3", "three");
    sim()->SyncEverything();
  }
  ~Ground() {
    sim()->ClearFaults();
    engine.reset();
    if (db == nullptr) return;
    const Status closed = db->Close();  // after what has happened it may not be able to
    closed.PermitUncheckedError();
    db.reset();
  }

  SimFS* sim() { return machine_.sim_fs(); }
  void Put(const std::string& key, const std::string& value) {
    EXPECT_OK(db->Put(WriteOptions(), key, value));
  }
  IOStatus Create() {
    CreateBackupOptions create;
    create.flush_before_backup = true;
    return engine->CreateNewBackup(create, db.get());
  }
  void OpenEngine() {
    BackupEngine* opened = nullptr;
    engine.reset();
    ASSERT_OK(BackupEngine::Open(machine_.env(), backup_options, &opened));
    engine.reset(opened);
  }

  // Whatever is listed can be restored, and nothing is damaged.
  void CheckBackups(size_t least, size_t most) {
    std::vector<BackupID> corrupt;
    engine->GetCorruptedBackups(&corrupt);
    EXPECT_TRUE(corrupt.empty()) << corrupt[0];
    std::vector<BackupInfo> infos;
    engine->GetBackupInfo(&infos);
    EXPECT_GE(infos.size(), least);
    EXPECT_LE(infos.size(), most);
    for (const BackupInfo& info : infos) {
      EXPECT_OK(engine->VerifyBackup(info.backup_id, /*verify_with_checksum=*/true));
    }
  }
  // The same by an engine that knows only what a crash leaves.
  void CheckAfterCrash(CrashPolicy policy, size_t least, size_t most) {
    const auto image = machine_.TakeImage(policy, /*seed=*/1);
    const std::unique_ptr<Env> env = NewSimEnv(image, machine_.executor());
    BackupEngine* opened = nullptr;
    ASSERT_OK(BackupEngine::Open(env.get(), backup_options, &opened));
    std::unique_ptr<BackupEngine> of_image(opened);
    of_image.swap(engine);
    CheckBackups(least, most);
    EXPECT_OK(engine->GarbageCollect());
    CheckBackups(least, most);
    of_image.swap(engine);
  }
  Status RowsOf(const std::string& dir, Rows* rows) {
    OpenedDb opened;
    Contents contents;
    Options as_it_is = options;
    as_it_is.create_if_missing = false;
    Status status = opened.Open(as_it_is, dir);
    if (status.ok()) status = opened.ReadAll(&contents);
    *rows = contents[kDefaultColumnFamilyName];
    return status;
  }

 private:
  SimMachine machine_;

 public:
  Options options;
  BackupEngineOptions backup_options{"/backups"};
  std::unique_ptr<DB> db;
  std::unique_ptr<BackupEngine> engine;
};

using Operation = std::function<IOStatus(Ground*)>;
using Check = std::function<void(Ground*, const IOStatus&)>;

void FailEachCall(const Operation& operation, const Check& check) {
  uint64_t calls = 0;
  {
    Ground ground;
    const uint64_t begin = ground.sim()->CallCount();
    ASSERT_OK(operation(&ground));
    calls = ground.sim()->CallCount() - begin;
  }
  ASSERT_GT(calls, 10u);
  int failures = 0;
  for (uint64_t i = 0; i < calls; i++) {
    for (const FaultMode mode : {FaultMode::kOnce, FaultMode::kSticky}) {
      for (const FaultEffect effect : {FaultEffect::kNone, FaultEffect::kFull}) {
        SCOPED_TRACE("call " + std::to_string(i) + ", mode " +
                     std::to_string(static_cast<int>(mode)) + ", effect " +
                     std::to_string(static_cast<int>(effect)));
        Ground ground;
        ground.sim()->FailAt(ground.sim()->CallCount() + i, FaultError::kIO, mode, effect);
        const IOStatus status = operation(&ground);
        if (!status.ok()) ++failures;
        ground.sim()->ClearFaults();
        check(&ground, status);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(failures, static_cast<int>(calls));
}

constexpr CrashPolicy kPolicies[] = {CrashPolicy::kStrict, CrashPolicy::kAll,
                                     CrashPolicy::kReorder};

TEST(BackupFaults, InMakingABackup) {
  FailEachCall([](Ground* ground) { return ground->Create(); },
               [](Ground* ground, const IOStatus& status) {
                 const size_t expected = status.ok() ? 3 : 2;
                 ground->CheckBackups(expected, expected);
                 for (const CrashPolicy policy : kPolicies) {
                   ground->CheckAfterCrash(policy, expected, 3);
                 }
                 // The engine goes on.
                 const IOStatus again = ground->Create();
                 if (again.ok()) ground->CheckBackups(expected + 1, expected + 1);
                 ground->OpenEngine();
                 ground->CheckBackups(expected, 4);
               });
}

TEST(BackupFaults, InDeletingABackup) {
  FailEachCall([](Ground* ground) { return ground->engine->DeleteBackup(1); },
               [](Ground* ground, const IOStatus& status) {
                 ground->CheckBackups(1, status.ok() ? 1 : 2);
                 for (const CrashPolicy policy : kPolicies) ground->CheckAfterCrash(policy, 1, 2);
                 const IOStatus again = ground->engine->DeleteBackup(1);
                 EXPECT_TRUE(again.ok() || again.IsNotFound()) << again.ToString();
                 ground->CheckBackups(1, 1);
                 for (const CrashPolicy policy : kPolicies) ground->CheckAfterCrash(policy, 1, 1);
                 EXPECT_OK(ground->engine->GarbageCollect());
                 ground->CheckBackups(1, 1);
               });
}

TEST(BackupFaults, InRestoring) {
  FailEachCall([](Ground* ground) { return ground->engine->RestoreDBFromBackup(2, "/x", "/x"); },
               [](Ground* ground, const IOStatus& status) {
                 Rows rows;
                 const Status opened = ground->RowsOf("/x", &rows);
                 const Rows old = {{"key1", "one"}}, restored = {{"key1", "one"}, {"key2", "two"}};
                 if (status.ok()) {
                   EXPECT_OK(opened);
                   EXPECT_EQ(rows, restored);
                 } else {
                   EXPECT_TRUE(!opened.ok() || rows == old || rows == restored) << rows.size();
                 }
                 ASSERT_OK(ground->engine->RestoreDBFromBackup(2, "/x", "/x"));
                 ASSERT_OK(ground->RowsOf("/x", &rows));
                 EXPECT_EQ(rows, restored);
                 ground->CheckBackups(2, 2);
               });
}

TEST(BackupFaults, InOpeningAnEngine) {
  FailEachCall(
      [](Ground* ground) {
        BackupEngine* opened = nullptr;
        const IOStatus status =
            BackupEngine::Open(ground->options.env, ground->backup_options, &opened);
        if (opened != nullptr) ground->engine.reset(opened);
        std::vector<BackupID> corrupt;
        ground->engine->GetCorruptedBackups(&corrupt);
        return corrupt.empty() ? status : IOStatus::IOError("a backup could not be read");
      },
      [](Ground* ground, const IOStatus&) {
        ground->OpenEngine();
        ground->CheckBackups(2, 2);
      });
}

}  // namespace
}  // namespace ashlar
