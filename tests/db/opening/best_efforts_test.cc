// SPDX-License-Identifier: Apache-2.0
//
// best_efforts_recovery: which state a database opens with when tables, blob files, MANIFESTs or
// CURRENT are missing or damaged, and what becomes of the other files. The tests change files
// between openings.
#include "ashlar/file_system_wrapper.h"
#include "ashlar/sst_file_writer.h"
#include "env/filename.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class BestEffortsTest : public DbTest {
 protected:
  BestEffortsTest() {
    options_.disable_auto_compactions = true;
    options_.avoid_flush_during_shutdown = true;
  }

  Status Open(int families = 1) {
    std::vector<std::string> names;
    for (int i = 0; i < families; i++) names.push_back(NameOf(i));
    return TryOpen(names);
  }
  // Opens the newest state that is complete.
  Status OpenWhatIsLeft(int families = 1) {
    options_.best_efforts_recovery = true;
    return Open(families);
  }
  static std::string NameOf(int family) {
    return family == 0 ? kDefaultColumnFamilyName : StrCat("family", family);
  }

  void Put(const std::string& key, int family = 0) {
    DbTest::Put(handles_[size_t(family)], key, "of " + key);
  }
  // Writes a table for this key and returns its path.
  std::string PutTable(const std::string& key, int family = 0) {
    Put(key, family);
    Flush(handles_[size_t(family)]);
    return TableFiles().rbegin()->second;
  }
  std::map<FileNumber, std::string> TableFiles() { return Files(kTableFile); }
  std::map<FileNumber, std::string> Files(FileType wanted) {
    std::map<FileNumber, std::string> found;
    for (const auto& [path, bytes] : memory_->AllFiles()) {
      FileNumber number;
      FileType type;
      const std::string name = path.substr(path.rfind('/') + 1);
      if (ParseFileName(name, &number, &type) && type == wanted) found[number] = path;
    }
    return found;
  }
  std::vector<std::string> Orphans() {
    std::vector<std::string> names;
    for (const auto& [path, bytes] : memory_->AllFiles()) {
      if (path.ends_with(".orphan")) names.push_back(path);
    }
    return names;
  }
  void Delete(const std::string& path) {
    ASSERT_OK(memory_->DeleteFile(path, IOOptions(), nullptr)) << path;
  }
  std::string Bytes(const std::string& path) { return memory_->AllFiles()[path]; }

  std::string Keys(int family = 0) {
    std::string keys;
    for (const auto& [key, value] : ReadRows({}, handles_[size_t(family)])) {
      EXPECT_EQ(value, "of " + key);
      keys += key + " ";
    }
    return keys;
  }
  std::string Report() { return Property("ashlar.recovery-report"); }
  // The database can be written, compacted and opened again without best_efforts_recovery.
  void ExpectWorks(const std::string& keys) {
    Put("zz");
    Flush();
    Compact();
    EXPECT_EQ(Keys(), keys + "zz ");
    options_.best_efforts_recovery = false;
    const int families = static_cast<int>(handles_.size());
    ASSERT_OK(Open(families));
    EXPECT_EQ(Keys(), keys + "zz ");
    EXPECT_EQ(Report(), "");
  }
};

TEST_F(BestEffortsTest, AWholeDatabaseOpensWithEverythingInItsLogsToo) {
  ASSERT_OK(Open());
  PutTable("a");
  Put("b");
  ASSERT_OK(OpenWhatIsLeft());
  EXPECT_EQ(Keys(), "a b ");
  EXPECT_EQ(Report(), "");
  EXPECT_TRUE(Orphans().empty());
  ExpectWorks("a b ");
}

TEST_F(BestEffortsTest, WithoutItAMissingTableIsCorruptionThatNamesIt) {
  ASSERT_OK(Open());
  const std::string table = PutTable("a");
  Close();
  Delete(table);
  const Status status = Open();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find(table), std::string::npos) << status.ToString();
}

