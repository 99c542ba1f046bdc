// SPDX-License-Identifier: Apache-2.0
//
// The files of a secondary or follower: which calls it makes, links of a follower, files that are
// missing.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/env_adaptors.h"
#include "env/fault/fault_file_system.h"
#include "env/filename.h"
#include "tests/db/following/secondary_db.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class FollowedFilesTest : public DbTest {
 protected:
  FollowedFilesTest() {
    options_.disable_auto_compactions = true;
    fs_ = std::make_shared<FaultFileSystem>(options_.env->GetFileSystem());
    second_env_ = NewCompositeEnvOver(Env::Default(), fs_, SystemClock::Default());
  }
  void TearDown() override {
    second_.Close();
    DbTest::TearDown();
  }

  // Of the secondary or follower. Its thread does nothing by itself.
  Options SecondOptions() {
    Options options = options_;
    options.env = second_env_.get();
    options.follower_refresh_catchup_period_ms = 1000 * 1000 * 1000;
    return options;
  }
  void OpenSecondary() { second_.Open(SecondOptions(), dir_); }
  void OpenFollower() { ASSERT_OK(second_.TryFollow(SecondOptions(), dir_)); }

  // Base names, ascending.
  std::vector<std::string> TablesIn(const std::string& dir) {
    std::vector<std::string> names;
    for (const auto& [path, bytes] : memory_->AllFiles()) {
      if (!path.starts_with(dir + "/") || !path.ends_with(".sst")) continue;
      names.push_back(path.substr(dir.size() + 1));
    }
    return names;
  }
  std::string NewestTable() { return StrCat(dir_, "/", TablesIn(dir_).back()); }
  void Unlink(const std::string& path) {
    ASSERT_OK(memory_->DeleteFile(path, IOOptions(), nullptr));
  }
  // Puts other data than a table in the place of one, and gives the name.
  std::string PutForeignTable(const std::string& dir, const std::string& name) {
    memory_->PutFile(StrCat(dir, "/", name), "not a table of this database");
    return name;
  }
  // A round fails behind the link of a new table, and a later one succeeds.
  void CatchUpAfterAFailedRound() {
    Put("failed", "1");
    Flush();
    const std::string table = NewestTable();
    ASSERT_OK(memory_->RenameFile(table, table + ".away", IOOptions(), nullptr));
    EXPECT_TRUE(second_->TryCatchUpWithPrimary().IsCorruption());
    ASSERT_OK(memory_->RenameFile(table + ".away", table, IOOptions(), nullptr));
    second_.CatchUp();
    EXPECT_EQ(second_.Get("failed"), "1");
  }
  // The calls of a catch-up by kind, on paths that contain this text.
  size_t CallsOf(CallKind kind, const std::string& path_part) {
    const std::vector<FileCall> calls = fs_->Calls();
    return static_cast<size_t>(std::count_if(calls.begin(), calls.end(), [&](const FileCall& call) {
      return call.kind == kind && call.path.find(path_part) != std::string::npos;
    }));
  }
  void CatchUpCountingCalls() {
    fs_->KeepCalls(false);
    fs_->KeepCalls(true);
    second_.CatchUp();
  }

  std::shared_ptr<FaultFileSystem> fs_;
  std::unique_ptr<Env> second_env_;
  SecondaryDb second_;
};

// However large the database is.
TEST_F(FollowedFilesTest, ACatchUpWithoutNewsReadsOnlyTheEndsOfFiles) {
  Open();
  for (int i = 0; i < 5; i++) {
    Fill(200);
    Flush();
  }
  Fill(200);
  OpenSecondary();
  second_.CatchUp();
  CatchUpCountingCalls();
  EXPECT_LE(fs_->Calls().size(), 16u);
  EXPECT_EQ(CallsOf(CallKind::kOpenRead, ".sst"), 0u);
  EXPECT_EQ(CallsOf(CallKind::kOpenRead, "MANIFEST"), 0u);
  EXPECT_EQ(CallsOf(CallKind::kOpenRead, ".log"), 0u);
  EXPECT_EQ(CallsOf(CallKind::kRead, ".sst"), 0u);
  EXPECT_LE(CallsOf(CallKind::kRead, "MANIFEST"), 2u);
  EXPECT_LE(CallsOf(CallKind::kRead, ".log"), 3u);
  EXPECT_EQ(CallsOf(CallKind::kList, ""), 1u);
}

