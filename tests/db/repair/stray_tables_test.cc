// SPDX-License-Identifier: Apache-2.0
//
// RepairDB() with tables that no complete MANIFEST names: which of them are used, which of two is
// newer, and which WALs are replayed over them.
#include <string>
#include <vector>

#include "ashlar/sst_file_writer.h"
#include "tests/db/repair/repair_fixture.h"
#include "tests/db/stamps/stamped_db.h"

namespace ashlar {
namespace {

class StrayTablesTest : public RepairTest {
 protected:
  // Ingests a table that has these keys with one value.
  void Ingest(const std::vector<std::string>& keys, const std::string& value,
              const IngestExternalFileOptions& options = {}) {
    const std::string path = "/external.sst";
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(path));
    for (const std::string& key : keys) ASSERT_OK(writer.Put(key, value));
    ASSERT_OK(writer.Finish());
    ASSERT_OK(db_->IngestExternalFile({path}, options));
    Unlink(path);
  }
  // Repairs without a MANIFEST; the contents must be the same afterwards.
  void RepairWithoutManifest() {
    const Contents before = ReadAll();
    Close();
    DeleteAll("MANIFEST");
    Repair();
    OpenAll();
    EXPECT_EQ(ReadAll(), before);
    ASSERT_OK(db_->VerifyChecksum());
  }
  // Behind the damage there may have been further records.
  void DamageTheEndOfTheManifest() {
    const std::string manifest = Newest("MANIFEST");
    memory_->PutFile(manifest, Bytes(manifest) + std::string(10, 'x'));
  }
};

// The log is kept for the other family. The table with "z" has entries of before the log and behind
// it, so that the log is not replayed into the family.
TEST_F(StrayTablesTest, ATableWhoseLogIsNotReplayedIsUsed) {
  Open({"default", "other"});
  Put("z", "old");
  Flush();
  Compact();
  const Snapshot* const snapshot = db_->GetSnapshot();  // so that "z" keeps both of its numbers
  Put(handles_[1], "u", "1");
  Put("a", "1");
  Flush();
  Put("z", "new");
  Flush();
  const Slice z("z");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), &z, &z));
  ASSERT_EQ(Levels(), "1,0,0,0,0,0,1");
  db_->ReleaseSnapshot(snapshot);
  RepairWithoutManifest();
}

// A flush that did not end has left its table, whose entries are in the log.
TEST_F(StrayTablesTest, ATableWhoseLogIsReplayedIsNotUsed) {
  Open({"default", "other"});
  Put(handles_[1], "u", "1");
  Put("a", "1");
  Flush();
  const Contents before = ReadAll();
  Close();
  DeleteAll("MANIFEST");
  Repair();
  EXPECT_TRUE(Reports("all of its entries are in WALs"));
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
}

TEST_F(StrayTablesTest, AnIngestedTableThatTheManifestNamesHidesNoLog) {
  Open();
  Put("z", "only in the log");
  const Snapshot* const snapshot = db_->GetSnapshot();  // so that the table needs a number
  Ingest({"c", "d"}, "ingested");
  db_->ReleaseSnapshot(snapshot);
  const Contents before = ReadAll();
  Close();
  DamageTheEndOfTheManifest();
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
}

// The log has an older version of "c", which was flushed before the ingestion.
TEST_F(StrayTablesTest, AnIngestedTableIsNotHiddenByAnOlderLog) {
  Open({"default", "other"});
  Put(handles_[1], "u", "1");
  Put("c", "old");
  Flush();
  IngestExternalFileOptions options;
  options.write_global_seqno = true;
  Ingest({"c"}, "ingested", options);
  RepairWithoutManifest();
}

TEST_F(StrayTablesTest, AnIngestedTableWithoutNumberIsNewerThanTablesWithSmallerNumbers) {
  Open();
  Put("k", "old");
  Put("m", "1");
  Flush();
  IngestExternalFileOptions options;
  options.write_global_seqno = false;
  Ingest({"a", "k"}, "first", options);
  Ingest({"k", "n"}, "second", options);
  Put("a", "later");
  Flush();
  ASSERT_EQ(Get("k"), "second");
  RepairWithoutManifest();
  EXPECT_TRUE(Reports("its age was in the MANIFEST only"));
}

// The keys lie between those of the older table, but none is in both.
TEST_F(StrayTablesTest, AnIngestedTableWithoutNumberDoesNotTakeThatOfTheNextWrite) {
  Open();
  Put("a", "1");
  Put("z", "1");
  Flush();
  IngestExternalFileOptions options;
  options.write_global_seqno = false;
  Ingest({"m"}, "ingested", options);
  Put("m", "later");
  Flush();
  RepairWithoutManifest();
  CompactAndRewrite();
  EXPECT_EQ(Scan(), "a=1 m=later z=1");
}

// No record of a MANIFEST says that a blob file without references was dropped.
TEST_F(StrayTablesTest, ACollectedBlobFileIsNotLost) {
  options_.enable_blob_files = true;
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1.0;
  Open();
  Put("a", std::string(200, 'a'));
  Flush();
  Put("b", std::string(200, 'b'));
  Flush();
  CompactAndRewrite();
  WaitForJobs();
  ASSERT_EQ(Files(".blob").size(), 1u);
  const Contents before = ReadAll();
  Repair();
  EXPECT_FALSE(Reports(": lost: "));
  EXPECT_FALSE(Reports("cannot be read"));
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
}

class StampedStrayTablesTest : public RepairTest {
 protected:
  StampedStrayTablesTest() { options_.comparator = BytewiseComparatorWithU64Ts(); }
  // Writes a table with one entry to level 0.
  void Add(const std::string& key, uint64_t ts, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, Stamp(ts), value));
    Flush();
  }
  void MoveTo(int level, const std::vector<std::string>& tables) {
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), tables, level));
  }
};

// The sequence numbers of both tables overlap, so the versions of "k" decide. The search for them
// begins at "c", comes to k@5 in the older table, and must find k@9 in the newer one.
TEST_F(StampedStrayTablesTest, AllVersionsOfAKeyTellTheAgeOfATable) {
  Open();
  Add("c", 1, "1");
  MoveTo(1, TableNames(0));
  Add("k", 5, "old");
  MoveTo(2, TableNames(0));
  Add("k", 9, "new");
  MoveTo(1, {TableNames(0)[0], TableNames(1)[0]});
  Add("m", 1, "1");
  MoveTo(2, TableNames(0));
  MoveTo(2, TableNames(2));
  ASSERT_EQ(Levels(), "0,1,1,0,0,0,0");
  const ReadAt at10(10);
  ASSERT_EQ(Get("k", at10.options), "new");
  Close();
  DeleteAll("MANIFEST");
  Repair();
  Open();
  EXPECT_EQ(Get("k", at10.options), "new");
}

}  // namespace
}  // namespace ashlar
