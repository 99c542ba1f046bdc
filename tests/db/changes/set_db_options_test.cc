// SPDX-License-Identifier: Apache-2.0
//
// SetDBOptions(): what it says of the info log and of the MANIFEST is felt.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdarg>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class CountedLines final : public Logger {
 public:
  CountedLines() : Logger(WARN_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*ap*/) override { lines++; }
  std::atomic<int> lines{0};
};

// Knows of the newest MANIFEST how much space it reserves at once.
class ManifestFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "ManifestFiles"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* debug) override {
    const IOStatus status = FileSystemWrapper::NewWritableFile(path, options, result, debug);
    if (status.ok() && path.find("/MANIFEST-") != std::string::npos) {
      reserved = 0;
      *result = std::make_unique<File>(std::move(*result), &reserved);
    }
    return status;
  }

  std::atomic<size_t> reserved{0};

 private:
  class File final : public FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSWritableFile>&& file, std::atomic<size_t>* reserved)
        : FSWritableFileOwnerWrapper(std::move(file)), reserved_(reserved) {}
    void SetPreallocationBlockSize(size_t size) override {
      *reserved_ = size;
      FSWritableFileOwnerWrapper::SetPreallocationBlockSize(size);
    }

   private:
    std::atomic<size_t>* const reserved_;
  };
};

class SetDbOptionsTest : public testing::Test {
 protected:
  SetDbOptionsTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.info_log = log_;
    EXPECT_OK(DB::Open(options_, "/db", &db_));
  }

  // One line at least in the info log, and a record in the MANIFEST.
  void WriteTable() {
    ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  }
  std::string Manifest() {
    std::string current;
    EXPECT_OK(ReadFileToString(env_.get(), "/db/CURRENT", &current));
    return current;
  }

  std::unique_ptr<Env> memory_{NewMemEnv(Env::Default())};
  std::shared_ptr<ManifestFiles> files_ = std::make_shared<ManifestFiles>(memory_->GetFileSystem());
  std::unique_ptr<Env> env_{NewCompositeEnv(files_)};
  std::shared_ptr<CountedLines> log_ = std::make_shared<CountedLines>();
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(SetDbOptionsTest, TheInfoLogHasTheLevelThatIsAskedFor) {
  ASSERT_OK(db_->SetDBOptions({{"info_log_level", "INFO_LEVEL"}}));
  EXPECT_EQ(log_->GetInfoLogLevel(), INFO_LEVEL);
  const int at_first = log_->lines;
  WriteTable();
  EXPECT_GT(log_->lines, at_first);
  ASSERT_OK(db_->SetDBOptions({{"info_log_level", "FATAL_LEVEL"}}));
  const int silent = log_->lines;
  WriteTable();
  EXPECT_EQ(log_->lines, silent);
}

TEST_F(SetDbOptionsTest, TheLevelOfALoggerIsLeftAloneIfNobodyAsks) {
  ASSERT_OK(db_->SetDBOptions({{"bytes_per_sync", "1M"}}));
  EXPECT_EQ(log_->GetInfoLogLevel(), WARN_LEVEL);
}

TEST_F(SetDbOptionsTest, AManifestEndsWhereItIsTold) {
  WriteTable();
  const std::string first = Manifest();
  WriteTable();
  EXPECT_EQ(Manifest(), first);
  ASSERT_OK(db_->SetDBOptions({{"max_manifest_file_size", "1"}}));
  WriteTable();
  const std::string second = Manifest();
  EXPECT_NE(second, first);
  ASSERT_OK(db_->SetDBOptions({{"max_manifest_file_size", "1G"}}));
  WriteTable();
  EXPECT_EQ(Manifest(), second);
  EXPECT_EQ(db_->GetDBOptions().max_manifest_file_size, uint64_t{1} << 30);
}

TEST_F(SetDbOptionsTest, TheNextManifestReservesWhatItIsTold) {
  EXPECT_EQ(files_->reserved, options_.manifest_preallocation_size);
  ASSERT_OK(
      db_->SetDBOptions({{"manifest_preallocation_size", "64k"}, {"max_manifest_file_size", "1"}}));
  EXPECT_EQ(files_->reserved, options_.manifest_preallocation_size);  // it is begun already
  WriteTable();
  EXPECT_EQ(files_->reserved, size_t{64} << 10);
}

}  // namespace
}  // namespace ashlar
