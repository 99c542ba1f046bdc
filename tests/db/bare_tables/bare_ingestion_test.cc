// SPDX-License-Identifier: Apache-2.0
//
// PlainTables and CuckooTables of an SstFileWriter, and their ingestion.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "env/file_util.h"
#include "table/plain/bare_table.h"
#include "tests/support/paths.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class BareIngestion : public DbTest {
 protected:
  BareIngestion() { UsePlain(); }
  void UsePlain(uint32_t user_key_len = 0) {
    PlainTableOptions plain;
    plain.user_key_len = user_key_len;
    plain.store_index_in_file = true;
    options_.table_factory.reset(NewPlainTableFactory(plain));
    options_.prefix_extractor.reset(NewFixedPrefixTransform(2));
  }
  void UseCuckoo() { options_.table_factory.reset(NewCuckooTableFactory()); }

  // Key(0) to Key(count - 1), each with this value.
  void WriteFile(const std::string& path, int count, const std::string& value) {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(path));
    for (int i = 0; i < count; i++) ASSERT_OK(writer.Put(Key(i), value));
    ExternalSstFileInfo info;
    ASSERT_OK(writer.Finish(&info));
    EXPECT_EQ(info.num_entries, static_cast<uint64_t>(count));
    uint64_t bytes = 0;
    ASSERT_OK(env_->GetFileSize(path, &bytes));
    EXPECT_EQ(info.file_size, bytes);
  }
  BareTableKind KindOf(const std::string& path) {
    std::string bytes;
    EXPECT_OK(ReadFileToString(env_.get(), path, &bytes));
    return BareTableKindOf(Slice(bytes.data() + bytes.size() - 8, 8));
  }
};

TEST_F(BareIngestion, AnSstFileWriterWritesTheFormatOfTheFactory) {
  WriteFile("/plain.sst", 100, "v");
  EXPECT_EQ(KindOf("/plain.sst"), BareTableKind::kPlain);
  UseCuckoo();
  WriteFile("/cuckoo.sst", 100, "v");
  EXPECT_EQ(KindOf("/cuckoo.sst"), BareTableKind::kCuckoo);
  options_.table_factory.reset(
      NewAdaptiveTableFactory(std::shared_ptr<TableFactory>(NewPlainTableFactory())));
  WriteFile("/adaptive.sst", 100, "v");
  EXPECT_EQ(KindOf("/adaptive.sst"), BareTableKind::kPlain);
  for (const char* const path : {"/plain.sst", "/cuckoo.sst", "/adaptive.sst"}) {
    SstFileReader reader(options_);
    ASSERT_OK(reader.Open(path));
    EXPECT_OK(reader.VerifyChecksum());
    EXPECT_EQ(reader.GetTableProperties()->num_entries, 100u);
    EXPECT_TRUE(SstFileWriter::CreatedBySstFileWriter(*reader.GetTableProperties()));
  }
}

// A refused entry is not in the file, and the others are.
TEST_F(BareIngestion, AnSstFileWriterRefusesWhatTheFormatCannotHold) {
  UsePlain(3);
  SstFileWriter plain(EnvOptions(), options_);
  ASSERT_OK(plain.Open("/plain.sst"));
  ASSERT_OK(plain.Put("aaa", "v"));
  EXPECT_TRUE(plain.Put("aaaa", "v").IsInvalidArgument());
  EXPECT_TRUE(plain.DeleteRange("b", "c").IsNotSupported());
  ASSERT_OK(plain.Put("aab", "v"));
  ASSERT_OK(plain.Finish());
  UseCuckoo();
  SstFileWriter cuckoo(EnvOptions(), options_);
  ASSERT_OK(cuckoo.Open("/cuckoo.sst"));
  ASSERT_OK(cuckoo.Put("aaa", "v"));
  EXPECT_TRUE(cuckoo.Merge("aab", "v").IsNotSupported());
  ASSERT_OK(cuckoo.Put("aab", "v"));
  ASSERT_OK(cuckoo.Finish());
  for (const char* const path : {"/plain.sst", "/cuckoo.sst"}) {
    SstFileReader reader(options_);
    ASSERT_OK(reader.Open(path));
    EXPECT_EQ(reader.GetTableProperties()->num_entries, 2u);
  }
}

