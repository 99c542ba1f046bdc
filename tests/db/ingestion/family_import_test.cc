// SPDX-License-Identifier: Apache-2.0
//
// A family is exported and imported into the same or another database.
#include "ashlar/utilities/checkpoint.h"
#include "env/file_util.h"
#include "tests/db/ingestion/ingest_fixture.h"

namespace ashlar {
namespace {

class FamilyImportTest : public IngestTest {
 protected:
  // Levels with overwritten, deleted and merged keys, and an ingested file.
  void Fill() {
    for (int i = 0; i < 50; i++) Put(i, "1");
    Flush();
    Compact();
    for (int i = 10; i < 20; i++) Put(i, "2");
    DeleteRange(Key(30), Key(35));
    Flush();
    for (int i = 15; i < 18; i++) Put(i, "3");
    Merge(handles_[0], Key(40), "m");
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
  using Parts = std::vector<const ExportImportFilesMetaData*>;
  Status ImportParts(const Parts& parts) {
    return db_->CreateColumnFamilyWithImport(options_, "imported", ImportColumnFamilyOptions(),
                                             parts, &imported_);
  }
  // Metadata that a program makes for a table that was not exported: its path and its level.
  static LiveFileMetaData Named(const std::string& name, int level) {
    LiveFileMetaData file;
    file.name = name;
    file.db_path = "/outside";
    file.level = level;
    return file;
  }
  ExportImportFilesMetaData PartOf(const std::vector<LiveFileMetaData>& files) {
    ExportImportFilesMetaData part;
    part.db_comparator_name = options_.comparator->Name();
    part.files = files;
    return part;
  }
  void CopyOut(const std::string& table, const std::string& name) {
    ASSERT_OK(env_->CreateDirIfMissing("/outside"));
    ASSERT_OK(CopyFileTo(env_->GetFileSystem().get(), table, "/outside/" + name));
  }
  // Afterwards the imported family is handles_[1].
  void ReopenWithImported() {
    DestroyImported();
    OpenAll();
  }
  void DestroyImported() {
    ASSERT_OK(db_->DestroyColumnFamilyHandle(imported_));
    imported_ = nullptr;
  }
  std::string ScanImported() { return DbTest::Scan({}, imported_); }
  void TearDown() override {
    if (imported_ != nullptr) DestroyImported();
    IngestTest::TearDown();
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
  EXPECT_EQ(Levels(imported_), levels);
  CheckWhole();
  Put(imported_, Key(16), "5");
  Compact(imported_);
  EXPECT_NE(ScanImported().find(Key(16) + "=5"), std::string::npos);
  ReopenWithImported();
  EXPECT_EQ(Get(Key(16), nullptr, 1) + Get(Key(45), nullptr, 1), "5in memory");
  EXPECT_EQ(Get(Key(31), nullptr, 1), "-");
}

// Its sequence numbers may be above those of the importing database.
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
  Put(imported_, Key(16), "newer");
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
  for (LiveFileMetaData& file : other.files) file.level = 6;  // where the tables overlap
  EXPECT_TRUE(Import(other).IsCorruption());
  const int tables = FilesOnDisk(".sst");
  ASSERT_OK(env_->DeleteFile("/export" + exported->files[3].name));
  EXPECT_FALSE(Import(*exported).ok());
  EXPECT_EQ(FilesOnDisk(".sst"), tables);
  std::vector<std::string> names;
  ASSERT_OK(DB::ListColumnFamilies(options_, "/db", &names));
  EXPECT_EQ(names.size(), 1u);
  EXPECT_FALSE(env_->FileExists("/export.tmp").ok());
}

TEST_F(FamilyImportTest, IsMadeOfPartsWithoutCommonKeys) {
  Open({kDefaultColumnFamilyName, "second"});
  Put(1, "a");
  Put(handles_[1], Key(5), "b");
  const auto first = Export("/first");
  std::swap(handles_[0], handles_[1]);
  const auto second = Export("/second");
  std::swap(handles_[0], handles_[1]);
  EXPECT_TRUE(ImportParts({first.get(), first.get()}).IsInvalidArgument());
  EXPECT_TRUE(ImportParts({}).IsInvalidArgument());
  ASSERT_OK(ImportParts({second.get(), first.get()}));
  EXPECT_EQ(ScanImported(), Key(1) + "=a " + Key(5) + "=b");
}

TEST_F(FamilyImportTest, TakesTablesThatAProgramWroteAndNamed) {
  Open();
  ASSERT_OK(env_->CreateDir("/outside"));
  File("/outside/a.sst", 0, 2, "a");
  File("/outside/b.sst", 2, 4, "b");
  const std::string rows = Key(0) + "=a " + Key(1) + "=a " + Key(2) + "=b " + Key(3) + "=b";
  for (const int level : {0, 6}) {
    ASSERT_OK(Import(PartOf({Named("b.sst", level), Named("a.sst", level)})));
    EXPECT_EQ(ScanImported(), rows);
    Put(imported_, Key(1), "newer");
    EXPECT_EQ(DbTest::Get(imported_, Key(1)), "newer");
    CheckWhole();
    ASSERT_OK(db_->DropColumnFamily(imported_));
    DestroyImported();
  }
  const ExportImportFilesMetaData first = PartOf({Named("a.sst", 6)});
  const ExportImportFilesMetaData second = PartOf({Named("b.sst", 6)});
  ASSERT_OK(ImportParts({&second, &first}));
  ReopenWithImported();
  EXPECT_EQ(Scan(nullptr, 1), rows);
}

// The metadata of the program has no keys: the tables are read.
TEST_F(FamilyImportTest, RefusesNamedPartsWithCommonKeys) {
  Open();
  ASSERT_OK(env_->CreateDir("/outside"));
  File("/outside/a.sst", 0, 10, "a");
  File("/outside/b.sst", 9, 12, "b");
  File("/outside/c.sst", 20, 22, "c");
  const ExportImportFilesMetaData first = PartOf({Named("c.sst", 0), Named("a.sst", 0)});
  const ExportImportFilesMetaData second = PartOf({Named("b.sst", 0)});
  const Status status = ImportParts({&first, &second});
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("its parts have common keys"), std::string::npos);
  EXPECT_EQ(imported_, nullptr);
  EXPECT_EQ(FilesOnDisk(".sst"), 0);
  ASSERT_OK(
      Import(PartOf({Named("a.sst", 0), Named("b.sst", 0)})));  // tables of one part may overlap
}

// All entries of such a table have the largest sequence number that the MANIFEST has for it.
TEST_F(FamilyImportTest, NumbersTheEntriesOfTablesAsTheProgramSays) {
  Open();
  ASSERT_OK(env_->CreateDir("/outside"));
  File("/outside/old.sst", 0, 3, "old");
  File("/outside/new.sst", 1, 2, "new");
  std::vector<LiveFileMetaData> files = {Named("new.sst", 0), Named("old.sst", 0)};
  files[0].smallest_seqno = 20;
  files[0].largest_seqno = 29;
  files[1].smallest_seqno = 10;
  files[1].largest_seqno = 19;
  ASSERT_OK(Import(PartOf(files)));
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 29u);
  const std::string rows = Key(0) + "=old " + Key(1) + "=new " + Key(2) + "=old";
  EXPECT_EQ(ScanImported(), rows);
  Compact(imported_);
  EXPECT_EQ(ScanImported(), rows);
  CheckWhole();
  ReopenWithImported();
  EXPECT_EQ(Scan(nullptr, 1), rows);
}

// The entries keep their sequence numbers, which are above all numbers of this database.
TEST_F(FamilyImportTest, ShowsATableOfADatabaseThatIsOnlyNamed) {
  Open();
  for (int i = 0; i < 9; i++) Put(i % 3, std::to_string(i));
  Flush();
  CopyOut("/db" + FileOn(0).name, "x.sst");
  const std::string rows = Scan();
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  Open();
  ASSERT_OK(Import(PartOf({Named("x.sst", 0)})));
  EXPECT_EQ(ScanImported(), rows);
  EXPECT_GE(db_->GetLatestSequenceNumber(), 9u);
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
