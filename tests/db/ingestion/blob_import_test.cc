// SPDX-License-Identifier: Apache-2.0
//
// Families whose values are in blob files are exported and imported. What faults and crashes leave
// of an import: import_fault_test.cc.
#include <algorithm>

#include "ashlar/file_checksum.h"
#include "ashlar/utilities/checkpoint.h"
#include "db/blob/blob_format.h"
#include "env/file_util.h"
#include "tests/db/ingestion/ingest_fixture.h"

namespace ashlar {
namespace {

std::string Large(int i) { return "value" + std::to_string(i) + std::string(30, 'x'); }

class BlobImport : public IngestTest {
 protected:
  BlobImport() {
    options_.enable_blob_files = true;
    options_.min_blob_size = 20;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  }
  // Three blob files, of which the first two have garbage; small values, tombstones of both kinds,
  // and operands above a value in a blob file.
  void Fill() {
    for (int i = 0; i < 20; i++) Put(i, Large(i));
    Flush();
    Compact();
    for (int i = 5; i < 15; i++) Put(i, Large(100 + i));
    Put(30, "small");
    DeleteRange(Key(17), Key(19));
    Flush();
    Compact();
    Put(6, Large(206));
    Delete(7);
    Merge(handles_[0], Key(8), "m");
    Flush();
    ASSERT_EQ(FilesOnDisk(".blob"), 3);
  }
  std::unique_ptr<ExportImportFilesMetaData> Export(const std::string& dir = "/export") {
    std::unique_ptr<ExportImportFilesMetaData> exported;
    EXPECT_OK(ExportTo(db_.get(), handles_[0], dir, &exported));
    return exported;
  }
  Status Import(const ExportImportFilesMetaData& metadata, bool move = false) {
    ImportColumnFamilyOptions options;
    options.move_files = move;
    return db_->CreateColumnFamilyWithImport(options_, "imported", options, metadata, &imported_);
  }
  std::string ScanImported() { return DbTest::Scan({}, imported_); }
  std::vector<BlobMetaData> BlobFilesOf(ColumnFamilyHandle* family) {
    ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(family, &metadata);
    return metadata.blob_files;
  }
  static std::string PathOf(const BlobMetaData& file) {
    return file.blob_file_path + "/" + file.blob_file_name;
  }
  std::vector<std::string> Children(const std::string& dir) {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren(dir, &names));
    return names;
  }
  // Imports what must be refused, and checks that nothing is left of it.
  Status ImportInVain(const ExportImportFilesMetaData& metadata) {
    const int tables = FilesOnDisk(".sst"), blobs = FilesOnDisk(".blob");
    const Status status = Import(metadata);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(imported_, nullptr);
    EXPECT_EQ(FilesOnDisk(".sst"), tables);
    EXPECT_EQ(FilesOnDisk(".blob"), blobs);
    std::vector<std::string> names;
    EXPECT_OK(DB::ListColumnFamilies(options_, "/db", &names));
    EXPECT_EQ(names.size(), 1u);
    return status;
  }
  void DestroyImported() {
    if (imported_ == nullptr) return;
    ASSERT_OK(db_->DestroyColumnFamilyHandle(imported_));
    imported_ = nullptr;
  }
  void TearDown() override {
    DestroyImported();
    IngestTest::TearDown();
  }