TEST_F(FollowedFilesTest, ACatchUpOpensTheNewTablesOnly) {
  Open();
  for (int i = 0; i < 5; i++) {
    Fill(200);
    Flush();
  }
  OpenSecondary();
  second_.CatchUp();
  Put("new", "1");
  Flush();
  CatchUpCountingCalls();
  EXPECT_EQ(second_.Get("new"), "1");
  EXPECT_EQ(CallsOf(CallKind::kOpenRead, ".sst"), 1u);
  EXPECT_EQ(CallsOf(CallKind::kOpenRead, NewestTable()), 1u);
}

// Tables that stay are open already.
TEST_F(FollowedFilesTest, ANewManifestOpensNoTableAgain) {
  Open();
  Fill(200);
  Flush();
  OpenSecondary();
  second_.CatchUp();
  Reopen();
  CatchUpCountingCalls();
  EXPECT_EQ(CallsOf(CallKind::kOpenRead, "MANIFEST"), 1u);
  EXPECT_EQ(CallsOf(CallKind::kOpenRead, ".sst"), 0u);
  EXPECT_EQ(second_.ReadRows(), ReadRows());
}

TEST_F(FollowedFilesTest, AMissingTableIsNeverShown) {
  for (const bool is_paranoid : {true, false}) {
    options_.paranoid_checks = is_paranoid;
    Open();
    OpenSecondary();
    Put("a", "1");
    Flush();
    const std::string table = NewestTable();
    const std::string bytes = memory_->AllFiles().at(table);
    Unlink(table);
    const Status status = second_->TryCatchUpWithPrimary();
    EXPECT_TRUE(status.IsCorruption()) << is_paranoid << ": " << status.ToString();
    EXPECT_EQ(second_.Get("a"), "(none)") << is_paranoid;
    memory_->PutFile(table, bytes);
    second_.CatchUp();
    EXPECT_EQ(second_.Get("a"), "1") << is_paranoid;
    second_.Close();
    Close();
    ASSERT_OK(DestroyDB(dir_, options_));
  }
}

TEST_F(FollowedFilesTest, AFollowerHasLinksOfTheLiveTables) {
  Open();
  Put("a", "1");
  Flush();
  OpenFollower();
  EXPECT_EQ(TablesIn("/follower"), TablesIn(dir_));
  Put("b", "2");
  Flush();
  Compact();
  WaitForJobs();
  second_.CatchUp();
  EXPECT_EQ(TablesIn("/follower"), TablesIn(dir_));
  EXPECT_EQ(TablesIn("/follower").size(), 1u);
  EXPECT_EQ(second_.ReadRows(), ReadRows());
}

TEST_F(FollowedFilesTest, TheLinksOfAFailedRoundAreDeleted) {
  Open();
  Put("a", "1");
  Flush();
  OpenFollower();
  Put("b", "2");
  Flush();
  const std::string linked = TablesIn(dir_).back();
  Put("c", "3");
  Flush();
  fs_->AddFault({.first_call = fs_->CallCount(),
                 .mode = FaultMode::kSticky,
                 .kinds = KindBit(CallKind::kLink),
                 .path_part = linked});
  EXPECT_TRUE(second_->TryCatchUpWithPrimary().IsIOError());
  fs_->ClearFaults();
  ASSERT_EQ(TablesIn("/follower").size(), 2u);
  Compact();
  WaitForJobs();
  second_.CatchUp();
  EXPECT_EQ(TablesIn("/follower"), TablesIn(dir_));
  EXPECT_EQ(second_.ReadRows(), ReadRows());
}

