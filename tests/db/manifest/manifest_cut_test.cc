// SPDX-License-Identifier: Apache-2.0
//
// A MANIFEST that ends among the records it began with: CURRENT was switched to it after they were
// synced, so no crash explains that. An open that took what is left would lose a family's rows.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "db/manifest/manifest_reader.h"
#include "db/manifest/version_edit.h"
#include "db/wal/log_reader.h"
#include "env/env_adaptors.h"
#include "env/memory/memory_file_system.h"
#include "env/sequential_reader.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kDir[] = "/db";

class ManifestCutTest : public testing::Test {
 protected:
  ManifestCutTest() { options_.env = env_.get(); }

  // Two families with a row each in a table.
  void MakeDatabase() {
    options_.create_if_missing = options_.create_missing_column_families = true;
    ASSERT_OK(Open());
    for (ColumnFamilyHandle* family : handles_) {
      ASSERT_OK(db_->Put(WriteOptions(), family, "key", "value"));
      ASSERT_OK(db_->Flush(FlushOptions(), family));
    }
    ASSERT_OK(Open()) << "the MANIFEST of this open begins with both families";
    Close();
    auto current = ReadCurrent(memory_.get(), kDir);
    ASSERT_OK(current);
    manifest_ = *current;
  }
  Status Open() {
    Close();
    return DB::Open(options_, kDir, {{kDefaultColumnFamilyName, options_}, {"second", options_}},
                    &handles_, &db_);
  }
  void Close() {
    for (ColumnFamilyHandle* handle : handles_) EXPECT_OK(db_->DestroyColumnFamilyHandle(handle));
    handles_.clear();
    db_.reset();
  }
  // Where the records end that were there before CURRENT named the file.
  uint64_t EndOfInitialRecords() {
    auto file = SequentialReader::Open(memory_.get(), StrCat(kDir, "/", manifest_), FileOptions());
    EXPECT_OK(file);
    LogReader log(NewFileLogSource(file.Take()), LogReader::Options(), nullptr);
    Slice record;
    uint64_t rest = 1;
    for (bool is_first = true; rest > 0 && log.ReadRecord(&record); is_first = false, rest--) {
      VersionEdit edit;
      EXPECT_OK(edit.DecodeFrom(record));
      if (is_first) rest = edit.initial_records.value_or(0);
    }
    EXPECT_EQ(rest, 0u);
    return log.record_end();
  }

  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(memory_);
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::string manifest_;
};

}  // namespace

TEST_F(ManifestCutTest, EveryCutAmongTheFirstRecordsIsCorruption) {
  MakeDatabase();
  const std::map<std::string, std::string> files = memory_->AllFiles();
  const std::string path = StrCat(kDir, "/", manifest_);
  const std::string whole = files.at(path);
  const uint64_t end = EndOfInitialRecords();
  ASSERT_GT(end, 200u);
  options_.create_if_missing = options_.create_missing_column_families = false;
  for (uint64_t length = 0; length < end; length++) {
    memory_->PutFile(path, whole.substr(0, length));
    const Status status = Open();
    ASSERT_TRUE(status.IsCorruption()) << length << " of " << end << ": " << status.ToString();
    EXPECT_NE(status.ToString().find(manifest_), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find("offset"), std::string::npos) << status.ToString();
  }
  memory_->PutFile(path, whole);
  ASSERT_OK(Open());
  for (ColumnFamilyHandle* family : handles_) {
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), family, "key", &value));
  }
  Close();
}

}  // namespace ashlar
