// SPDX-License-Identifier: Apache-2.0
//
// A compaction in parts: what one of them meets is what the whole meets.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system_wrapper.h"
#include "ashlar/statistics.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr char kPoison[] = "poison";

// While armed, a table that holds the poison cannot be written.
class PoisonedFile final : public FSWritableFileOwnerWrapper {
 public:
  PoisonedFile(std::unique_ptr<FSWritableFile> file, const std::atomic<bool>* is_armed)
      : FSWritableFileOwnerWrapper(std::move(file)), is_armed_(is_armed) {}
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    if (*is_armed_ && data.ToString().find(kPoison) != std::string::npos) {
      return IOStatus::IOError("the poison");
    }
    return FSWritableFileOwnerWrapper::Append(data, options, dbg);
  }

 private:
  const std::atomic<bool>* const is_armed_;
};

class PoisonedFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "PoisonedFiles"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, dbg);
    if (status.ok() && path.ends_with(".sst")) {
      *file = std::make_unique<PoisonedFile>(std::move(*file), &is_armed);
    }
    return status;
  }
  std::atomic<bool> is_armed{false};
};

// Three tables that begin at different keys, so that the job has three parts; the poison is in the
// last of them.
TEST(Subcompactions, AnErrorInAnyPartIsTheJobsError) {
  const std::unique_ptr<Env> memory(NewMemEnv(Env::Default()));
  const auto files = std::make_shared<PoisonedFiles>(memory->GetFileSystem());
  const std::unique_ptr<Env> env(NewCompositeEnv(files));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.disable_auto_compactions = true;
  options.max_subcompactions = 3;
  options.target_file_size_base = 4096;  // a part has as much at least
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  for (const std::string range : {"am", "ft", "pz"}) {
    for (char key = range[0]; key <= range[1]; key++) {
      ASSERT_OK(db->Put(WriteOptions(), std::string(1, key), std::string(1000, 'v')));
    }
    if (range == "pz") {
      ASSERT_OK(db->Put(WriteOptions(), "zz", kPoison));
    }
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  files->is_armed = true;
  EXPECT_TRUE(db->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsIOError());
  files->is_armed = false;
  std::string value;
  EXPECT_OK(db->Get(ReadOptions(), "zz", &value));
  EXPECT_EQ(value, kPoison);
  db.reset();
  env->WaitForJoin();
}

// One table is cut within, where its index says.
TEST(Subcompactions, PartsMayEndWithinATable) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.disable_auto_compactions = true;
  options.max_subcompactions = 4;
  options.target_file_size_base = 32 << 10;
  options.statistics = CreateDBStatistics();
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  for (int i = 0; i < 2000; i++) {
    ASSERT_OK(db->Put(WriteOptions(), std::to_string(10000 + i), std::string(100, 'v')));
  }
  ASSERT_OK(db->Flush(FlushOptions()));
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db->CompactRange(force, nullptr, nullptr));
  HistogramData parts;
  options.statistics->histogramData(NUM_SUBCOMPACTIONS_SCHEDULED, &parts);
  EXPECT_EQ(parts.max, 4);
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  int found = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    EXPECT_EQ(it->key(), std::to_string(10000 + found++));
  }
  EXPECT_OK(it->status());
  EXPECT_EQ(found, 2000);
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  EXPECT_LE(files.size(), 10u) << "no more tables than the target size asks for, or little";
}

}  // namespace
}  // namespace ashlar