  ColumnFamilyHandle* imported_ = nullptr;
};

TEST_F(BlobImport, IsWhatWasExported) {
  Open();
  Fill();
  const auto exported = Export();
  ASSERT_NE(exported, nullptr);
  const std::string rows = Scan();
  EXPECT_EQ(rows.find(Key(17)), std::string::npos);
  const std::vector<BlobMetaData> before = BlobFilesOf(handles_[0]);
  ASSERT_OK(Import(*exported));
  EXPECT_EQ(ScanImported(), rows);
  EXPECT_EQ(Levels(imported_), Levels());
  const std::vector<BlobMetaData> after = BlobFilesOf(imported_);
  ASSERT_EQ(after.size(), before.size());
  uint64_t garbage = 0;
  for (size_t i = 0; i < after.size(); i++) {
    EXPECT_GT(after[i].blob_file_number, before.back().blob_file_number);
    EXPECT_EQ(after[i].total_blob_count, before[i].total_blob_count);
    EXPECT_EQ(after[i].total_blob_bytes, before[i].total_blob_bytes);
    EXPECT_EQ(after[i].garbage_blob_count, before[i].garbage_blob_count);
    EXPECT_EQ(after[i].garbage_blob_bytes, before[i].garbage_blob_bytes);
    garbage += after[i].garbage_blob_count;
  }
  EXPECT_GT(garbage, 0u);
  CheckWhole();
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
  DestroyImported();
  OpenAll();
  EXPECT_EQ(Scan(nullptr, 1), rows);
  EXPECT_EQ(Scan(), rows);
}

TEST_F(BlobImport, NamesItsFamilyInEachBlobFile) {
  Open();
  Fill();
  const auto exported = Export();
  ASSERT_OK(Import(*exported));
  for (const BlobMetaData& file : BlobFilesOf(imported_)) {
    std::string bytes;
    ASSERT_OK(ReadFileToString(env_.get(), PathOf(file), &bytes));
    BlobFileHeader header;
    ASSERT_OK(header.DecodeFrom(Slice(bytes.data(), kBlobHeaderBytes)));
    EXPECT_EQ(header.family_id, imported_->GetID());
  }
}

TEST_F(BlobImport, GoesToAnotherDatabaseWhoseNumbersAreTaken) {
  Open();
  Fill();
  const std::string rows = Scan();
  const auto exported = Export();
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  Open();
  for (int i = 0; i < 30; i++) {
    Put(i, Large(1000 + i));
    Flush();
  }
  ASSERT_OK(Import(*exported, /*move=*/true));
  EXPECT_EQ(ScanImported(), rows);
  EXPECT_EQ(Get(6), Large(1006));
  for (const std::string& name : Children("/export")) {
    EXPECT_FALSE(name.ends_with(".sst") || name.ends_with(".blob")) << name;
  }
  CheckWhole();
}

// Garbage collection begins with the oldest values, so the numbers keep their order.
TEST_F(BlobImport, IsCollectedFromTheOldestFileOn) {
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 0.4;  // one file of three
  Open();
  Fill();
  const auto exported = Export();
  ASSERT_OK(Import(*exported));
  const std::string rows = ScanImported();
  const std::vector<BlobMetaData> before = BlobFilesOf(imported_);
  Compact(imported_);
  EXPECT_EQ(ScanImported(), rows);
  const std::vector<BlobMetaData> after = BlobFilesOf(imported_);
  const auto is_there = [&](const BlobMetaData& file) {
    return std::any_of(after.begin(), after.end(), [&](const BlobMetaData& other) {
      return other.blob_file_number == file.blob_file_number;
    });
  };
  EXPECT_FALSE(is_there(before[0]));
  EXPECT_TRUE(is_there(before[1]));
  EXPECT_EQ(DbTest::Get(imported_, Key(0)), Large(0));
}

TEST_F(BlobImport, TakesANamedTableWithTheBlobFileBesideIt) {
  Open();
  for (int i = 0; i < 3; i++) Put(i, Large(i));
  Flush();
  const std::string blob = PathOf(BlobFilesOf(handles_[0]).front());
  ASSERT_OK(env_->CreateDir("/outside"));
  FileSystem* const fs = env_->GetFileSystem().get();
  ASSERT_OK(CopyFileTo(fs, "/db" + FileOn(0).name, "/outside/x.sst"));
  ExportImportFilesMetaData part;
  part.db_comparator_name = options_.comparator->Name();
  part.files.emplace_back().name = "x.sst";
  part.files.back().db_path = "/outside";
  const Status status = ImportInVain(part);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find(".blob, which does not exist"), std::string::npos)
      << status.ToString();
  ASSERT_OK(CopyFileTo(fs, blob, "/outside" + blob.substr(blob.rfind('/'))));
  ASSERT_OK(Import(part));
  EXPECT_EQ(ScanImported(), Scan());
}

TEST_F(BlobImport, RefusesWhatDoesNotFit) {
  Open();
  Fill();
  const auto exported = Export();
  auto other = *exported;
  other.files.front().level = 7;
  EXPECT_TRUE(ImportInVain(other).IsInvalidArgument());
  // The values of a table that is named twice would be counted twice.
  other = *exported;
  for (LiveFileMetaData& file : other.files) file.level = 0;
  const std::vector<LiveFileMetaData> once = other.files;
  other.files.insert(other.files.end(), once.begin(), once.end());
  const Status twice = ImportInVain(other);
  EXPECT_TRUE(twice.IsCorruption()) << twice.ToString();
  const std::string blob = "/export/" + BlobFilesOf(handles_[0]).front().blob_file_name;
  std::string bytes;
  ASSERT_OK(ReadFileToString(env_.get(), blob, &bytes));
  const auto replace = [&](const std::string& contents) {
    ASSERT_OK(env_->DeleteFile(blob));
    ASSERT_OK(WriteStringToFile(env_.get(), contents, blob));
  };
  replace(bytes.substr(0, kBlobHeaderBytes));
  EXPECT_TRUE(ImportInVain(*exported).IsCorruption());
  replace(bytes.substr(0, bytes.size() - 1));
  EXPECT_TRUE(ImportInVain(*exported).IsCorruption());
  replace("?" + bytes.substr(1));
  EXPECT_TRUE(ImportInVain(*exported).IsCorruption());
  std::string short_one = bytes.substr(0, kBlobHeaderBytes + 10);
  BlobFileFooter{.blob_count = 100}.AppendTo(&short_one);
  replace(short_one);
  EXPECT_TRUE(ImportInVain(*exported).IsCorruption());
  std::string few = bytes.substr(0, bytes.size() - kBlobFooterBytes);
  BlobFileFooter{.blob_count = 1}.AppendTo(&few);
  replace(few);
  EXPECT_TRUE(ImportInVain(*exported).IsCorruption());
  replace(bytes);
  ASSERT_OK(Import(*exported));
  EXPECT_EQ(ScanImported(), Scan());
}

TEST_F(BlobImport, IsTheWayForTablesThatCannotBeIngested) {
  Open();
  Put(1, Large(1));
  Flush();
  IngestExternalFileOptions ingest;
  ingest.allow_db_generated_files = true;
  const Status status = Ingest({"/db" + FileOn(0).name}, ingest);
  EXPECT_TRUE(status.IsNotSupported());
  EXPECT_NE(status.ToString().find("Checkpoint::ExportColumnFamily"), std::string::npos);
}

}  // namespace
}  // namespace ashlar
