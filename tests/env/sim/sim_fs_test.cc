// SPDX-License-Identifier: Apache-2.0
//
// SimFS: a case for what each crash policy preserves; failed syncs; quotas; nested crashes; and a
// random run in which every image must keep certain limits.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "env/file_util.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

using Files = std::map<std::string, std::string>;

const IOOptions kIo;

class SimTest : public testing::Test {
 protected:
  SimTest() : sim_(SimFS::Create()) {
    EXPECT_OK(sim_->CreateDir("/db", kIo, nullptr));
    sim_->SyncEverything();
  }

  std::unique_ptr<FSWritableFile> Create(const std::string& path) {
    std::unique_ptr<FSWritableFile> file;
    EXPECT_OK(sim_->NewWritableFile(path, FileOptions(), &file, nullptr));
    return file;
  }
  static void Append(FSWritableFile* file, const std::string& data) {
    ASSERT_OK(file->Append(data, kIo, nullptr));
  }
  // Creates a file whose name and content are durable.
  void PutDurable(const std::string& path, const std::string& content) {
    auto file = Create(path);
    Append(file.get(), content);
    ASSERT_OK(file->Sync(kIo, nullptr));
    ASSERT_OK(file->Close(kIo, nullptr));
    ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  }
  Files Crash(CrashPolicy policy, uint64_t seed = 0) const {
    return sim_->CrashContents(sim_->CallCount(), policy, seed).files;
  }
  // All images of a policy for many seeds.
  std::set<Files> CrashAll(CrashPolicy policy) const {
    std::set<Files> images;
    for (uint64_t seed = 0; seed < 400; ++seed) images.insert(Crash(policy, seed));
    return images;
  }

  const std::shared_ptr<SimFS> sim_;
};

TEST_F(SimTest, StrictKeepsWhatWasSyncedAndNoMore) {
  PutDurable("/db/a", "durable");
  auto file = Create("/db/b");
  Append(file.get(), "synced");
  ASSERT_OK(file->Sync(kIo, nullptr));
  ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  Append(file.get(), "+lost");
  EXPECT_EQ(Crash(CrashPolicy::kStrict), (Files{{"/db/a", "durable"}, {"/db/b", "synced"}}));
  EXPECT_EQ(Crash(CrashPolicy::kAll), (Files{{"/db/a", "durable"}, {"/db/b", "synced+lost"}}));
}

TEST_F(SimTest, ANameNeedsTheDirectorySynced) {
  auto file = Create("/db/a");
  Append(file.get(), "x");
  ASSERT_OK(file->Sync(kIo, nullptr));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), Files{});
  ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), (Files{{"/db/a", "x"}}));
}

TEST_F(SimTest, ANameWithoutSyncedContentIsAnEmptyFile) {
  auto file = Create("/db/a");
  Append(file.get(), "x");
  ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), (Files{{"/db/a", ""}}));
}

TEST_F(SimTest, AnUnsyncedRenameIsUndoneByStrictAndNeverHalfDone) {
  PutDurable("/db/CURRENT", "old");
  PutDurable("/db/tmp", "new");
  ASSERT_OK(sim_->RenameFile("/db/tmp", "/db/CURRENT", kIo, nullptr));
  const Files before = {{"/db/CURRENT", "old"}, {"/db/tmp", "new"}};
  const Files after = {{"/db/CURRENT", "new"}};
  EXPECT_EQ(Crash(CrashPolicy::kStrict), before);
  EXPECT_EQ(Crash(CrashPolicy::kAll), after);
  EXPECT_EQ(CrashAll(CrashPolicy::kReorder), (std::set<Files>{before, after}));
  ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), after);
}

TEST_F(SimTest, AnUnsyncedUnlinkIsUndone) {
  PutDurable("/db/a", "x");
  ASSERT_OK(sim_->DeleteFile("/db/a", kIo, nullptr));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), (Files{{"/db/a", "x"}}));
  EXPECT_EQ(Crash(CrashPolicy::kAll), Files{});
  EXPECT_TRUE(CrashAll(CrashPolicy::kEntryLoss).contains(Files{{"/db/a", "x"}}));
}

TEST_F(SimTest, CreatingOverADurableFileMayLoseTheEmptying) {
  PutDurable("/db/a", "old");
  auto file = Create("/db/a");
  EXPECT_EQ(Crash(CrashPolicy::kAll), (Files{{"/db/a", ""}}));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), (Files{{"/db/a", "old"}}));
}

