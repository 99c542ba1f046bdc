// SPDX-License-Identifier: Apache-2.0
//
// Families that are created and dropped, and files that are dropped, while calls of the file system
// fail: a call that returns an error has changed nothing, also for the next opening, so that later
// writes are not lost.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "env/file_util.h"
#include "tests/support/invalid_syncs.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The limit of the size of a MANIFEST. With 1 each change begins a new one.
class FamilyFaults : public testing::TestWithParam<uint64_t> {
 protected:
  FamilyFaults() {
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.max_manifest_file_size = GetParam();
  }

  // A database on files of its own, and the family "f" with tables for keys 0 and 1.
  struct Run {
    explicit Run(const Options& options)
        : disk(SimFS::Create()), test(disk, options), names{"default", "f"} {
      test.Open();
      family = test.CreateFamily("f");
      for (int i = 0; i < 2; i++) {
        test.Put(family, TestDb::Key(i), "old");
        test.Flush(family);
        test.Compact(family);
      }
      EXPECT_OK(test.db()->Put(TestDb::Synced(), family, "log", "old"));
      test.WaitForJobs();  // also for the deletion of files, which would meet the fault
    }
    // The write that must not be lost, once it is acknowledged.
    Status PutNew() { return test.db()->Put(TestDb::Synced(), family, "new", "value"); }

    const std::shared_ptr<SimFS> disk;
    TestDb test;
    const std::vector<std::string> names;
    ColumnFamilyHandle* family = nullptr;
    Status changed;  // by the call that met the fault
    std::string when;
  };
  // Calls `check` with the files that a crash leaves now, and with those of the closed database.
  static void ForEachImage(Run* run,
                           const std::function<void(TestDb*, const std::string&)>& check) {
    for (const CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kAll}) {
      TestDb image(run->disk->CrashImage(run->disk->CallCount(), policy), run->test.options());
      check(&image, StrCat(run->when, ", crash: ", NameOf(policy)));
    }
    run->family = nullptr;
    const Options options = run->test.options();
    run->test.Drop();
    TestDb image(run->disk, options);
    check(&image, run->when);
  }
  static void ForEachFault(const Options& options, const std::function<Status(Run*)>& change,
                           const std::function<void(Run*)>& check);
  // A drop meets each fault. Afterwards the write is refused, or it is not lost.
  static void DropsThatFail(const Options& options);
  static std::vector<std::string> FamiliesOf(TestDb* image) {
    std::vector<std::string> names;
    EXPECT_OK(DB::ListColumnFamilies(image->options(), image->dir(), &names));
    std::sort(names.begin(), names.end());
    return names;
  }

  Options options_;
};

struct Clearer final : public EventListener {
  void OnBackgroundError(BackgroundErrorReason, Status* error) override { *error = Status::OK(); }
};

// Makes the change once for each call of the file system, which fails; with kSticky, all later
// calls fail, too, so that the change cannot be undone before the fault is over.
void FamilyFaults::ForEachFault(const Options& options, const std::function<Status(Run*)>& change,
                                const std::function<void(Run*)>& check) {
  for (const FaultMode mode : {FaultMode::kOnce, FaultMode::kSticky}) {
    for (const FaultEffect effect : {FaultEffect::kNone, FaultEffect::kFull}) {
      for (uint64_t n = 0;; n++) {
        Run run(options);
        ASSERT_FALSE(testing::Test::HasFailure());
        run.when =
            StrCat("call ", n, mode == FaultMode::kOnce ? " fails" : " and all later ones fail",
                   effect == FaultEffect::kFull ? " with its full effect" : "");
        run.disk->FailAt(run.disk->CallCount() + n, FaultError::kIO, mode, effect);
        run.changed = change(&run);
        const bool was_hit = run.disk->Stats().TotalInjected() > 0;
        run.disk->ClearFaults();
        check(&run);
        if (testing::Test::HasFailure()) return;
        if (was_hit) continue;
        EXPECT_OK(run.changed) << "nothing has failed";
        EXPECT_GT(n, 3u) << "calls of the change";
        break;
      }
    }
  }
}

