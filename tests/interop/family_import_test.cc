// SPDX-License-Identifier: Apache-2.0
//
// RocksDB opens a database in which a family was imported: one atomic group of the MANIFEST adds
// the family and its tables. Skipped if RocksDB's tools are not installed.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/utilities/checkpoint.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class FamilyImport78 : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!HasProgram("ldb")) return SkipAsMissing("ldb of RocksDB");
    dir_ = FreshTempDir("family_import");
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    options_.write_compatible_with = "7.8";
    options_.enable_blob_files = GetParam();
  }
  std::string Ldb(const std::string& arguments) {
    int exit_code = 0;
    const std::string out = RunCommand(StrCat("ldb --db='", dir_, "/db' ", arguments), &exit_code);
    EXPECT_EQ(exit_code, 0) << out;
    return out;
  }
  // Exports the default family and imports it under another name.
  void Import() {
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options_, dir_ + "/db", &db));
    for (const char* key : {"a", "b", "c"}) {
      ASSERT_OK(db->Put(WriteOptions(), key, StrCat(key, 1)));
    }
    ASSERT_OK(db->Flush(FlushOptions()));
    ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    ASSERT_OK(db->Put(WriteOptions(), "b", "b2"));
    Checkpoint* made = nullptr;
    ASSERT_OK(Checkpoint::Create(db.get(), &made));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ExportImportFilesMetaData* metadata = nullptr;
    ASSERT_OK(
        checkpoint->ExportColumnFamily(db->DefaultColumnFamily(), dir_ + "/export", &metadata));
    const std::unique_ptr<ExportImportFilesMetaData> exported(metadata);
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_OK(db->CreateColumnFamilyWithImport(options_, "imported", ImportColumnFamilyOptions(),
                                               *exported, &handle));
    ASSERT_OK(db->Put(WriteOptions(), handle, "d", "in the log"));
    ASSERT_OK(db->DestroyColumnFamilyHandle(handle));
  }

  std::string dir_;
  Options options_;
};

}  // namespace

TEST_P(FamilyImport78, RocksDbReadsAndContinuesIt) {
  if (IsSkipped()) return;
  Import();
  const std::string group = Ldb("manifest_dump --verbose");
  EXPECT_NE(group.find("AtomicGroup: 1 entries remains"), std::string::npos) << group;
  EXPECT_NE(group.find("AtomicGroup: 0 entries remains"), std::string::npos) << group;
  EXPECT_EQ(Ldb("list_column_families"),
            "Column families in " + dir_ + "/db: \n{default, imported}\n");
  EXPECT_EQ(Ldb("--column_family=imported scan"), "a : a1\nb : b2\nc : c1\nd : in the log\n");
  EXPECT_EQ(Ldb("--column_family=imported put e theirs"), "OK\n");
  Ldb("--column_family=imported compact");
  EXPECT_EQ(Ldb("checkconsistency"), "OK\n");
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(DB::Open(options_, dir_ + "/db",
                     {{kDefaultColumnFamilyName, options_}, {"imported", options_}}, &handles,
                     &db));
  std::string rows;
  {
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions(), handles[1]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      StrAppend(&rows, it->key().ToString(), "=", it->value().ToString(), " ");
    }
    EXPECT_OK(it->status());
  }
  EXPECT_EQ(rows, "a=a1 b=b2 c=c1 d=in the log e=theirs ");
  for (ColumnFamilyHandle* handle : handles) ASSERT_OK(db->DestroyColumnFamilyHandle(handle));
}

INSTANTIATE_TEST_SUITE_P(All, FamilyImport78, testing::Bool(), [](const auto& test) {
  return test.param ? "WithBlobFiles" : "WithoutBlobFiles";
});

}  // namespace ashlar
