// SPDX-License-Identifier: Apache-2.0
//
// With wrong options or damaged files, opening and reading return a clear Status, lose nothing and
// change nothing.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/sample_database.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"
#include "util/hash/crc32c.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kChildDir[] = "ASHLAR_SECOND_OPENER_DIR";

std::string Value(int i) { return StrCat("value ", i, std::string(200, 'v')); }

// A closed database with two families: tables on several levels, and a log with the newest entries.
class BadInput : public DbTest {
 protected:
  static constexpr int kEntryCount = 300;

  BadInput() {
    families_ = {{kDefaultColumnFamilyName, FamilyOptions()}, {"users", FamilyOptions()}};
  }

  static ColumnFamilyOptions FamilyOptions() {
    ColumnFamilyOptions options;
    options.compression = kNoCompression;
    BlockBasedTableOptions table;
    table.format_version = 5;  // the footer of this version has no checksum
    table.block_size = 512;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    return options;
  }

  void SetUp() override {
    dir_ = FreshTempDir("bad_input") + "/db";
    ASSERT_OK(Open(CreatingOptions(), families_));
    for (int i = 0; i < kEntryCount; i++) {
      Put(handles_[i % 2], Key(i), Value(i));
      if (i % 100 == 50) Flush(handles_);
      if (i == 60) Compact(handles_[0]);
    }
    Drop();
    before_ = FilesOf(dir_);
  }

  static DBOptions CreatingOptions() {
    DBOptions options;
    options.create_if_missing = options.create_missing_column_families = true;
    return options;
  }
  Status Open(const DBOptions& options, const std::vector<ColumnFamilyDescriptor>& families,
              bool is_read_only = false) {
    Drop();
    return is_read_only ? DB::OpenForReadOnly(options, dir_, families, &handles_, &db_)
                        : DB::Open(options, dir_, families, &handles_, &db_);
  }

  // Opening for reading and for writing fails alike and leaves the files unchanged.
  void ExpectRefused(const std::vector<ColumnFamilyDescriptor>& families, Status::Code code,
                     const std::string& message, const DBOptions& options = DBOptions()) {
    const auto before = FilesOf(dir_);
    for (const bool is_read_only : {true, false}) {
      const Status status = Open(options, families, is_read_only);
      EXPECT_EQ(status.code(), code) << status.ToString();
      EXPECT_NE(status.ToString().find(message), std::string::npos)
          << status.ToString() << "; expected: " << message;
      EXPECT_EQ(db_, nullptr);
      EXPECT_TRUE(handles_.empty());
      EXPECT_EQ(DifferencesBetween(before, FilesOf(dir_)), "") << status.ToString();
    }
  }

  // After the damage of the test is repaired, all entries are there.
  void ExpectIntactAfterRepair() {
    for (const auto& [name, contents] : before_) WriteFile(name, contents);
    ExpectIntact();
  }
  void ExpectIntact() {
    ASSERT_OK(Open(DBOptions(), families_));
    EXPECT_TRUE(HoldsEntries(kEntryCount));
  }

  testing::AssertionResult HoldsEntries(int count) {
    std::vector<Entries> expected(2);
    for (int i = 0; i < count; i++) expected[i % 2].emplace_back(Key(i), Value(i));
    testing::AssertionResult result = HoldsExactly(db_.get(), handles_[0], expected[0]);
    return result ? HoldsExactly(db_.get(), handles_[1], expected[1]) : result;
  }

  void WriteFile(const std::string& name, const std::string& contents) {
    std::ofstream(StrCat(dir_, "/", name), std::ios::binary) << contents;
  }
  // The file with the highest number among those of this kind.
  std::string Newest(const std::string& prefix, const std::string& suffix) const {
    std::string newest;
    for (const auto& [name, contents] : before_) {
      if (Slice(name).starts_with(prefix) && Slice(name).ends_with(suffix)) newest = name;
    }
    EXPECT_NE(newest, "");
    return newest;
  }
  std::string Flipped(const std::string& name, size_t offset) const {
    std::string contents = before_.at(name);
    contents.at(offset) = static_cast<char>(contents[offset] ^ 0x10);
    return contents;
  }

  std::vector<ColumnFamilyDescriptor> families_;
  std::map<std::string, std::string> before_;
};

// Options.

TEST_F(BadInput, AnotherComparatorIsRefusedByName) {
  auto families = families_;
  families[1].options.comparator = ReverseBytewiseComparator();
  ExpectRefused(families, Status::kInvalidArgument, ReverseBytewiseComparator()->Name());
  ExpectRefused(families, Status::kInvalidArgument, BytewiseComparator()->Name());
  ExpectIntact();
}