// A name in the list whose link was not made stays there when a later round needs it and new ones.
TEST_F(FollowedFilesTest, ALinkThatFailedIsMadeWithThoseOfALaterRound) {
  Open();
  OpenFollower();
  Put("a", "1");
  Flush();
  const std::string failed = TablesIn(dir_).back();
  fs_->AddFault({.first_call = fs_->CallCount(),
                 .mode = FaultMode::kSticky,
                 .kinds = KindBit(CallKind::kLink),
                 .path_part = failed});
  EXPECT_TRUE(second_->TryCatchUpWithPrimary().IsIOError());
  fs_->ClearFaults();
  Put("b", "2");
  Flush();
  second_.CatchUp();
  EXPECT_EQ(second_.ReadRows(), ReadRows());
  std::string list;
  for (const std::string& name : TablesIn(dir_)) StrAppend(&list, name, "\n");
  EXPECT_EQ(memory_->AllFiles().at("/follower/LINKS"), list);
}

TEST_F(FollowedFilesTest, TheLinksOfAnEarlierProcessAreDeleted) {
  Open();
  Put("a", "1");
  Flush();
  OpenFollower();
  second_.Close();
  CompactAndRewrite();
  OpenFollower();
  EXPECT_EQ(TablesIn("/follower"), TablesIn(dir_));
  EXPECT_EQ(second_.ReadRows(), ReadRows());
}

TEST_F(FollowedFilesTest, ASecondaryDeletesNoTableInItsDirectory) {
  Open();
  Put("a", "1");
  Flush();
  PutForeignTable("/secondary", "000900.sst");
  memory_->PutFile("/secondary/000901.blob", "blobs");
  OpenSecondary();
  CatchUpAfterAFailedRound();
  EXPECT_EQ(TablesIn("/secondary"), std::vector<std::string>{"000900.sst"});
  EXPECT_TRUE(memory_->AllFiles().contains("/secondary/000901.blob"));
}

TEST_F(FollowedFilesTest, ASecondaryInThePrimarysDirectoryDeletesNothing) {
  Open();
  Put("a", "1");
  Flush();
  second_.Open(SecondOptions(), dir_, {kDefaultColumnFamilyName}, dir_ + "/");
  CatchUpAfterAFailedRound();
  EXPECT_EQ(TablesIn(dir_).size(), 2u);
}

TEST_F(FollowedFilesTest, AFollowerLeavesTablesThatItHasNotLinked) {
  Open();
  Put("a", "1");
  Flush();
  PutForeignTable("/follower", "000900.sst");
  OpenFollower();
  CatchUpAfterAFailedRound();
  second_.Close();
  OpenFollower();
  const std::vector<std::string> tables = TablesIn("/follower");
  EXPECT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables.back(), "000900.sst");
}

TEST_F(FollowedFilesTest, AFollowerRefusesToReplaceATableThatItHasNotLinked) {
  Open();
  Put("a", "1");
  Flush();
  const std::string name = PutForeignTable("/follower", TablesIn(dir_).back());
  const std::string bytes = memory_->AllFiles().at("/follower/" + name);
  const Status status = second_.TryFollow(SecondOptions(), dir_);
  EXPECT_NE(status.ToString().find("not a link"), std::string::npos) << status.ToString();
  EXPECT_EQ(memory_->AllFiles().at("/follower/" + name), bytes);
}

