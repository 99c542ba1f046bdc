// SPDX-License-Identifier: Apache-2.0
//
// A database on files in memory, and tables to put into it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "ashlar/sst_file_writer.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

class IngestTest : public testing::Test {
 protected:
  IngestTest() { SetUpOptions(); }
  ~IngestTest() override { Close(); }

  void SetUpOptions() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.create_missing_column_families = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator));
  }
  void Open(const std::vector<std::string>& families = {kDefaultColumnFamilyName}) {
    names_ = families;
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : names_) descriptors.emplace_back(name, options_);
    ASSERT_OK(DB::Open(options_, "/db", descriptors, &handles_, &db_));
  }
  void Close() {
    for (ColumnFamilyHandle* handle : handles_) EXPECT_OK(db_->DestroyColumnFamilyHandle(handle));
    handles_.clear();
    db_.reset();
  }
  void Reopen() {
    Close();
    Open(names_);
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
  // Keys [begin, end) with this value.
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

  void Put(int i, const std::string& value) { ASSERT_OK(db_->Put(WriteOptions(), Key(i), value)); }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  std::string Get(const std::string& key, const Snapshot* snapshot = nullptr, size_t family = 0) {
    ReadOptions read;
    read.snapshot = snapshot;
    std::string value;
    const Status status = db_->Get(read, handles_[family], key, &value);
    return status.ok() ? value : status.IsNotFound() ? "-" : status.ToString();
  }
  std::string Get(int i, const Snapshot* snapshot = nullptr) { return Get(Key(i), snapshot); }
  std::string Scan(const Snapshot* snapshot = nullptr, size_t family = 0) {
    ReadOptions read;
    read.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read, handles_[family]));
    std::string text;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      text += (text.empty() ? "" : " ") + it->key().ToString() + "=" + it->value().ToString();
    }
    EXPECT_OK(it->status());
    return text;
  }
  // Numbers of files by level, "1,0,2".
  std::string Levels(size_t family = 0) {
    ColumnFamilyMetaData facts;
    db_->GetColumnFamilyMetaData(handles_[family], &facts);
    std::string text;
    for (const LevelMetaData& level : facts.levels) {
      text += (text.empty() ? "" : ",") + std::to_string(level.files.size());
    }
    return text;
  }
  // Of the newest file of a level.
  SstFileMetaData FileOn(int level) {
    ColumnFamilyMetaData facts;
    db_->GetColumnFamilyMetaData(handles_[0], &facts);
    return facts.levels[static_cast<size_t>(level)].files.front();
  }
  int TableFilesOnDisk() {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren("/db", &names));
    return static_cast<int>(std::count_if(names.begin(), names.end(), [](const std::string& name) {
      return name.size() > 4 && name.substr(name.size() - 4) == ".sst";
    }));
  }
  void CheckWhole() { EXPECT_OK(db_->VerifyChecksum()); }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::vector<std::string> names_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::unique_ptr<DB> db_;
};

}  // namespace ashlar
