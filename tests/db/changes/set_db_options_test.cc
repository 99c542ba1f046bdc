// SPDX-License-Identifier: Apache-2.0
//
// SetDBOptions(): changes for the info log and the MANIFEST take effect.
#include <atomic>
#include <cstdarg>
#include <utility>

#include "ashlar/file_system.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class CountedLines final : public Logger {
 public:
  CountedLines() : Logger(WARN_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*ap*/) override { lines++; }
  std::atomic<int> lines{0};
};

// Keeps the preallocation size of the newest MANIFEST.
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

class SetDbOptionsTest : public DbTest {
 protected:
  SetDbOptionsTest() {
    UseFiles(files_);
    options_.disable_auto_compactions = true;
    options_.info_log = log_;
    Open();
  }

  // Writes at least one line to the info log and a record to the MANIFEST.
  void WriteTable() {
    Put("key", "value");
    Flush();
    WaitForJobs();
  }
  std::string Manifest() {
    std::string current;
    EXPECT_OK(ReadFileToString(env_.get(), "/db/CURRENT", &current));
    return current;
  }

  std::shared_ptr<ManifestFiles> files_ = std::make_shared<ManifestFiles>(memory_);
  std::shared_ptr<CountedLines> log_ = std::make_shared<CountedLines>();
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
  EXPECT_EQ(files_->reserved,
            options_.manifest_preallocation_size);  // the current one is open already
  WriteTable();
  EXPECT_EQ(files_->reserved, size_t{64} << 10);
}

}  // namespace
}  // namespace ashlar
