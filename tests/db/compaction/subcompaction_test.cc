// SPDX-License-Identifier: Apache-2.0
//
// Subcompactions: an error of one is the error of the compaction, and they may cut a table.
#include <atomic>
#include <utility>

#include "ashlar/file_system_wrapper.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr char kPoison[] = "poison";

// While armed, writing a table with the poison fails.
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
// last one.
TEST(Subcompactions, AnErrorInAnyPartIsTheJobsError) {
  TestDb test;
  const auto files = std::make_shared<PoisonedFiles>(test.env()->GetFileSystem());
  test.UseFiles(files);
  test.options().compression = kNoCompression;
  test.options().disable_auto_compactions = true;
  test.options().max_subcompactions = 3;
  test.options().target_file_size_base = 4096;  // the least size of a part
  test.Open();
  for (const std::string range : {"am", "ft", "pz"}) {
    for (char key = range[0]; key <= range[1]; key++) {
      test.Put(std::string(1, key), std::string(1000, 'v'));
    }
    if (range == "pz") test.Put("zz", kPoison);
    test.Flush();
  }
  files->is_armed = true;
  EXPECT_TRUE(test.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsIOError());
  files->is_armed = false;
  EXPECT_EQ(test.Get("zz"), kPoison);
  test.Close();
  test.env()->WaitForJoin();
}

// The index of a table gives the keys where parts may end within it.
TEST(Subcompactions, PartsMayEndWithinATable) {
  TestDb test;
  test.options().compression = kNoCompression;
  test.options().disable_auto_compactions = true;
  test.options().max_subcompactions = 4;
  test.options().target_file_size_base = 32 << 10;
  test.options().statistics = CreateDBStatistics();
  test.Open();
  test.Fill(2000);
  test.Flush();
  test.CompactAndRewrite();
  HistogramData parts;
  test.options().statistics->histogramData(NUM_SUBCOMPACTIONS_SCHEDULED, &parts);
  EXPECT_EQ(parts.max, 4);
  const std::unique_ptr<Iterator> it(test.db()->NewIterator(ReadOptions()));
  int found = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) EXPECT_EQ(it->key(), TestDb::Key(found++));
  EXPECT_OK(it->status());
  EXPECT_EQ(found, 2000);
  EXPECT_LE(test.Tables().size(), 10u) << "hardly more tables than the target size needs";
}

}  // namespace
}  // namespace ashlar