// The directory of any database is refused. One around it is another directory, also if the
// primary has tables there.
TEST_F(FollowedFilesTest, AFollowersDirectoryIsNotThatOfADatabase) {
  options_.db_paths = {{"/around", 1 << 30}};
  dir_ = "/around/db";
  Open();
  Put("a", "1");
  Flush();
  Close();
  ASSERT_EQ(TablesIn("/around").size(), 1u);
  Options options = SecondOptions();
  options.db_paths.clear();
  for (const char* dir : {"/around/db", "/around/db/", "/around/../around/db"}) {
    const Status status = second_.TryFollow(options, dir_, {kDefaultColumnFamilyName}, dir);
    EXPECT_TRUE(status.IsInvalidArgument()) << dir << ": " << status.ToString();
  }
  EXPECT_FALSE(second_.TryFollow(options, dir_, {kDefaultColumnFamilyName}, "/around").ok());
  EXPECT_EQ(TablesIn("/around").size(), 1u);
  Open();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(FollowedFilesTest, AFollowerAroundItsPrimaryHasLinksOfItsOwn) {
  dir_ = "/around/db";
  Open();
  Put("a", "1");
  Flush();
  ASSERT_OK(second_.TryFollow(SecondOptions(), dir_, {kDefaultColumnFamilyName}, "/around"));
  CatchUpAfterAFailedRound();
  EXPECT_EQ(second_.ReadRows(), ReadRows());
  second_.Close();
  Reopen();
  EXPECT_EQ(ReadRows().size(), 2u);
}

TEST_F(FollowedFilesTest, AFailedRoundDeletesNoLinkThatAnIteratorNeeds) {
  Open();
  Put("a", "1");
  Flush();
  OpenFollower();
  const std::string table = TablesIn("/follower").back();
  std::unique_ptr<Iterator> it(second_->NewIterator(ReadOptions()));
  CompactAndRewrite();
  CatchUpAfterAFailedRound();
  EXPECT_TRUE(memory_->AllFiles().contains("/follower/" + table));
  it.reset();
  Put("b", "1");
  Flush();
  second_.CatchUp();
  EXPECT_FALSE(memory_->AllFiles().contains("/follower/" + table));
}

TEST_F(FollowedFilesTest, LinksAndTheirListAreDestroyedTogether) {
  Open();
  Put("a", "1");
  Flush();
  OpenFollower();
  second_.Close();
  ASSERT_TRUE(memory_->AllFiles().contains("/follower/LINKS"));
  ASSERT_OK(DestroyDB("/follower", SecondOptions()));
  for (const auto& [path, bytes] : memory_->AllFiles()) {
    EXPECT_FALSE(path.starts_with("/follower/")) << path;
  }
}

TEST_F(FollowedFilesTest, TablesWithLevelDBsExtensionAreFollowed) {
  Open();
  Put("a", "1");
  Flush();
  for (const bool is_follower : {false, true}) {
    is_follower ? OpenFollower() : OpenSecondary();
    Put(is_follower ? "b" : "c", "2");
    Flush();
    const std::string table = NewestTable();
    ASSERT_OK(memory_->RenameFile(table, table.substr(0, table.size() - 4) + ".ldb", IOOptions(),
                                  nullptr));
    second_.CatchUp();
    EXPECT_EQ(second_.ReadRows(), ReadRows());
    second_.Close();
  }
}

TEST_F(FollowedFilesTest, AFollowerRefusesWhatItCannotLink) {
  Open();
  Options options = SecondOptions();
  options.db_paths = {{"/first", 1 << 20}};
  EXPECT_TRUE(second_.TryFollow(options, dir_).IsNotSupported());
  options = SecondOptions();
  options.cf_paths = {{"/first", 1 << 20}};
  EXPECT_TRUE(second_.TryFollow(options, dir_).IsNotSupported());
  EXPECT_FALSE(second_.TryFollow(SecondOptions(), "/nothing").ok());
  fs_->AddFault({.kinds = KindBit(CallKind::kLink)});
  Put("a", "1");
  Flush();
  const Status status = second_.TryFollow(SecondOptions(), dir_);
  EXPECT_NE(status.ToString().find("hard links"), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace ashlar