TEST_F(SimTest, TornCutsOnlyTheLastWrite) {
  auto file = Create("/db/a");
  Append(file.get(), "first,");
  Append(file.get(), "12345678");
  std::set<std::string> contents;
  for (const Files& image : CrashAll(CrashPolicy::kTorn)) contents.insert(image.at("/db/a"));
  const std::string zeros(8, '\0');
  const std::set<std::string> expected = {"first,",
                                          "first,1",
                                          "first,1234",
                                          "first,1234567",
                                          "first," + zeros,
                                          "first,1" + zeros.substr(1),
                                          "first,1234" + zeros.substr(4),
                                          "first,1234567" + zeros.substr(7)};
  EXPECT_EQ(contents, expected);
}

TEST_F(SimTest, TornOverARecycledFileMayShowItsOldBytes) {
  PutDurable("/db/old", "OLDOLDOLD");
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(sim_->ReuseWritableFile("/db/new", "/db/old", FileOptions(), &file, nullptr));
  Append(file.get(), "12345678");
  std::set<std::string> contents;
  for (const Files& image : CrashAll(CrashPolicy::kTorn)) contents.insert(image.at("/db/new"));
  EXPECT_TRUE(contents.contains("1234LDOLD"));
  EXPECT_TRUE(contents.contains(std::string("1234\0\0\0\0D", 9)));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), (Files{{"/db/old", "OLDOLDOLD"}}));
}

TEST_F(SimTest, TornAlsoCutsAt512ByteBorders) {
  auto file = Create("/db/a");
  Append(file.get(), std::string(100, 'a'));
  Append(file.get(), std::string(2000, 'b'));
  std::set<size_t> sizes;
  for (const Files& image : CrashAll(CrashPolicy::kTorn)) sizes.insert(image.at("/db/a").size());
  for (const size_t border : {512u, 1024u, 1536u, 2048u}) EXPECT_TRUE(sizes.contains(border));
}

TEST_F(SimTest, ReorderKeepsLaterPiecesWithoutEarlierOnes) {
  PutDurable("/db/a", "");
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(sim_->ReopenWritableFile("/db/a", FileOptions(), &file, nullptr));
  Append(file.get(), std::string(512, '1'));
  Append(file.get(), std::string(512, '2'));
  std::set<std::string> contents;
  for (const Files& image : CrashAll(CrashPolicy::kReorder)) contents.insert(image.at("/db/a"));
  EXPECT_TRUE(contents.contains(std::string(512, '\0') + std::string(512, '2')));
  EXPECT_TRUE(contents.contains(std::string(512, '1')));
  EXPECT_TRUE(contents.contains(""));
  EXPECT_TRUE(contents.contains(std::string(512, '1') + std::string(512, '2')));
}

TEST_F(SimTest, EntryLossLosesNamesOrContents) {
  PutDurable("/db/keep", "k");
  auto file = Create("/db/a");
  Append(file.get(), "x");
  const std::set<Files> images = CrashAll(CrashPolicy::kEntryLoss);
  EXPECT_TRUE(images.contains(Files{{"/db/keep", "k"}}));
  EXPECT_TRUE(images.contains(Files{{"/db/keep", "k"}, {"/db/a", ""}}));
  EXPECT_TRUE(images.contains(Files{{"/db/keep", "k"}, {"/db/a", "x"}}));
  EXPECT_EQ(images.size(), 3u);
}

TEST_F(SimTest, SizeFirstHasZerosInsteadOfUnsyncedData) {
  auto file = Create("/db/a");
  Append(file.get(), "synced");
  ASSERT_OK(file->Sync(kIo, nullptr));
  Append(file.get(), "12");
  EXPECT_EQ(Crash(CrashPolicy::kSizeFirst), (Files{{"/db/a", std::string("synced\0\0", 8)}}));
}

TEST_F(SimTest, WriteOutIsNoSync) {
  auto file = Create("/db/a");
  ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  Append(file.get(), "x");
  ASSERT_OK(file->RangeSync(0, 1, kIo, nullptr));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), (Files{{"/db/a", ""}}));
}

