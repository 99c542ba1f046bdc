// SPDX-License-Identifier: Apache-2.0
//
// Copies of single files: bytes, sizes, checksums, temperatures, what stops them.
#include "db/utilities/copy/file_copier.h"

#include <gtest/gtest.h>

#include "db/utilities/copy/flat_directory.h"
#include "env/fault/fault_file_system.h"
#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"
#include "util/hash/crc32c.h"

namespace ashlar {
namespace {

class FileCopierTest : public testing::Test {
 protected:
  FileCopierTest() {
    for (int i = 0; i < 10000; i++) text_.push_back(static_cast<char>(i * 7));
    files_->PutFile("/source", text_);
  }
  CopySource Source(uint64_t bytes = UINT64_MAX, bool may_be_longer = false) {
    return {.fs = files_.get(), .path = "/source", .bytes = bytes, .may_be_longer = may_be_longer};
  }
  CopyTarget Target() { return {.fs = files_.get(), .path = "/target"}; }
  std::string Copied() {
    auto text = ReadWholeFile(files_.get(), "/target");
    return text.ok() ? text.Take() : text.status().ToString();
  }

  const std::shared_ptr<MemoryFileSystem> files_ = std::make_shared<MemoryFileSystem>();
  std::string text_;
};

TEST_F(FileCopierTest, CopiesInPiecesOfAnySize) {
  for (const uint64_t buffer : {0, 1, 999, 1000, 10000, 10001}) {
    const FileCopier copier({.buffer_bytes = buffer});
    auto copied = copier.Copy(Source(text_.size()), Target());
    ASSERT_OK(copied);
    EXPECT_EQ(copied->bytes, text_.size());
    EXPECT_EQ(copied->crc, crc32c::Value(text_.data(), text_.size()));
    EXPECT_EQ(Copied(), text_);
    auto read = copier.Read(Source());
    ASSERT_OK(read);
    EXPECT_EQ(read->crc, copied->crc);
  }
}

TEST_F(FileCopierTest, OnlyAFileThatMayBeLongerIsCut) {
  const FileCopier copier({.buffer_bytes = 100});
  auto copied = copier.Copy(Source(250, /*may_be_longer=*/true), Target());
  ASSERT_OK(copied);
  EXPECT_EQ(Copied(), text_.substr(0, 250));
  EXPECT_EQ(copied->crc, crc32c::Value(text_.data(), 250));
  EXPECT_EQ(copier.Copy(Source(250), Target()).status().ToString(),
            "Corruption: /source: expected 250 bytes, found more than 250");
  EXPECT_EQ(copier.Copy(Source(10001), Target()).status().ToString(),
            "Corruption: /source: expected 10001 bytes, found 10000");
  EXPECT_TRUE(copier.Copy(Source(10001, /*may_be_longer=*/true), Target()).status().IsCorruption());
}

TEST_F(FileCopierTest, EmptyFilesAreFiles) {
  files_->PutFile("/source", "");
  const FileCopier copier({});
  ASSERT_OK(copier.Copy(Source(0), Target()));
  EXPECT_EQ(Copied(), "");
  ASSERT_OK(copier.Write("", Target()));
}

TEST_F(FileCopierTest, ATailIsOfTheCopyAlone) {
  CopySource source = Source(10, /*may_be_longer=*/true);
  source.tail = "tail";
  auto copied = FileCopier({}).Copy(source, Target());
  ASSERT_OK(copied);
  const std::string expected = text_.substr(0, 10) + "tail";
  EXPECT_EQ(Copied(), expected);
  EXPECT_EQ(copied->bytes, expected.size());
  EXPECT_EQ(copied->crc, crc32c::Value(expected.data(), expected.size()));
}

TEST_F(FileCopierTest, ContentsAreSyncedIfWanted) {
  for (const bool sync : {true, false}) {
    FaultFileSystem watched(files_);
    CopyTarget target{.fs = &watched, .path = "/target"};
    const FileCopier copier({.sync = sync});
    ASSERT_OK(copier.Copy(Source(), target));
    ASSERT_OK(copier.Write("text", target));
    EXPECT_EQ(watched.Stats().calls[static_cast<size_t>(CallKind::kSync)], sync ? 2u : 0u);
  }
}

TEST_F(FileCopierTest, MissingFilesAndFailingCallsAreTold) {
  const FileCopier copier({});
  CopySource missing = Source();
  missing.path = "/missing";
  EXPECT_TRUE(IsMissing(copier.Copy(missing, Target()).status()));
  const auto faulty = std::make_shared<FaultFileSystem>(files_);
  CopySource source = Source(text_.size());
  source.fs = faulty.get();
  const CopyTarget target{.fs = faulty.get(), .path = "/target"};
  ASSERT_OK(copier.Copy(source, target));
  const uint64_t calls = faulty->CallCount();
  for (uint64_t i = 0; i < calls; i++) {
    const auto again = std::make_shared<FaultFileSystem>(files_);
    again->FailAt(i, FaultError::kIO);
    source.fs = again.get();
    EXPECT_TRUE(copier.Copy(source, {.fs = again.get(), .path = "/target"}).status().IsIOError())
        << i;
  }
}

// A file that knows where it lies.
class WarmFile final : public FSSequentialFileOwnerWrapper {
 public:
  using FSSequentialFileOwnerWrapper::FSSequentialFileOwnerWrapper;
  Temperature GetTemperature() const override { return Temperature::kWarm; }
};
class WarmFileSystem final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "WarmFileSystem"; }
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* file,
                             IODebugContext* dbg) override {
    asked_with = options.temperature;
    const IOStatus status = target()->NewSequentialFile(path, options, file, dbg);
    if (status.ok()) *file = std::make_unique<WarmFile>(std::move(*file));
    return status;
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    made_with = options.temperature;
    return target()->NewWritableFile(path, options, file, dbg);
  }
  Temperature asked_with = Temperature::kUnknown;
  Temperature made_with = Temperature::kUnknown;
};

