// SPDX-License-Identifier: Apache-2.0
//
// experimental::UpdateManifestForFilesState() with a file system that has moved tables.
#include <map>
#include <memory>
#include <string>

#include "ashlar/experimental.h"
#include "ashlar/utilities/checkpoint.h"
#include "env/env_adaptors.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class TieredFile final : public FSSequentialFileOwnerWrapper {
 public:
  TieredFile(std::unique_ptr<FSSequentialFile> target, Temperature temperature)
      : FSSequentialFileOwnerWrapper(std::move(target)), temperature_(temperature) {}
  Temperature GetTemperature() const override { return temperature_; }

 private:
  const Temperature temperature_;
};

// Knows the temperatures of some files.
class TieredFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "TieredFiles"; }
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* file,
                             IODebugContext* dbg) override {
    const IOStatus status = FileSystemWrapper::NewSequentialFile(path, options, file, dbg);
    const auto known = temperatures.find(path);
    if (status.ok() && known != temperatures.end()) {
      *file = std::make_unique<TieredFile>(std::move(*file), known->second);
    }
    return status;
  }

  std::map<std::string, Temperature> temperatures;  // by path
};

class FileTemperaturesTest : public DbTest {
 protected:
  FileTemperaturesTest() {
    options_.disable_auto_compactions = true;
    files_ = std::make_shared<TieredFiles>(memory_);
    UseFiles(files_);
  }
  Status Update(const std::vector<std::string>& families = {"default", "f"}) {
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : families) descriptors.emplace_back(name, options_);
    return experimental::UpdateManifestForFilesState(options_, dir_, descriptors);
  }
  // By name, as the database knows them.
  std::map<std::string, Temperature> Known() {
    std::map<std::string, Temperature> known;
    for (const LiveFileMetaData& table : Tables()) known[dir_ + table.name] = table.temperature;
    return known;
  }

  std::shared_ptr<TieredFiles> files_;
};

TEST_F(FileTemperaturesTest, TheManifestHasWhatTheFileSystemSays) {
  Open({"default", "f"});
  Put("a");
  Flush();
  Put(handles_[1], "b", "1");
  Flush(handles_[1]);
  Put("c");
  Flush();
  std::map<std::string, Temperature> expected = Known();
  ASSERT_EQ(expected.size(), 3u);
  const Contents before = ReadAll();
  Close();
  expected.begin()->second = Temperature::kCold;
  std::next(expected.begin())->second = Temperature::kWarm;
  files_->temperatures = expected;
  ASSERT_OK(Update());
  OpenAll();
  EXPECT_EQ(Known(), expected);
  EXPECT_EQ(ReadAll(), before);
  // Moved again; of the third one the file system knows nothing any more.
  Close();
  files_->temperatures.begin()->second = expected.begin()->second = Temperature::kHot;
  files_->temperatures.erase(std::next(files_->temperatures.begin()));
  ASSERT_OK(Update());
  OpenAll();
  EXPECT_EQ(Known(), expected);
  EXPECT_EQ(ReadAll(), before);
}

// The MANIFEST of a checkpoint still has the path ids of the original.
TEST_F(FileTemperaturesTest, ACheckpointHasAllTablesInOneDirectory) {
  options_.db_paths = {{"/first", 1}, {"/second", 1 << 30}};
  Open({"default", "f"});
  Put("a");
  Flush();
  CompactRangeOptions to_second;
  to_second.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  to_second.target_path_id = 1;
  ASSERT_OK(db_->CompactRange(to_second, nullptr, nullptr));
  ASSERT_EQ(Tables().size(), 1u);
  ASSERT_EQ(Tables()[0].db_path, "/second");
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint("/copy"));
  files_->temperatures["/copy" + Tables()[0].name] = Temperature::kCold;
  Close();
  dir_ = "/copy";
  options_.db_paths.clear();
  ASSERT_OK(Update());
  OpenAll();
  EXPECT_EQ(Known(), files_->temperatures);
}

TEST_F(FileTemperaturesTest, WithoutChangesNothingIsWritten) {
  Open({"default", "f"});
  Put("a");
  Flush();
  Close();
  const auto before = memory_->AllFiles();
  ASSERT_OK(Update());
  EXPECT_EQ(memory_->AllFiles(), before);
  EXPECT_TRUE(Update({"default"}).IsInvalidArgument());
}

TEST_F(FileTemperaturesTest, AnOpenDatabaseIsRefused) {
  Open({"default", "f"});
  EXPECT_FALSE(Update().ok());
}

}  // namespace
}  // namespace ashlar
