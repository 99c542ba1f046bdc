// SPDX-License-Identifier: Apache-2.0
//
// A database in memory, and external files to ingest into it.
#pragma once

#include <functional>

#include "ashlar/merge_operator.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/utilities/checkpoint.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/test_db.h"

namespace ashlar {

// Exports a family with its files to a directory that does not exist yet.
inline Status ExportTo(DB* db, ColumnFamilyHandle* handle, const std::string& dir,
                       std::unique_ptr<ExportImportFilesMetaData>* exported) {
  Checkpoint* made = nullptr;
  const Status status = Checkpoint::Create(db, &made);
  if (!status.ok()) return status;
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* metadata = nullptr;
  const Status done = checkpoint->ExportColumnFamily(handle, dir, &metadata);
  exported->reset(metadata);
  return done;
}

class IngestTest : public DbTest {
 protected:
  IngestTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.merge_operator = NewStringAppendOperator(",");
  }
  void Open(const std::vector<std::string>& families = {kDefaultColumnFamilyName}) {
    DbTest::Open(families);
  }

  static std::string Key(int i) {
    const std::string digits = std::to_string(i);
    return "k" + std::string(4 - digits.size(), '0') + digits;
  }
  using Fill = std::function<void(SstFileWriter*)>;
  void MakeFile(const std::string& path, const Fill& fill) {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(path));
    fill(&writer);
    ASSERT_OK(writer.Finish());
  }
  // Makes a file of the keys [begin, end) with this value and returns its path.
  std::string File(const std::string& path, int begin, int end, const std::string& value) {
    MakeFile(path, [&](SstFileWriter* writer) {
      for (int i = begin; i < end; i++) ASSERT_OK(writer->Put(Key(i), value));
    });
    return path;
  }
  Status Ingest(const std::vector<std::string>& files,
                const IngestExternalFileOptions& options = {}) {
    return db_->IngestExternalFile(files, options);
  }

  using DbTest::Delete;
  using DbTest::Put;
  void Put(int i, const std::string& value) { Put(Key(i), value); }
  void Delete(int i) { Delete(Key(i)); }
  // The value, or "-".
  std::string Get(const std::string& key, const Snapshot* snapshot = nullptr, size_t family = 0) {
    const std::string value = DbTest::Get(key, AsOf(snapshot), handles_[family]);
    return value == "(none)" ? "-" : value;
  }
  std::string Get(int i, const Snapshot* snapshot = nullptr) { return Get(Key(i), snapshot); }
  std::string Scan(const Snapshot* snapshot = nullptr, size_t family = 0) {
    return DbTest::Scan(AsOf(snapshot), handles_[family]);
  }
  // The newest table on level 0, the first one of another level.
  SstFileMetaData FileOn(int level) {
    ColumnFamilyMetaData facts;
    db_->GetColumnFamilyMetaData(&facts);
    return facts.levels[static_cast<size_t>(level)].files.front();
  }
  void CheckWhole() { EXPECT_OK(db_->VerifyChecksum()); }
};

}  // namespace ashlar