// A file with an entry that is lost is never completed.
TEST_F(BareIngestion, AnSstFileWriterDoesNotFinishAFileThatLacksAnEntry) {
  UseCuckoo();
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/cuckoo.sst"));
  ASSERT_OK(writer.Put("aaa", "v"));
  EXPECT_TRUE(writer.Put("aab", "another length").IsNotSupported());
  EXPECT_TRUE(writer.Finish().IsNotSupported());
  EXPECT_TRUE(env_->FileExists("/cuckoo.sst").IsNotFound());
}

TEST_F(BareIngestion, AnSstFileWriterChecksTheOptions) {
  options_.prefix_extractor.reset();
  SstFileWriter writer(EnvOptions(), options_);
  EXPECT_TRUE(writer.Open("/plain.sst").IsNotSupported());
  EXPECT_TRUE(env_->FileExists("/plain.sst").IsNotFound());
}

// The entries of the file are newer than those of the database: they get a sequence number.
TEST_F(BareIngestion, IngestedTablesTakeASequenceNumber) {
  for (const bool is_cuckoo : {false, true}) {
    for (const bool writes_seqno : {false, true}) {
      SCOPED_TRACE(testing::Message() << is_cuckoo << writes_seqno);
      if (is_cuckoo) UseCuckoo();
      WriteFile("/new.sst", 100, "new");
      Open();
      for (int i = 0; i < 200; i += 2) Put(Key(i), "old");
      const Snapshot* const before = db_->GetSnapshot();
      Flush();
      IngestExternalFileOptions ingest;
      ingest.write_global_seqno = writes_seqno;
      ASSERT_OK(db_->IngestExternalFile({"/new.sst"}, ingest));
      EXPECT_EQ(Get(Key(4)), "new");
      EXPECT_EQ(Get(Key(4), AsOf(before)), "old");
      EXPECT_EQ(Get(Key(5), AsOf(before)), "(none)");
      EXPECT_EQ(Get(Key(104)), "old");
      db_->ReleaseSnapshot(before);
      Reopen();
      EXPECT_EQ(Get(Key(4)), "new");
      EXPECT_EQ(ReadRows().size(), 150u);
      ASSERT_OK(db_->VerifyChecksum());
      Compact();
      EXPECT_EQ(Get(Key(4)), "new");
      EXPECT_EQ(ReadAll()[kDefaultColumnFamilyName].size(), 150u);
      Close();
      ASSERT_OK(DestroyDB(dir_, options_));
      ASSERT_OK(env_->DeleteFile("/new.sst"));
    }
  }
}

// A compaction could not write their entries.
TEST_F(BareIngestion, FilesWithEntriesThatTheFamilyCannotHoldAreRefused) {
  const Options bare = options_;
  options_.table_factory.reset(NewBlockBasedTableFactory());
  {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open("/ranges.sst"));
    ASSERT_OK(writer.Put("aa", "v"));
    ASSERT_OK(writer.DeleteRange("b", "c"));
    ASSERT_OK(writer.Finish());
  }
  WriteFile("/blocks.sst", 10, "v");
  options_ = bare;
  Open();
  EXPECT_TRUE(db_->IngestExternalFile({"/ranges.sst"}, {}).IsNotSupported());
  ASSERT_OK(db_->IngestExternalFile({"/blocks.sst"}, {}));
  EXPECT_EQ(ReadRows().size(), 10u);
  Close();
  ASSERT_OK(DestroyDB(dir_, options_));
  UsePlain(4);
  Open();
  EXPECT_TRUE(db_->IngestExternalFile({"/blocks.sst"}, {}).IsInvalidArgument());
}

// The range would be a tombstone.
TEST_F(BareIngestion, ARangeCannotBeReplaced) {
  WriteFile("/new.sst", 10, "v");
  Open();
  Put(Key(3), "old");
  IngestExternalFileArg arg;
  arg.column_family = db_->DefaultColumnFamily();
  arg.external_files = {"/new.sst"};
  arg.atomic_replace_range = RangeOpt(Slice("a"), Slice("z"));
  EXPECT_TRUE(db_->IngestExternalFiles({arg}).IsNotSupported());
  EXPECT_EQ(Scan(), Key(3) + "=old");
}

}  // namespace
}  // namespace ashlar