// The case that this file is about, without anything around it.
TEST_P(FamilyFaults, ADropThatFailedDoesNotComeAboutLater) {
  Run run(options_);
  run.disk->AddFault({.first_call = run.disk->CallCount(),
                      .effect = FaultEffect::kFull,
                      .kinds = KindBit(CallKind::kSync),
                      .path_part = "MANIFEST"});
  EXPECT_TRUE(run.test.db()->DropColumnFamily(run.family).IsIOError());
  run.disk->ClearFaults();
  ASSERT_OK(run.PutNew());
  ForEachImage(&run, [&](TestDb* image, const std::string& when) {
    ASSERT_OK(image->TryOpen(run.names)) << when;
    EXPECT_EQ(image->Get(image->Family("f"), "new"), "value") << when;
  });
}

void FamilyFaults::DropsThatFail(const Options& options) {
  int kept = 0, refused = 0;
  const auto drop = [](Run* run) { return run->test.db()->DropColumnFamily(run->family); };
  const auto check = [&](Run* run) {
    Status put = run->PutNew();
    const bool was_refused = put.IsIOError();
    if (was_refused) {
      ASSERT_OK(run->test.db()->Resume()) << run->when;
      put = run->PutNew();
      refused++;
    }
    // The error may be that of the OPTIONS file, after the drop.
    if (!put.ok()) return;
    EXPECT_FALSE(run->changed.ok()) << run->when;
    kept++;
    ForEachImage(run, [&](TestDb* image, const std::string& when) {
      ASSERT_OK(image->TryOpen(run->names)) << when;
      EXPECT_EQ(image->Get(image->Family("f"), "new"), "value") << when;
      EXPECT_EQ(image->Get(image->Family("f"), "log"), "old") << when;
    });
  };
  ForEachFault(options, drop, check);
  EXPECT_GT(kept, 0);
  EXPECT_GT(refused, 0) << "where the drop cannot be undone";
}

TEST_P(FamilyFaults, DropsThatFail) { DropsThatFail(options_); }

TEST_P(FamilyFaults, DropsThatFailWhileAListenerClearsAllErrors) {
  options_.listeners = {std::make_shared<Clearer>()};
  DropsThatFail(options_);
}

// A compaction has left the doubt. Calls that are refused before they write anything leave it to
// the change that comes next, and cannot fail by what the disk does.
TEST_P(FamilyFaults, ARefusedCallLeavesAnOlderDoubtAlone) {
  options_.listeners = {std::make_shared<Clearer>()};
  Run run(options_);
  DB* const db = run.test.db();
  run.test.Put(run.family, TestDb::Key(0), "newer");
  run.test.Flush(run.family);
  run.test.WaitForJobs();
  // With a new MANIFEST for each change, the doubt begins when CURRENT is replaced.
  const bool is_new = GetParam() == 1;
  run.disk->AddFault({.first_call = run.disk->CallCount(),
                      .effect = FaultEffect::kFull,
                      .kinds = KindBit(is_new ? CallKind::kRename : CallKind::kSync),
                      .path_part = is_new ? "CURRENT" : "MANIFEST"});
  EXPECT_TRUE(db->CompactRange({}, run.family, nullptr, nullptr).IsIOError());
  EXPECT_EQ(run.disk->Stats().TotalInjected(), 1u);
  run.disk->ClearFaults();
  run.disk->AddFault({.first_call = run.disk->CallCount(),
                      .mode = FaultMode::kSticky,
                      .kinds = KindBit(CallKind::kAppend) | KindBit(CallKind::kSync),
                      .path_part = "MANIFEST"});
  ColumnFamilyHandle* again = nullptr;
  EXPECT_TRUE(db->CreateColumnFamily(options_, "f", &again).IsInvalidArgument());
  EXPECT_EQ(again, nullptr);
  EXPECT_EQ(run.disk->Stats().TotalInjected(), 1u) << "a MANIFEST was written";
  EXPECT_OK(run.PutNew());
  run.disk->ClearFaults();
}

// Such failures may be repeated often, and no job need follow them.
TEST_P(FamilyFaults, ADropThatFailedLeavesNoManifest) {
  const bool begins_new = GetParam() == 1;
  Run run(options_);
  run.disk->AddFault({.first_call = run.disk->CallCount(),
                      .effect = FaultEffect::kFull,
                      .kinds = KindBit(begins_new ? CallKind::kRename : CallKind::kSync),
                      .path_part = begins_new ? "CURRENT" : "MANIFEST"});
  EXPECT_TRUE(run.test.db()->DropColumnFamily(run.family).IsIOError());
  EXPECT_EQ(run.disk->Stats().TotalInjected(), 1u);
  run.disk->ClearFaults();
  auto names = ListDirectory(run.disk.get(), run.test.dir());
  ASSERT_OK(names.status());
  EXPECT_EQ(std::count_if(names->begin(), names->end(),
                          [](const std::string& name) { return name.starts_with("MANIFEST"); }),
            1);
}