TEST_F(BadInput, WritingNeedsEveryFamily) {
  const Status status = Open(DBOptions(), {families_[0]});
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("users"), std::string::npos) << status.ToString();
  EXPECT_EQ(DifferencesBetween(before_, FilesOf(dir_)), "");
  ExpectIntact();
}

TEST_F(BadInput, ReadingWorksOnSomeFamilies) {
  ASSERT_OK(Open(DBOptions(), {families_[0]}, /*is_read_only=*/true));
  EXPECT_EQ(Get(Key(0)), Value(0));
}

TEST_F(BadInput, FamiliesThatDoNotExistAreRefusedByName) {
  auto families = families_;
  families.emplace_back("nowhere", FamilyOptions());
  ExpectRefused(families, Status::kInvalidArgument, "nowhere");
  ExpectIntact();
}

TEST_F(BadInput, TheDefaultFamilyMustBeGiven) {
  ExpectRefused({families_[1]}, Status::kInvalidArgument, "efault");
  ExpectIntact();
}

TEST_F(BadInput, TooFewLevelsForTheFilesAreRefused) {
  auto families = families_;
  families[0].options.num_levels = 2;
  ExpectRefused(families, Status::kInvalidArgument, "num_levels");
  ExpectIntact();
}

TEST_F(BadInput, AnExistingDatabaseIsRefusedOnRequest) {
  DBOptions options;
  options.error_if_exists = true;
  const Status status = Open(options, families_);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("error_if_exists"), std::string::npos) << status.ToString();
  EXPECT_EQ(DifferencesBetween(before_, FilesOf(dir_)), "");
}

TEST_F(BadInput, NothingIsMadeWithoutCreateIfMissing) {
  const std::string absent = dir_ + "_absent";
  std::unique_ptr<DB> db;
  Status status = DB::Open(Options(), absent, &db);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("create_if_missing"), std::string::npos) << status.ToString();
  EXPECT_FALSE(std::filesystem::exists(absent));
  status = DB::OpenForReadOnly(Options(), absent, &db);
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(std::filesystem::exists(absent));
}

TEST_F(BadInput, UnknownOptionsInTextAreRefusedByName) {
  DBOptions db_options;
  const ConfigOptions strict;
  Status status = GetDBOptionsFromString(strict, DBOptions(), "no_such_option=1", &db_options);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("no_such_option"), std::string::npos) << status.ToString();
  ColumnFamilyOptions family;
  status = GetColumnFamilyOptionsFromString(strict, ColumnFamilyOptions(), "write_buffer_size=many",
                                            &family);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("write_buffer_size"), std::string::npos) << status.ToString();
}

// The directory.

TEST_F(BadInput, ASecondOpenerInThisProcessIsRefused) {
  ASSERT_OK(Open(DBOptions(), families_));
  std::unique_ptr<DB> second;
  std::vector<ColumnFamilyHandle*> handles;
  const Status status = DB::Open(DBOptions(), dir_, families_, &handles, &second);
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  EXPECT_NE(status.ToString().find("LOCK"), std::string::npos) << status.ToString();
  EXPECT_TRUE(HoldsEntries(kEntryCount));
}

TEST(SecondOpener, TriesTo) {
  const char* dir = std::getenv(kChildDir);
  if (dir == nullptr) GTEST_SKIP() << "only as the child of BadInput";
  std::unique_ptr<DB> db;
  const Status status = DB::Open(Options(), dir, &db);
  std::printf("%s: %s\n", status.IsIOError() ? "refused" : "not refused",
              status.ToString().c_str());
}

TEST_F(BadInput, ASecondOpenerInAnotherProcessIsToldTheHolder) {
  ASSERT_OK(Open(DBOptions(), families_));
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string output = RunCommand(
      StrCat(kChildDir, "='", dir_, "' '", self, "' --gtest_filter=SecondOpener.TriesTo"));
  EXPECT_NE(output.find("refused: IO error"), std::string::npos) << output;
  EXPECT_NE(output.find(std::to_string(getpid())), std::string::npos) << output;
  EXPECT_TRUE(HoldsEntries(kEntryCount));
}

TEST_F(BadInput, AFileIsNotADatabase) {
  std::unique_ptr<DB> db;
  Options options;
  options.create_if_missing = true;
  const Status status = DB::Open(options, dir_ + "/CURRENT", &db);
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  EXPECT_EQ(DifferencesBetween(before_, FilesOf(dir_)), "");
}