TEST_F(BestEffortsTest, GoesBackToBeforeTheMissingTable) {
  ASSERT_OK(Open());
  PutTable("a");
  const std::string missing = PutTable("b");
  const std::string later = PutTable("c");
  Put("d");
  Close();
  Delete(missing);
  ASSERT_OK(OpenWhatIsLeft());
  EXPECT_EQ(Keys(), "a ");
  EXPECT_NE(Report().find(missing), std::string::npos) << Report();
  // Files that the state does not use are kept: the later table, the log with "d", the MANIFEST.
  EXPECT_TRUE(memory_->AllFiles().contains(later + ".orphan"));
  EXPECT_GE(Orphans().size(), 3u);
  ExpectWorks("a ");
}

TEST_F(BestEffortsTest, ATableThatIsCutOrDamagedIsAsGoodAsMissing) {
  ASSERT_OK(Open());
  PutTable("a");
  const std::string bad = PutTable("b");
  Close();
  const std::string whole = Bytes(bad);
  const auto snapshot = memory_->AllFiles();
  std::string footless = whole;
  for (size_t i = footless.size() - 20; i < footless.size(); i++) footless[i] ^= 0x55;
  for (const std::string& damaged : {whole.substr(0, whole.size() / 2), footless}) {
    for (const auto& [path, bytes] : memory_->AllFiles()) Delete(path);
    for (const auto& [path, bytes] : snapshot) memory_->PutFile(path, bytes);
    memory_->PutFile(bad, damaged);
    ASSERT_OK(OpenWhatIsLeft());
    EXPECT_EQ(Keys(), "a ");
    Close();
  }
}

TEST_F(BestEffortsTest, OfAFamilyThatLacksNothingNothingIsTakenBack) {
  ASSERT_OK(Open(2));
  PutTable("a", 0);
  PutTable("b", 1);
  const std::string missing = PutTable("c", 0);
  PutTable("d", 1);
  Close();
  Delete(missing);
  ASSERT_OK(OpenWhatIsLeft(2));
  EXPECT_EQ(Keys(0), "a ");
  EXPECT_EQ(Keys(1), "b d ");
  ExpectWorks("a ");
  EXPECT_EQ(Keys(1), "b d ");
}

TEST_F(BestEffortsTest, InputsOfACompactionThatAreStillThereStandForItsOutput) {
  ASSERT_OK(Open());
  PutTable("a");
  PutTable("b");
  ASSERT_OK(db_->DisableFileDeletions());
  Compact();
  const std::string output = TableFiles().rbegin()->second;
  Close();
  Delete(output);
  ASSERT_OK(OpenWhatIsLeft());
  EXPECT_EQ(Keys(), "a b ");
  ExpectWorks("a b ");
}

TEST_F(BestEffortsTest, WithoutAnyTableItIsEmpty) {
  ASSERT_OK(Open());
  PutTable("a");
  PutTable("b");
  Close();
  for (const auto& [number, path] : TableFiles()) Delete(path);
  ASSERT_OK(OpenWhatIsLeft());
  EXPECT_EQ(Keys(), "");
  ExpectWorks("");
}

TEST_F(BestEffortsTest, NeedsNoCurrent) {
  ASSERT_OK(Open());
  PutTable("a");
  Put("b");
  Close();
  Delete("/db/CURRENT");
  EXPECT_TRUE(Open().IsInvalidArgument());
  options_.create_if_missing = false;
  ASSERT_OK(OpenWhatIsLeft());
  EXPECT_EQ(Keys(), "a b ");
  Close();
  memory_->PutFile("/db/CURRENT", "nonsense");
  ASSERT_OK(OpenWhatIsLeft());
  EXPECT_EQ(Keys(), "a b ");
  ExpectWorks("a b ");
}

TEST_F(BestEffortsTest, MakesANewDatabaseOnlyWhereThereIsNoManifest) {
  options_.create_if_missing = false;
  EXPECT_TRUE(OpenWhatIsLeft().IsInvalidArgument());
  options_.create_if_missing = true;
  ASSERT_OK(OpenWhatIsLeft());
  PutTable("a");
  Close();
  for (const auto& [number, path] : Files(kDescriptorFile)) memory_->PutFile(path, "");
  const Status status = OpenWhatIsLeft();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_EQ(TableFiles().size(), 1u) << "no file is changed";
}