TEST_F(SimTest, AFailedSyncLosesTheDataAndTheNextOneLies) {
  auto file = Create("/db/a");
  Append(file.get(), "safe");
  ASSERT_OK(file->Sync(kIo, nullptr));
  ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  Append(file.get(), "lost");
  sim_->FailAt(sim_->CallCount(), FaultError::kIO);
  EXPECT_FALSE(file->Sync(kIo, nullptr).ok());
  const std::string zeros(4, '\0');
  auto live = ReadWholeFile(sim_.get(), "/db/a");
  ASSERT_OK(live);
  EXPECT_EQ(*live, "safe" + zeros);
  ASSERT_OK(file->Sync(kIo, nullptr));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), (Files{{"/db/a", "safe" + zeros}}));
  Append(file.get(), "next");
  ASSERT_OK(file->Sync(kIo, nullptr));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), (Files{{"/db/a", "safe" + zeros + "next"}}));
}

TEST_F(SimTest, AFailedDirectorySyncLosesItsNamesAndTheNextOneLies) {
  PutDurable("/db/a", "a");
  PutDurable("/db/gone", "g");
  auto lost = Create("/db/lost");
  Append(lost.get(), "x");
  ASSERT_OK(lost->Sync(kIo, nullptr));
  ASSERT_OK(sim_->RenameFile("/db/a", "/db/b", kIo, nullptr));
  ASSERT_OK(sim_->DeleteFile("/db/gone", kIo, nullptr));
  sim_->FailAt(sim_->CallCount() + 1, FaultError::kIO);  // behind the opening of the directory
  EXPECT_FALSE(SyncDirectory(sim_.get(), "/db").ok());
  const Files live = {{"/db/b", "a"}, {"/db/lost", "x"}};
  EXPECT_EQ(sim_->memory()->AllFiles(), live) << "nobody but a crash of the machine shows it";
  ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  const Files before = {{"/db/a", "a"}, {"/db/gone", "g"}};
  EXPECT_EQ(Crash(CrashPolicy::kStrict), before);
  EXPECT_EQ(CrashAll(CrashPolicy::kReorder), std::set<Files>{before});
  EXPECT_EQ(Crash(CrashPolicy::kAll), live);
  // A name that is created now is not affected. A name that was created then is lost.
  PutDurable("/db/lost", "again");
  PutDurable("/db/new", "n");
  ASSERT_OK(sim_->RenameFile("/db/lost", "/db/renamed", kIo, nullptr));
  ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  EXPECT_EQ(Crash(CrashPolicy::kStrict),
            (Files{{"/db/a", "a"}, {"/db/gone", "g"}, {"/db/new", "n"}, {"/db/renamed", "again"}}));
}

TEST_F(SimTest, ALyingSyncMakesNothingDurable) {
  auto file = Create("/db/a");
  ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  Append(file.get(), "x");
  sim_->FailAt(sim_->CallCount(), FaultError::kLie);
  ASSERT_OK(file->Sync(kIo, nullptr));
  EXPECT_EQ(Crash(CrashPolicy::kStrict), (Files{{"/db/a", ""}}));
}

TEST_F(SimTest, APartialWriteIsLoggedAsWhatArrived) {
  auto file = Create("/db/a");
  sim_->FailAt(sim_->CallCount(), FaultError::kIO, FaultMode::kOnce, FaultEffect::kPartial);
  EXPECT_FALSE(file->Append("12345678", kIo, nullptr).ok());
  EXPECT_EQ(Crash(CrashPolicy::kAll), (Files{{"/db/a", "1234"}}));
}

TEST_F(SimTest, AQuotaIsAFullDisk) {
  auto file = Create("/db/a");
  sim_->SetByteQuota(3);
  EXPECT_TRUE(file->Append("12345", kIo, nullptr).IsNoSpace());
  EXPECT_EQ(Crash(CrashPolicy::kAll), (Files{{"/db/a", "123"}}));
  sim_->SetByteQuota(UINT64_MAX);
  Append(file.get(), "45");
  EXPECT_EQ(Crash(CrashPolicy::kAll), (Files{{"/db/a", "12345"}}));
}

TEST_F(SimTest, ImagesOfThePastStayReachable) {
  auto file = Create("/db/a");
  Append(file.get(), "1");
  const uint64_t then = sim_->CallCount();
  Append(file.get(), "2");
  EXPECT_EQ(sim_->CrashContents(sim_->CallCount(), CrashPolicy::kAll).files.at("/db/a"), "12");
  EXPECT_EQ(sim_->CrashContents(then, CrashPolicy::kAll).files.at("/db/a"), "1");
  EXPECT_EQ(sim_->CrashContents(0, CrashPolicy::kAll).files, Files{});
}

