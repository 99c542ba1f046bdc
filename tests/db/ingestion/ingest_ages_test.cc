// SPDX-License-Identifier: Apache-2.0
//
// VerifyChecksum() checks the order of level 0: ingested files may have newer sequence numbers than
// tables that are searched before them, if those tables have none of their keys.
#include "db/manifest/manifest_file.h"
#include "db/manifest/manifest_reader.h"
#include "tests/db/ingestion/ingest_fixture.h"

namespace ashlar {

class IngestAgesTest : public IngestTest {
 protected:
  // Swaps the epoch numbers of the two tables of level 0 in a new MANIFEST.
  void SwapEpochs() {
    FileSystem* const fs = env_->GetFileSystem().get();
    const Result<std::string> current = ReadCurrent(fs, "/db");
    ASSERT_OK(current.status());
    auto reader = ManifestReader::Open(fs, "/db/" + current.value());
    ASSERT_OK(reader.status());
    std::vector<VersionEdit> edits;
    for (VersionEdit edit; (*reader)->Next(&edit);) edits.push_back(edit);
    std::vector<uint64_t*> epochs;
    for (VersionEdit& edit : edits) {
      edit.initial_records.reset();
      edit.change_begin.reset();
      for (auto& added : edit.new_files) epochs.push_back(&added.meta.epoch_number);
    }
    ASSERT_EQ(epochs.size(), 2u);
    std::swap(*epochs[0], *epochs[1]);
    std::vector<std::string> records;
    for (const VersionEdit& edit : edits) edit.EncodeTo(&records.emplace_back());
    ManifestFileOptions options;
    options.fs = fs;
    options.dir = "/db";
    ManifestFile manifest(options);
    ASSERT_OK(manifest.Start(FileNumber{1000}, records));
    ASSERT_OK(manifest.Close());
  }
};

TEST_F(IngestAgesTest, AMemtableAroundAnIngestedFileIsOlderThanItAndSearchedFirst) {
  Open();
  Put(5, "old");
  Flush();
  Put(1, "x");
  Put(9, "x");
  ASSERT_OK(Ingest({File("/a.sst", 5, 6, "a")}));  // over the table, between the memtable's keys
  EXPECT_EQ(Levels(), "2,0,0,0,0,0,0");
  Flush();
  EXPECT_EQ(Levels(), "3,0,0,0,0,0,0");
  ColumnFamilyMetaData facts;
  db_->GetColumnFamilyMetaData(&facts);
  ASSERT_LT(facts.levels[0].files[0].largest_seqno, facts.levels[0].files[1].largest_seqno);
  CheckWhole();
  EXPECT_EQ(Get(1) + Get(5) + Get(9), "xax");
  Reopen();
  CheckWhole();
  EXPECT_EQ(Get(1) + Get(5) + Get(9), "xax");
}

TEST_F(IngestAgesTest, TablesThatHideNewerEntriesAreFound) {
  options_.avoid_flush_during_shutdown = true;
  Open();
  Put(1, "old");
  Put(5, "old");
  Flush();
  Put(5, "new");
  Put(9, "new");
  Flush();
  Close();
  SwapEpochs();
  Open();
  EXPECT_EQ(Get(5), "old");  // only VerifyChecksum() can find the wrong order
  const Status status = db_->VerifyChecksum();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("k0005"), std::string::npos) << status.ToString();
}

}  // namespace ashlar