// The kind of the error says nothing about what is on disk.
TEST_P(FamilyFaults, ADropMayFailWithAnErrorOfAnyKind) {
  const std::shared_ptr<SimFS> disk = SimFS::Create();
  const auto files = std::make_shared<InvalidSyncs>(disk);
  TestDb test(files, options_);
  test.Open();
  ColumnFamilyHandle* const family = test.CreateFamily("f");
  test.WaitForJobs();
  files->fails_next = true;
  const Status dropped = test.db()->DropColumnFamily(family);
  EXPECT_TRUE(dropped.IsInvalidArgument()) << dropped.ToString();
  EXPECT_FALSE(files->fails_next);
  ASSERT_OK(test.db()->Put(TestDb::Synced(), family, "new", "value"));
  for (const CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kAll}) {
    TestDb image(disk->CrashImage(disk->CallCount(), policy), test.options());
    ASSERT_OK(image.TryOpen({"default", "f"})) << NameOf(policy);
    EXPECT_EQ(image.Get(image.Family("f"), "new"), "value") << NameOf(policy);
  }
}

TEST_P(FamilyFaults, CreationsThatFail) {
  const auto create = [](Run* run) {
    ColumnFamilyHandle* handle = nullptr;
    const Status status = run->test.db()->CreateColumnFamily(run->test.options(), "g", &handle);
    // With a handle only the OPTIONS file has failed.
    if (handle == nullptr) return status.ok() ? Status::Aborted("no handle") : status;
    EXPECT_OK(run->test.db()->DestroyColumnFamilyHandle(handle));
    return Status::OK();
  };
  int not_there = 0;
  const auto check = [&](Run* run) {
    Status put = run->PutNew();
    if (!put.ok()) {
      ASSERT_OK(run->test.db()->Resume()) << run->when;
      put = run->PutNew();
    }
    ASSERT_OK(put) << run->when;
    std::vector<std::string> expected = run->names;
    if (run->changed.ok()) expected.push_back("g");
    not_there += run->changed.ok() ? 0 : 1;
    ForEachImage(run, [&](TestDb* image, const std::string& when) {
      EXPECT_EQ(FamiliesOf(image), expected) << when;
      ASSERT_OK(image->TryOpenAll()) << when;
      EXPECT_EQ(image->Get(image->Family("f"), "new"), "value") << when;
    });
  };
  ForEachFault(options_, create, check);
  EXPECT_GT(not_there, 0);
}

TEST_P(FamilyFaults, DropsOfFilesThatFail) {
  const auto drop = [](Run* run) {
    return DeleteFilesInRange(run->test.db(), run->family, nullptr, nullptr);
  };
  int kept = 0;
  const auto check = [&](Run* run) {
    Status put = run->PutNew();
    if (!put.ok()) {
      ASSERT_OK(run->test.db()->Resume()) << run->when;
      put = run->PutNew();
    }
    ASSERT_OK(put) << run->when;
    const std::string expected = run->changed.ok() ? "(none)" : "old";
    EXPECT_EQ(run->test.Get(run->family, TestDb::Key(0)), expected) << run->when;
    kept += run->changed.ok() ? 0 : 1;
    ForEachImage(run, [&](TestDb* image, const std::string& when) {
      ASSERT_OK(image->TryOpen(run->names)) << when;
      ColumnFamilyHandle* const family = image->Family("f");
      for (int i = 0; i < 2; i++) {
        EXPECT_EQ(image->Get(family, TestDb::Key(i)), expected) << when;
      }
      EXPECT_EQ(image->Get(family, "new"), "value") << when;
    });
  };
  ForEachFault(options_, drop, check);
  EXPECT_GT(kept, 0);
}

INSTANTIATE_TEST_SUITE_P(All, FamilyFaults, testing::Values(uint64_t{1}, uint64_t{1} << 30),
                         [](const auto& test) {
                           return test.param == 1 ? "NewManifests" : "OneManifest";
                         });

}  // namespace
}  // namespace ashlar
