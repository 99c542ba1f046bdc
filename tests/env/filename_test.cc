// SPDX-License-Identifier: Apache-2.0
//
// File names: built as RocksDB builds them, parsed with any number of digits; other names are
// refused.
#include <gtest/gtest.h>

#include "env/filename.h"

namespace ashlar {
namespace {

TEST(FileName, NamesAreBuilt) {
  EXPECT_EQ(LogFileName("/d", 4), "/d/000004.log");
  EXPECT_EQ(ArchivedLogFileName("/d", 4), "/d/archive/000004.log");
  EXPECT_EQ(TableFileName("/d", 1234567), "/d/1234567.sst");
  EXPECT_EQ(BlobFileName("/d", 12), "/d/000012.blob");
  EXPECT_EQ(DescriptorFileName("/d", 5), "/d/MANIFEST-000005");
  EXPECT_EQ(OptionsFileName("/d", 7), "/d/OPTIONS-000007");
  EXPECT_EQ(TempOptionsFileName("/d", 6), "/d/OPTIONS-000006.dbtmp");
  EXPECT_EQ(TempFileName("/d", 5), "/d/000005.dbtmp");
  EXPECT_EQ(CurrentFileName("/d"), "/d/CURRENT");
  EXPECT_EQ(LockFileName("/d"), "/d/LOCK");
  EXPECT_EQ(IdentityFileName("/d"), "/d/IDENTITY");
  EXPECT_EQ(InfoLogFileName("/d"), "/d/LOG");
  EXPECT_EQ(InfoLogFileName("/d", "/logs", "/data/my-db.1"), "/logs/data_my-db.1_LOG");
  EXPECT_EQ(OldInfoLogFileName("/d/LOG", 99), "/d/LOG.old.99");
}

struct Case {
  const char* name;
  FileType type;
  uint64_t number;
};

constexpr Case kGood[] = {
    {"100.log", kWalFile, 100},
    {"0.log", kWalFile, 0},
    {"000004.log", kWalFile, 4},
    {"archive/000004.log", kWalFile, 4},
    {"0.sst", kTableFile, 0},
    {"7.ldb", kTableFile, 7},
    {"000012.blob", kBlobFile, 12},
    {"CURRENT", kCurrentFile, 0},
    {"LOCK", kDBLockFile, 0},
    {"IDENTITY", kIdentityFile, 0},
    {"MANIFEST-2", kDescriptorFile, 2},
    {"MANIFEST-000007", kDescriptorFile, 7},
    {"METADB-2", kMetaDatabase, 2},
    {"LOG", kInfoLogFile, 0},
    {"LOG.old", kInfoLogFile, 0},
    {"LOG.old.6688", kInfoLogFile, 6688},
    {"OPTIONS-000007", kOptionsFile, 7},
    {"OPTIONS-000006.dbtmp", kTempFile, 6},
    {"000005.dbtmp", kTempFile, 5},
    {"4611686018427387903.log", kWalFile, 4611686018427387903ull},
    {"COMPACTION_PROGRESS-123", kCompactionProgressFile, 123},
};

TEST(FileName, NamesAreParsed) {
  for (const Case& c : kGood) {
    FileNumber number = 77;
    FileType type;
    ASSERT_TRUE(ParseFileName(c.name, &number, &type)) << c.name;
    EXPECT_EQ(type, c.type) << c.name;
    EXPECT_EQ(number.value(), c.number) << c.name;
  }
}

TEST(FileName, ForeignNamesAreRefused) {
  for (const char* name : {"",
                           "foo",
                           "foo-dx-100.log",
                           ".log",
                           "100",
                           "100.",
                           "100.lop",
                           "100.sst.trash",
                           "manifest",
                           "MANIFEST",
                           "MANIFEST-",
                           "MANIFEST-3x",
                           "XMANIFEST-3",
                           "CURRENT.",
                           "LOCKx",
                           "LO",
                           "LOGx",
                           "LOG.old.",
                           "LOG.old.x",
                           "LOG.txt",
                           "OPTIONS-",
                           "OPTIONS-1.tmp",
                           "18446744073709551616.log",
                           "184467440737095516150.log",
                           "18446744073709551615.sst",
                           "4611686018427387904.log",
                           "archive/000004.sst",
                           "archive/LOG",
                           "archive/"}) {
    FileNumber number;
    FileType type;
    EXPECT_FALSE(ParseFileName(name, &number, &type)) << name;
  }
}

TEST(FileName, ArchivedLogsAreTold) {
  FileNumber number;
  FileType type;
  bool is_archived = false;
  ASSERT_TRUE(ParseFileName("archive/000004.log", &number, &type, &is_archived));
  EXPECT_TRUE(is_archived);
  ASSERT_TRUE(ParseFileName("000004.log", &number, &type, &is_archived));
  EXPECT_FALSE(is_archived);
}

TEST(FileName, TextLogsOfOthersAreToldByTheirPrefix) {
  uint64_t number;
  FileType type;
  const std::string prefix = InfoLogPrefix("/logs", "/data/db");
  ASSERT_TRUE(ParseFileName(prefix + ".old.5", &number, prefix, &type));
  EXPECT_EQ(type, kInfoLogFile);
  EXPECT_EQ(number, 5u);
  EXPECT_FALSE(ParseFileName("other_LOG.old.5", &number, prefix, &type));
}

TEST(FileName, TrashIsOfTablesBlobFilesAndLogs) {
  EXPECT_TRUE(IsTrashFileName("000012.sst.trash"));
  EXPECT_TRUE(IsTrashFileName("000012.blob.3.trash"));
  EXPECT_TRUE(IsTrashFileName("000012.log.trash"));
  EXPECT_FALSE(IsTrashFileName("000012.sst"));
  EXPECT_FALSE(IsTrashFileName("CURRENT.trash"));
  EXPECT_FALSE(IsTrashFileName("notes.sst.trash"));
  EXPECT_FALSE(IsTrashFileName(".trash"));
}

TEST(FileName, PathsAreSplitAtTheLastSlash) {
  EXPECT_EQ(DirectoryOf("/a/b/c"), "/a/b");
  EXPECT_EQ(BaseNameOf("/a/b/c"), "c");
  EXPECT_EQ(DirectoryOf("/c"), "/");
  EXPECT_EQ(DirectoryOf("c"), ".");
}

}  // namespace
}  // namespace ashlar
