// SPDX-License-Identifier: Apache-2.0
//
// A family is exported and becomes one of the same or of another database.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/utilities/checkpoint.h"
#include "env/file_util.h"
#include "tests/db/ingestion/ingest_fixture.h"

namespace ashlar {
namespace {

class FamilyImportTest : public IngestTest {
 protected:
  ~FamilyImportTest() override {
    if (imported_ == nullptr) return;
    EXPECT_OK(db_->DestroyColumnFamilyHandle(imported_));
  }

  // Levels with overwritten, deleted and merged keys, and a file that came from outside.
  void Fill() {
    for (int i = 0; i < 50; i++) Put(i, "1");
    Flush();
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    for (int i = 10; i < 20; i++) Put(i, "2");
    ASSERT_OK(db_->DeleteRange(WriteOptions(), handles_[0], Key(30), Key(35)));
    Flush();
    for (int i = 15; i < 18; i++) Put(i, "3");
    ASSERT_OK(db_->Merge(WriteOptions(), handles_[0], Key(40), "m"));
    Flush();
    ASSERT_OK(Ingest({File("/outside.sst", 16, 17, "4")}));
    Put(45, "in memory");
  }
  std::unique_ptr<ExportImportFilesMetaData> Export(const std::string& dir) {
    Checkpoint* made = nullptr;
    EXPECT_OK(Checkpoint::Create(db_.get(), &made));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ExportImportFilesMetaData* metadata = nullptr;
    EXPECT_OK(checkpoint->ExportColumnFamily(handles_[0], dir, &metadata));
    return std::unique_ptr<ExportImportFilesMetaData>(metadata);
  }
  Status Import(const ExportImportFilesMetaData& metadata, bool move = false) {
    ImportColumnFamilyOptions options;
    options.move_files = move;
    return db_->CreateColumnFamilyWithImport(options_, "imported", options, metadata, &imported_);
  }
  std::string ScanImported() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), imported_));
    std::string text;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      text += (text.empty() ? "" : " ") + it->key().ToString() + "=" + it->value().ToString();
    }
    EXPECT_OK(it->status());
    return text;
  }

  ColumnFamilyHandle* imported_ = nullptr;
};

TEST_F(FamilyImportTest, IsWhatWasExported) {
  Open();
  Fill();
  const auto exported = Export("/export");
  ASSERT_NE(exported, nullptr);
  EXPECT_EQ(exported->db_comparator_name, options_.comparator->Name());
  EXPECT_EQ(exported->files.size(), 5u);
  const std::string rows = Scan();
  const std::string levels = Levels();
  Put(10, "later");
  ASSERT_OK(Import(*exported));
  EXPECT_EQ(ScanImported(), rows);
  ColumnFamilyMetaData facts;
  db_->GetColumnFamilyMetaData(imported_, &facts);
  std::string imported_levels;
  for (const LevelMetaData& level : facts.levels) {
    imported_levels += (imported_levels.empty() ? "" : ",") + std::to_string(level.files.size());
  }
  EXPECT_EQ(imported_levels, levels);
  CheckWhole();
  ASSERT_OK(db_->Put(WriteOptions(), imported_, Key(16), "5"));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), imported_, nullptr, nullptr));
  EXPECT_NE(ScanImported().find(Key(16) + "=5"), std::string::npos);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(imported_));
  imported_ = nullptr;
  names_.push_back("imported");
  Reopen();
  EXPECT_EQ(Get(Key(16), nullptr, 1) + Get(Key(45), nullptr, 1), "5in memory");
  EXPECT_EQ(Get(Key(31), nullptr, 1), "-");
}

// Its numbers may be above those of the database that takes it.
TEST_F(FamilyImportTest, GoesToAnotherDatabase) {
  Open();
  Fill();
  const std::string rows = Scan();
  const auto exported = Export("/export");
  const SequenceNumber newest = db_->GetLatestSequenceNumber();
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  Open();
  Put(1, "other");
  ASSERT_OK(Import(*exported, /*move=*/true));
  EXPECT_EQ(ScanImported(), rows);
  EXPECT_GE(db_->GetLatestSequenceNumber(), newest - 1);  // the last write was exported too
  EXPECT_EQ(Get(1), "other");
  ASSERT_OK(db_->Put(WriteOptions(), imported_, Key(16), "newer"));
  EXPECT_NE(ScanImported().find(Key(16) + "=newer"), std::string::npos);
  for (const LiveFileMetaData& file : exported->files) {
    EXPECT_TRUE(env_->FileExists(file.db_path + file.name).IsNotFound());
  }
  CheckWhole();
}

TEST_F(FamilyImportTest, IsNotMadeOfWhatIsNotWhole) {
  Open();
  Fill();
  auto exported = Export("/export");
  EXPECT_TRUE(Import(ExportImportFilesMetaData()).IsInvalidArgument());
  EXPECT_EQ(imported_, nullptr);
  auto other = *exported;
  other.db_comparator_name = "another";
  EXPECT_TRUE(Import(other).IsInvalidArgument());
  other = *exported;
  other.files[1].size++;
  EXPECT_TRUE(Import(other).IsCorruption());
  other = *exported;
  other.files[2].level = 7;
  EXPECT_TRUE(Import(other).IsInvalidArgument());
  other = *exported;
  for (LiveFileMetaData& file : other.files) file.level = 6;  // where they overlap
  EXPECT_TRUE(Import(other).IsCorruption());
  const int tables = TableFilesOnDisk();
  ASSERT_OK(env_->DeleteFile("/export" + exported->files[3].name));
  EXPECT_FALSE(Import(*exported).ok());
  EXPECT_EQ(TableFilesOnDisk(), tables);
  std::vector<std::string> names;
  ASSERT_OK(DB::ListColumnFamilies(options_, "/db", &names));
  EXPECT_EQ(names.size(), 1u);
  EXPECT_FALSE(env_->FileExists("/export.tmp").ok());
}

TEST_F(FamilyImportTest, IsMadeOfPartsWithoutCommonKeys) {
  Open({kDefaultColumnFamilyName, "second"});
  Put(1, "a");
  ASSERT_OK(db_->Put(WriteOptions(), handles_[1], Key(5), "b"));
  const auto first = Export("/first");
  std::swap(handles_[0], handles_[1]);
  const auto second = Export("/second");
  std::swap(handles_[0], handles_[1]);
  const auto import = [&](const std::vector<const ExportImportFilesMetaData*>& parts) {
    return db_->CreateColumnFamilyWithImport(options_, "imported", ImportColumnFamilyOptions(),
                                             parts, &imported_);
  };
  EXPECT_TRUE(import({first.get(), first.get()}).IsInvalidArgument());
  EXPECT_TRUE(import({}).IsInvalidArgument());
  ASSERT_OK(import({second.get(), first.get()}));
  EXPECT_EQ(ScanImported(), Key(1) + "=a " + Key(5) + "=b");
}

TEST_F(FamilyImportTest, ExportsToADirectoryOfItsOwn) {
  Open();
  Put(1, "a");
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* metadata = nullptr;
  EXPECT_TRUE(checkpoint->ExportColumnFamily(handles_[0], "/db", &metadata).IsInvalidArgument());
  EXPECT_TRUE(checkpoint->ExportColumnFamily(handles_[0], "/", &metadata).IsInvalidArgument());
  EXPECT_EQ(metadata, nullptr);
}

}  // namespace
}  // namespace ashlar
