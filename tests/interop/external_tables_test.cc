// SPDX-License-Identifier: Apache-2.0
//
// External tables between our engine and RocksDB's tools: each verifies and ingests the tables of
// the other, and a database with ingested files can be opened by both. Skipped if RocksDB's tools
// are not installed.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class ExternalTables : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasProgram("ldb")) return SkipAsMissing("ldb of RocksDB");
    char dir[] = "/tmp/external_tables_XXXXXX";
    dir_ = mkdtemp(dir);
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    options_.write_compatible_with = "7.8";
  }
  ~ExternalTables() override {
    db_.reset();
    if (!dir_.empty()) std::filesystem::remove_all(dir_);
  }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  void Open() { ASSERT_OK(DB::Open(options_, Path("db"), &db_)); }
  void Write(const std::string& path, char first, char last, const std::string& value) {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(path));
    for (char c = first; c <= last; c++) ASSERT_OK(writer.Put(std::string(1, c), value));
    ASSERT_OK(writer.Finish());
  }
  std::string Scan() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    std::string text;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      text += it->key().ToString() + " : " + it->value().ToString() + "\n";
    }
    EXPECT_OK(it->status());
    return text;
  }
  std::string Ldb(const std::string& command) {
    return RunCommand("ldb --db=" + Path("db") + " " + command);
  }

  std::string dir_;
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace

TEST_F(ExternalTables, OursAreVerifiedAndIngestedByRocksDb) {
  Write(Path("x.sst"), 'a', 'c', "ours");
  const std::string verified = RunCommand("sst_dump --command=verify --file=" + Path("x.sst"));
  EXPECT_NE(verified.find("The file is ok"), std::string::npos) << verified;
  EXPECT_EQ(Ldb("--create_if_missing put b theirs"), "OK\n");
  const std::string ingested = Ldb("ingest_extern_sst " + Path("x.sst"));
  EXPECT_EQ(ingested.find("ail"), std::string::npos) << ingested;
  EXPECT_EQ(Ldb("scan"), "a : ours\nb : ours\nc : ours\n");
  // RocksDB wrote the sequence number into its copy of the file; now we open its database.
  options_.create_if_missing = false;
  Open();
  EXPECT_EQ(Scan(), "a : ours\nb : ours\nc : ours\n");
  EXPECT_OK(db_->VerifyChecksum());
}

TEST_F(ExternalTables, ThoseOfRocksDbAreReadAndIngestedHere) {
  EXPECT_EQ(Ldb("--create_if_missing put z theirs"), "OK\n");
  const std::string written = RunCommand("printf 'a ==> 1\\nb ==> 2\\n' | ldb --db=" + Path("db") +
                                         " write_extern_sst " + Path("x.sst"));
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(Path("x.sst"))) << written;
  EXPECT_OK(reader.VerifyChecksum());
  EXPECT_OK(reader.VerifyNumEntries(ReadOptions()));
  EXPECT_TRUE(SstFileWriter::CreatedBySstFileWriter(*reader.GetTableProperties()));
  options_.create_if_missing = false;
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "b", "ours"));
  ASSERT_OK(db_->IngestExternalFile({Path("x.sst")}, IngestExternalFileOptions()));
  EXPECT_EQ(Scan(), "a : 1\nb : 2\nz : theirs\n");
  EXPECT_OK(db_->VerifyChecksum());
}

// With and without the sequence number in the file, on level 0 and below.
TEST_F(ExternalTables, ADatabaseWithIngestedTablesIsReadByRocksDb) {
  for (const bool writes_number : {false, true}) {
    Open();
    IngestExternalFileOptions ingest;
    ingest.write_global_seqno = writes_number;
    Write(Path("x.sst"), 'a', 'e', "first");
    ASSERT_OK(db_->IngestExternalFile({Path("x.sst")}, ingest));
    Write(Path("y.sst"), 'b', 'c', "second");
    ASSERT_OK(db_->IngestExternalFile({Path("y.sst")}, ingest));
    ASSERT_OK(db_->Put(WriteOptions(), "c", "third"));
    Write(Path("z.sst"), 'd', 'd', "fourth");
    ASSERT_OK(db_->IngestExternalFile({Path("z.sst")}, ingest));
    ASSERT_OK(db_->Close());
    db_.reset();
    EXPECT_EQ(Ldb("checkconsistency"), "OK\n");
    EXPECT_EQ(Ldb("scan"), "a : first\nb : second\nc : third\nd : fourth\ne : first\n");
    EXPECT_EQ(Ldb("get d"), "fourth\n");
    EXPECT_EQ(Ldb("compact"), "");
    EXPECT_EQ(Ldb("scan"), "a : first\nb : second\nc : third\nd : fourth\ne : first\n");
    std::filesystem::remove_all(Path("db"));
  }
}

}  // namespace ashlar