TEST_F(SimTest, FilesWrittenAfterARenameOrUnlinkKeepTheirIdentity) {
  auto file = Create("/db/a");
  ASSERT_OK(sim_->RenameFile("/db/a", "/db/b", kIo, nullptr));
  Append(file.get(), "x");
  auto other = Create("/db/a");
  Append(other.get(), "other");
  ASSERT_OK(sim_->DeleteFile("/db/a", kIo, nullptr));
  Append(other.get(), "more");
  ASSERT_OK(other->Sync(kIo, nullptr));
  EXPECT_EQ(Crash(CrashPolicy::kAll), (Files{{"/db/b", "x"}}));
}

TEST_F(SimTest, AnImageIsAFileSystemThatCanCrashAgain) {
  PutDurable("/db/a", "x");
  const auto image = sim_->CrashImage(sim_->CallCount(), CrashPolicy::kStrict);
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(image->ReopenWritableFile("/db/a", FileOptions(), &file, nullptr));
  ASSERT_OK(file->Append("y", kIo, nullptr));
  const auto nested = image->CrashImage(image->CallCount(), CrashPolicy::kStrict);
  auto contents = ReadWholeFile(nested.get(), "/db/a");
  ASSERT_OK(contents);
  EXPECT_EQ(*contents, "x");
  EXPECT_EQ(image->CrashContents(image->CallCount(), CrashPolicy::kAll).files.at("/db/a"), "xy");
}

TEST_F(SimTest, OnlyMutatingCallsThatHappenedAreListed) {
  auto file = Create("/db/a");
  sim_->FailAt(sim_->CallCount(), FaultError::kIO);
  EXPECT_FALSE(file->Append("x", kIo, nullptr).ok());
  ASSERT_OK(file->Sync(kIo, nullptr));
  uint64_t size = 0;
  ASSERT_OK(sim_->GetFileSize("/db/a", kIo, &size, nullptr));
  std::string kinds;
  for (const FileCall& call : sim_->MutatingCalls()) kinds += std::string(NameOf(call.kind)) + " ";
  EXPECT_EQ(kinds, "mkdir create sync ");
}

// A random run and a simple model of what must survive: every file's synced prefix with its durable
// name (strict), and everything (all). No image may contain a byte that was never written.
TEST(SimRandom, ImagesKeepTheirBounds) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random64 random(seed);
    const auto sim = SimFS::Create();
    ASSERT_OK(sim->CreateDir("/db", kIo, nullptr));
    sim->SyncEverything();
    std::map<std::string, std::unique_ptr<FSWritableFile>> open;
    Files live, synced, durable;  // `synced`: content by current name; `durable`: strict image
    for (int step = 0; step < 60; ++step) {
      const std::string path = "/db/" + std::to_string(random.Uniform(4));
      auto& file = open[path];
      if (file == nullptr) {
        ASSERT_OK(sim->NewWritableFile(path, FileOptions(), &file, nullptr));
        live[path] = "";
        synced[path] = "";
      } else if (random.OneIn(4)) {
        ASSERT_OK(file->Sync(kIo, nullptr));
        synced[path] = live[path];
        if (durable.contains(path)) durable[path] = live[path];
      } else if (random.OneIn(6)) {
        ASSERT_OK(SyncDirectory(sim.get(), "/db"));
        durable = synced;
      } else {
        const std::string data = random.Letters(1 + random.Uniform(900));
        ASSERT_OK(file->Append(data, kIo, nullptr));
        live[path] += data;
      }
    }
    const uint64_t now = sim->CallCount();
    ASSERT_EQ(sim->CrashContents(now, CrashPolicy::kStrict).files, durable) << "seed " << seed;
    ASSERT_EQ(sim->CrashContents(now, CrashPolicy::kAll).files, live) << "seed " << seed;
    ASSERT_EQ(sim->memory()->AllFiles(), live);
    for (const CrashPolicy policy : kAllCrashPolicies) {
      for (uint64_t draw = 0; draw < 20; ++draw) {
        const SimImage image = sim->CrashContents(now, policy, draw);
        ASSERT_EQ(image.Hash(), sim->CrashContents(now, policy, draw).Hash());
        for (const auto& [path, content] : image.files) {
          const std::string& written = live.at(path);
          ASSERT_LE(content.size(), written.size());
          for (size_t i = 0; i < content.size(); ++i) {
            ASSERT_TRUE(content[i] == written[i] || content[i] == '\0');
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