// While this object exists, permissions have effect, even for a test that runs as root.
class OrdinaryUser {
 public:
  OrdinaryUser() : was_root_(geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    is_ordinary_ = !was_root_ || seteuid(kNobody) == 0;
  }
  ~OrdinaryUser() { EXPECT_TRUE(!was_root_ || seteuid(0) == 0); }

  // False if there is no such user, as in some containers, or if it cannot reach temporary files.
  bool CanReach(const std::string& path) const {
    std::error_code error;
    return is_ordinary_ && std::filesystem::exists(path, error);
  }

 private:
  const bool was_root_;
  bool is_ordinary_ = false;
};

TEST_F(BadInput, AnUnreadableDirectoryIsAnIoError) {
  ASSERT_EQ(chmod(dir_.c_str(), 0), 0);
  {
    OrdinaryUser user;
    if (!user.CanReach(dir_)) return SkipAsImpossible("another user than root");
    for (const bool is_read_only : {false, true}) {
      const Status status = Open(DBOptions(), families_, is_read_only);
      EXPECT_TRUE(status.IsIOError()) << status.ToString();
      EXPECT_NE(status.ToString().find("Permission denied"), std::string::npos)
          << status.ToString();
    }
  }
  ASSERT_EQ(chmod(dir_.c_str(), 0755), 0);
  EXPECT_EQ(DifferencesBetween(before_, FilesOf(dir_)), "");
}

TEST_F(BadInput, ADirectoryThatCannotBeWrittenOpensForReadingOnly) {
  ASSERT_EQ(chmod(dir_.c_str(), 0555), 0);
  for (const auto& [name, contents] : before_) {
    ASSERT_EQ(chmod((dir_ + "/" + name).c_str(), 0444), 0);
  }
  {
    OrdinaryUser user;
    if (!user.CanReach(dir_)) return SkipAsImpossible("another user than root");
    const Status status = Open(DBOptions(), families_);
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_NE(status.ToString().find("LOCK"), std::string::npos) << status.ToString();
    ASSERT_OK(Open(DBOptions(), families_, /*is_read_only=*/true));
    EXPECT_TRUE(HoldsEntries(kEntryCount));
    Drop();
  }
  ASSERT_EQ(chmod(dir_.c_str(), 0755), 0);
  EXPECT_EQ(DifferencesBetween(before_, FilesOf(dir_)), "");
}

// CURRENT and MANIFEST.

TEST_F(BadInput, ADamagedCurrentIsCorruption) {
  for (const std::string text : {"", "MANIFEST-000005", "garbage\n", "MANIFEST-999999\n"}) {
    WriteFile("CURRENT", text);
    ExpectRefused(families_, Status::kCorruption, "CURRENT");
  }
  ExpectIntactAfterRepair();
}

// Creating a new database there would delete the files of the old one.
TEST_F(BadInput, AMissingCurrentIsNoReasonToStartAnew) {
  std::filesystem::remove(dir_ + "/CURRENT");
  for (const bool has_logs : {true, false}) {
    if (!has_logs) {
      for (const auto& [name, contents] : before_) {
        if (Slice(name).ends_with(".log")) std::filesystem::remove(StrCat(dir_, "/", name));
      }
    }
    const auto before = FilesOf(dir_);
    const Status status = Open(CreatingOptions(), families_);
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    Drop();
    EXPECT_EQ(DifferencesBetween(before, FilesOf(dir_)), "");
  }
  ExpectIntactAfterRepair();
}

TEST_F(BadInput, AnyFlippedBitOfTheManifestIsFoundOrHarmless) {
  const std::string name = Newest("MANIFEST-", "");
  const size_t size = before_.at(name).size();
  int refused = 0;
  for (size_t offset = 0; offset < size; offset += 5) {
    WriteFile(name, Flipped(name, offset));
    const Status status = Open(DBOptions(), families_, /*is_read_only=*/true);
    if (status.ok()) {
      EXPECT_TRUE(HoldsEntries(kEntryCount)) << "offset " << offset << " of " << size;
    } else {
      refused++;
      EXPECT_TRUE(status.IsCorruption()) << status.ToString();
      EXPECT_NE(status.ToString().find(name), std::string::npos) << status.ToString();
    }
  }
  EXPECT_GT(refused, static_cast<int>(size / 5) - 4);
  WriteFile(name, Flipped(name, size / 2));
  ExpectRefused(families_, Status::kCorruption, name);
  ExpectIntactAfterRepair();
}