TEST_F(BestEffortsTest, AnOlderManifestServesIfTheNewestIsGone) {
  ASSERT_OK(Open());
  PutTable("a");
  PutTable("b");
  const std::string old_path = Files(kDescriptorFile).rbegin()->second;
  const std::string old_contents = Bytes(old_path);
  ASSERT_OK(Open());
  PutTable("c");
  Put("d");
  Close();
  const std::string new_path = Files(kDescriptorFile).rbegin()->second;
  ASSERT_NE(old_path, new_path);
  memory_->PutFile(old_path, old_contents);
  for (const bool is_cut : {false, true}) {
    const auto snapshot = memory_->AllFiles();
    if (is_cut) {
      memory_->PutFile(new_path, Bytes(new_path).substr(0, 60));
    } else {
      Delete(new_path);
    }
    ASSERT_OK(OpenWhatIsLeft());
    EXPECT_EQ(Keys(), "a b ") << is_cut;
    EXPECT_NE(Report(), "");
    Close();
    for (const auto& [path, bytes] : memory_->AllFiles()) Delete(path);
    for (const auto& [path, bytes] : snapshot) memory_->PutFile(path, bytes);
  }
}

// A crash happened before CURRENT was switched to it.
TEST_F(BestEffortsTest, ANewerManifestThatCurrentDoesNotNameIsNotTheDatabase) {
  ASSERT_OK(Open());
  PutTable("a");
  Put("b");
  Close();
  const std::string contents = Bytes(Files(kDescriptorFile).rbegin()->second);
  const auto snapshot = memory_->AllFiles();
  for (const size_t bytes : {contents.size(), contents.size() / 2, size_t{0}}) {
    memory_->PutFile("/db/MANIFEST-000099", contents.substr(0, bytes));
    ASSERT_OK(OpenWhatIsLeft());
    EXPECT_EQ(Keys(), "a b ") << bytes;
    EXPECT_EQ(Report(), "");
    EXPECT_TRUE(Orphans().empty());
    Close();
    for (const auto& [path, old] : memory_->AllFiles()) Delete(path);
    for (const auto& [path, old] : snapshot) memory_->PutFile(path, old);
  }
}

TEST_F(BestEffortsTest, OfADamagedManifestCountsWhatIsBeforeTheDamage) {
  ASSERT_OK(Open());
  PutTable("a");
  const std::string manifest = Files(kDescriptorFile).rbegin()->second;
  const size_t whole_bytes = Bytes(manifest).size();
  PutTable("b");
  PutTable("c");
  Close();
  std::string damaged = Bytes(manifest);
  damaged[whole_bytes + 12] ^= 0x55;
  memory_->PutFile(manifest, damaged);
  EXPECT_TRUE(Open().IsCorruption());
  ASSERT_OK(OpenWhatIsLeft());
  EXPECT_EQ(Keys(), "a ");
  EXPECT_NE(Report().find(manifest.substr(4)), std::string::npos) << Report();
  ExpectWorks("a ");
}

// The MANIFEST lost the records that allowed to delete logs; these logs are not reported as
// missing.
TEST_F(BestEffortsTest, OfAManifestThatIsCutAnywhereCountsWhatIsLeft) {
  ASSERT_OK(Open());
  const std::string manifest = Files(kDescriptorFile).rbegin()->second;
  const size_t empty_bytes = Bytes(manifest).size();
  PutTable("a");
  const size_t bytes_with_a = Bytes(manifest).size();
  PutTable("b");
  Close();
  const std::map<std::string, std::string> whole = memory_->AllFiles();
  const size_t bytes = whole.at(manifest).size();
  ASSERT_LT(bytes_with_a, bytes);
  for (size_t left = 0; left < bytes; left++) {
    for (const auto& [path, contents] : memory_->AllFiles()) Delete(path);
    for (const auto& [path, contents] : whole) memory_->PutFile(path, contents);
    memory_->PutFile(manifest, whole.at(manifest).substr(0, left));
    options_.best_efforts_recovery = true;
    const Status status = Open();
    if (left >= empty_bytes) {
      ASSERT_OK(status) << left;
      const std::string keys = Keys();
      EXPECT_TRUE(keys == "a b " || keys == (left >= bytes_with_a ? "a " : "")) << left << keys;
    } else if (!status.ok()) {
      EXPECT_EQ(status.ToString().find(": OK"), std::string::npos) << status.ToString();
    }
    Close();
  }
}