TEST_F(FileCopierTest, OfTwoTemperaturesTheOneThatIsPreferredCounts) {
  WarmFileSystem fs(files_);
  const FileCopier copier({});
  const auto copy = [&](Temperature given, bool prefers_reported) {
    CopySource source = Source();
    source.fs = &fs;
    source.temperature = given;
    source.prefers_reported_temperature = prefers_reported;
    auto copied = copier.Copy(source, {.fs = &fs, .path = "/target"});
    EXPECT_OK(copied);
    EXPECT_EQ(fs.asked_with, given);
    EXPECT_EQ(fs.made_with, copied->temperature);
    return copied->temperature;
  };
  EXPECT_EQ(copy(Temperature::kCold, false), Temperature::kCold);
  EXPECT_EQ(copy(Temperature::kCold, true), Temperature::kWarm);
  EXPECT_EQ(copy(Temperature::kUnknown, false), Temperature::kWarm);
}

TEST_F(FileCopierTest, StoppedCopiesAreIncomplete) {
  std::atomic<bool> is_stopped{true};
  const FileCopier copier({.is_stopped = &is_stopped});
  EXPECT_TRUE(copier.Copy(Source(), Target()).status().IsIncomplete());
  EXPECT_TRUE(copier.Read(Source()).status().IsIncomplete());
  EXPECT_TRUE(copier.Write("text", Target()).status().IsIncomplete());
  EXPECT_TRUE(files_->FileExists("/target", IOOptions(), nullptr).IsNotFound());
}

TEST(FlatDirectory, IsDeletedWithItsFiles) {
  MemoryFileSystem fs;
  ASSERT_OK(DeleteFlatDirectory(&fs, "/d"));
  fs.PutFile("/d/a", "1");
  fs.PutFile("/d/b", "2");
  ASSERT_OK(DeleteFlatDirectory(&fs, "/d"));
  EXPECT_TRUE(fs.AllFiles().empty());
  EXPECT_TRUE(fs.FileExists("/d", IOOptions(), nullptr).IsNotFound());
}

TEST(FlatDirectory, IsTheSameUnderEachSpelling) {
  MemoryFileSystem fs, other;
  fs.PutFile("/d/a", "1");
  EXPECT_TRUE(IsSameDirectory(&fs, "/d", &fs, "/d/"));
  EXPECT_TRUE(IsSameDirectory(&fs, "/d", &fs, "//d"));
  EXPECT_FALSE(IsSameDirectory(&fs, "/d", &fs, "/e"));
  EXPECT_FALSE(IsSameDirectory(&fs, "/d", &other, "/d"));
}

}  // namespace
}  // namespace ashlar