// A log record of one fragment.
std::string LogRecord(const std::string& payload) {
  const std::string typed = std::string(1, '\1') + payload;
  std::string record;
  PutFixed32(&record, crc32c::Mask(crc32c::Value(typed.data(), typed.size())));
  record.push_back(static_cast<char>(payload.size()));
  record.push_back('\0');
  return record + typed;
}

TEST_F(BadInput, UnknownManifestFieldsAreRefusedUnlessIgnorable) {
  const std::string name = Newest("MANIFEST-", "");
  std::string required;
  PutVarint32(&required, 1234);
  PutLengthPrefixedSlice(&required, "something new");
  WriteFile(name, before_.at(name) + LogRecord(required));
  ExpectRefused(families_, Status::kNotSupported, "1234");

  std::string ignorable;
  PutVarint32(&ignorable, (1u << 13) | 1234u);
  PutLengthPrefixedSlice(&ignorable, "something new");
  WriteFile(name, before_.at(name) + LogRecord(ignorable));
  ExpectIntact();
}

// Tables.

TEST_F(BadInput, AMissingTableIsNamed) {
  const std::string name = Newest("", ".sst");
  std::filesystem::remove(StrCat(dir_, "/", name));
  ExpectRefused(families_, Status::kCorruption, name);
  ExpectIntactAfterRepair();
}

TEST_F(BadInput, ATableOfAnotherLengthIsNamed) {
  const std::string name = Newest("", ".sst");
  WriteFile(name, before_.at(name).substr(0, before_.at(name).size() / 2));
  ExpectRefused(families_, Status::kCorruption, name);
  WriteFile(name, before_.at(name) + "x");
  ExpectRefused(families_, Status::kCorruption, name);
  ExpectIntactAfterRepair();
}

TEST_F(BadInput, ANewerTableFormatIsRefused) {
  const std::string name = Newest("", ".sst");
  std::string contents = before_.at(name);
  EncodeFixed32(contents.data() + contents.size() - 12, 99);
  WriteFile(name, contents);
  ExpectRefused(families_, Status::kNotSupported, name);
  ExpectRefused(families_, Status::kNotSupported, "99");
  ExpectIntactAfterRepair();
}

// Reads of the damaged block return Corruption with the name of the file, other reads succeed, and
// compaction keeps the input.
TEST_F(BadInput, ADamagedDataBlockIsCorruptionWhenRead) {
  const std::string name = Newest("", ".sst");
  WriteFile(name, Flipped(name, 100));
  ASSERT_OK(Open(DBOptions(), families_));
  int corrupt = 0;
  for (int i = 0; i < kEntryCount; i++) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), handles_[i % 2], Key(i), &value);
    if (status.ok()) {
      EXPECT_EQ(value, Value(i));
      continue;
    }
    corrupt++;
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(name), std::string::npos) << status.ToString();
  }
  EXPECT_GT(corrupt, 0);
  EXPECT_LT(corrupt, 10);
  EXPECT_TRUE(db_->VerifyChecksum().IsCorruption());
  int failed = 0;
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  for (ColumnFamilyHandle* handle : handles_) {
    const Status status = db_->CompactRange(rewrite, handle, nullptr, nullptr);
    if (!status.ok()) {
      failed++;
      EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    }
  }
  EXPECT_EQ(failed, 1);
  Drop();
  ASSERT_TRUE(std::filesystem::exists(StrCat(dir_, "/", name)));
  WriteFile(name, before_.at(name));
  ExpectIntact();
}

// Logs.

TEST_F(BadInput, ADamagedLogIsRefusedWhereNothingMayBeLost) {
  const std::string name = Newest("", ".log");
  WriteFile(name, Flipped(name, before_.at(name).size() / 2));
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kAbsoluteConsistency, WALRecoveryMode::kTolerateCorruptedTailRecords}) {
    DBOptions options;
    options.wal_recovery_mode = mode;
    ExpectRefused(families_, Status::kCorruption, name, options);
  }
  ExpectIntactAfterRepair();
}

TEST_F(BadInput, ADamagedLogIsReadUpToTheDamage) {
  const std::string name = Newest("", ".log");
  WriteFile(name, Flipped(name, before_.at(name).size() / 2));
  ASSERT_OK(Open(DBOptions(), families_));
  int count = 0;
  std::string value;
  while (db_->Get(ReadOptions(), handles_[count % 2], Key(count), &value).ok()) count++;
  EXPECT_GT(count, 251);
  EXPECT_LT(count, kEntryCount);
  EXPECT_TRUE(HoldsEntries(count)) << "a prefix and nothing else";
}

}  // namespace
}  // namespace ashlar