TEST_F(BestEffortsTest, AChangeOfSeveralFamiliesIsTakenForAllOrForNone) {
  ASSERT_OK(Open(3));
  PutTable("a", 0);
  PutTable("a", 1);
  PutTable("a", 2);
  std::vector<IngestExternalFileArg> args;
  for (int family = 0; family < 2; family++) {
    const std::string path = StrCat("/external", family);
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(path));
    ASSERT_OK(writer.Put("m", "of m"));
    ASSERT_OK(writer.Finish());
    args.emplace_back();
    args.back().column_family = handles_[size_t(family)];
    args.back().external_files = {path};
  }
  ASSERT_OK(db_->IngestExternalFiles(args));
  const std::string ingested =
      TableFiles().rbegin()->second;  // the table of the last family of the change
  PutTable("z", 0);
  PutTable("z", 2);
  Close();
  Delete(ingested);
  ASSERT_OK(OpenWhatIsLeft(3));
  EXPECT_EQ(Keys(0), "a ");
  EXPECT_EQ(Keys(1), "a ");
  EXPECT_EQ(Keys(2), "a z ");
}

TEST_F(BestEffortsTest, GoesBackToBeforeAMissingBlobFile) {
  options_.enable_blob_files = true;
  ASSERT_OK(Open());
  PutTable("a");
  PutTable("b");
  const std::string missing = Files(kBlobFile).rbegin()->second;
  Close();
  Delete(missing);
  ASSERT_OK(OpenWhatIsLeft());
  EXPECT_EQ(Keys(), "a ");
  EXPECT_NE(Report().find(missing), std::string::npos) << Report();
  ExpectWorks("a ");
}

TEST_F(BestEffortsTest, AReadOnlyDatabaseShowsTheSameAndTouchesNothing) {
  ASSERT_OK(Open());
  PutTable("a");
  const std::string missing = PutTable("b");
  Close();
  Delete(missing);
  const auto before = memory_->AllFiles();
  options_.best_efforts_recovery = true;
  ASSERT_OK(OpenFamilies(std::vector<std::string>{NameOf(0)}, /*is_read_only=*/true));
  EXPECT_EQ(Keys(), "a ");
  EXPECT_EQ(memory_->AllFiles(), before);
}

// An error that does not mean damage of the file must not lose data.
TEST_F(BestEffortsTest, AFileThatCannotBeReadNowIsNoReasonToGoBack) {
  struct Unreadable final : FileSystemWrapper {
    using FileSystemWrapper::FileSystemWrapper;
    const char* Name() const override { return "Unreadable"; }
    IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                                 std::unique_ptr<FSRandomAccessFile>* file,
                                 IODebugContext* dbg) override {
      if (name == path) return IOStatus::IOError(name, "not now");
      return FileSystemWrapper::NewRandomAccessFile(name, options, file, dbg);
    }
    std::string path;
  };
  ASSERT_OK(Open());
  PutTable("a");
  const std::string table = PutTable("b");
  Close();
  const auto files = std::make_shared<Unreadable>(memory_);
  UseFiles(files);
  files->path = table;
  EXPECT_TRUE(OpenWhatIsLeft().IsIOError());
  files->path = "";
  ASSERT_OK(OpenWhatIsLeft());
  EXPECT_EQ(Keys(), "a b ");
}

}  // namespace
}  // namespace ashlar
