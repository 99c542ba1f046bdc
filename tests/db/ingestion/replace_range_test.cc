// SPDX-License-Identifier: Apache-2.0
//
// An ingestion that replaces a range: the old entries are deleted and the files added atomically.

#include <utility>

#include "ashlar/listener.h"
#include "tests/db/ingestion/ingest_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class ReplaceRangeTest : public IngestTest {
 protected:
  Status Replace(int begin, int end, const std::vector<std::string>& files,
                 const IngestExternalFileOptions& options = {}) {
    const std::string begin_key = Key(begin), end_key = Key(end);
    IngestExternalFileArg arg;
    arg.column_family = handles_[0];
    arg.external_files = files;
    arg.options = options;
    arg.atomic_replace_range = RangeOpt(Slice(begin_key), Slice(end_key));
    return db_->IngestExternalFiles({arg});
  }
};

TEST_F(ReplaceRangeTest, HidesAllThatWasThereAndNothingElse) {
  Open();
  for (int i = 0; i < 4; i++) Put(i, "deep");
  CompactAndRewrite();
  Put(2, "table");
  Put(5, "table");
  Flush();
  Put(3, "memtable");
  Put(6, "memtable");
  const Snapshot* before = db_->GetSnapshot();
  const std::string was = Scan();
  ASSERT_OK(Replace(1, 6, {File("/a.sst", 2, 3, "new"), File("/b.sst", 4, 5, "new")}));
  const std::string now = "k0000=deep k0002=new k0004=new k0006=memtable";
  EXPECT_EQ(Scan(), now);
  EXPECT_EQ(Scan(before), was);
  EXPECT_EQ(Get(3), "-");
  db_->ReleaseSnapshot(before);
  Put(3, "later");
  EXPECT_EQ(Get(3), "later");
  Reopen();
  CompactAndRewrite();
  EXPECT_EQ(Scan(), "k0000=deep k0002=new k0003=later k0004=new k0006=memtable");
  CheckWhole();
}

TEST_F(ReplaceRangeTest, LaterFilesAreNewer) {
  Open();
  Put(1, "old");
  ASSERT_OK(Replace(0, 9, {File("/a.sst", 1, 4, "a"), File("/b.sst", 2, 3, "b")}));
  EXPECT_EQ(Scan(), "k0001=a k0002=b k0003=a");
}

TEST_F(ReplaceRangeTest, RefusesWhatDoesNotGoWithIt) {
  Open();
  Put(1, "old");
  const std::string file = File("/a.sst", 2, 5, "a");
  EXPECT_TRUE(Replace(3, 9, {file}).IsInvalidArgument());
  EXPECT_TRUE(Replace(0, 4, {file}).IsInvalidArgument());
  EXPECT_TRUE(Replace(9, 0, {file}).IsInvalidArgument());
  IngestExternalFileOptions options;
  options.allow_global_seqno = false;
  EXPECT_TRUE(Replace(0, 9, {file}, options).IsInvalidArgument());
  options = {};
  options.fail_if_not_bottommost_level = true;
  EXPECT_TRUE(Replace(0, 9, {file}, options).IsInvalidArgument());
  IngestExternalFileArg open_end;
  open_end.column_family = handles_[0];
  open_end.external_files = {file};
  open_end.atomic_replace_range = RangeOpt();
  EXPECT_TRUE(db_->IngestExternalFiles({open_end}).IsNotSupported());
  EXPECT_EQ(Scan(), "k0001=old");
  EXPECT_EQ(FilesOnDisk(".sst"), 0);
}

TEST_F(ReplaceRangeTest, IsToldOfTheFilesOfTheCallAlone) {
  struct Listener : public EventListener {
    void OnExternalFileIngested(DB*, const ExternalFileIngestionInfo& info) override {
      paths += info.external_file_path + " ";
    }
    std::string paths;
  };
  auto listener = std::make_shared<Listener>();
  options_.listeners = {listener};
  Open();
  IngestExternalFileOptions options;
  options.move_files = true;
  ASSERT_OK(Replace(0, 9, {File("/a.sst", 2, 5, "a")}, options));
  EXPECT_EQ(listener->paths, "/a.sst ");
  EXPECT_TRUE(env_->FileExists("/a.sst").IsNotFound());
  Reopen();
  EXPECT_EQ(Get(2), "a");
}

TEST_F(ReplaceRangeTest, RecordsChecksumsIfTheDatabaseHasThem) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  Put(3, "old");
  ASSERT_OK(Replace(0, 9, {File("/a.sst", 2, 3, "a")}));
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
}

}  // namespace
}  // namespace ashlar
