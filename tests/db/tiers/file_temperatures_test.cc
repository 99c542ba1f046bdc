// SPDX-License-Identifier: Apache-2.0
//
// metadata_write_temperature and wal_write_temperature: the file system is told the tier of storage
// when the MANIFEST and similar files, and logs, are created.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "ashlar/file_system_wrapper.h"
#include "env/filename.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// Remembers with which temperatures the files of each kind were created.
class CreatedFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "CreatedFiles"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    Note(path, options);
    return FileSystemWrapper::NewWritableFile(path, options, file, dbg);
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* file,
                             IODebugContext* dbg) override {
    Note(path, options);
    return FileSystemWrapper::ReuseWritableFile(path, old, options, file, dbg);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto was = by_path_.find(from);
    if (was != by_path_.end()) NoteKind(to, was->second);
    return FileSystemWrapper::RenameFile(from, to, options, dbg);
  }
  std::set<Temperature> Of(FileType type) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return by_kind_[type];
  }

 private:
  void Note(const std::string& path, const FileOptions& options) {
    const std::lock_guard<std::mutex> lock(mutex_);
    by_path_[path] = options.temperature;
    NoteKind(path, options.temperature);
  }
  void NoteKind(const std::string& path, Temperature temperature) {
    FileNumber number;
    FileType type;
    if (ParseFileName(BaseNameOf(path), &number, &type)) by_kind_[type].insert(temperature);
  }

  std::mutex mutex_;
  std::map<std::string, Temperature> by_path_;
  std::map<FileType, std::set<Temperature>> by_kind_;
};

class FileTemperaturesTest : public DbTest {
 protected:
  FileTemperaturesTest() { UseFiles(files_); }
  // Creates, fills and opens again.
  void Use() {
    Open();
    Put("a", "1");
    Flush();
    Put("b", "1");
    CreateFamily("other");
    Close();
    OpenAll();
    Put("c", "1");
    Close();
  }
  using Set = std::set<Temperature>;

  const std::shared_ptr<CreatedFiles> files_ = std::make_shared<CreatedFiles>(memory_);
};

TEST_F(FileTemperaturesTest, TheFileSystemIsToldTheTierOfEachKind) {
  options_.metadata_write_temperature = Temperature::kHot;
  options_.wal_write_temperature = Temperature::kWarm;
  Use();
  EXPECT_EQ(files_->Of(kWalFile), Set{Temperature::kWarm});
  EXPECT_EQ(files_->Of(kDescriptorFile), Set{Temperature::kHot});
  EXPECT_EQ(files_->Of(kCurrentFile), Set{Temperature::kHot});
  EXPECT_EQ(files_->Of(kOptionsFile), Set{Temperature::kHot});
  EXPECT_EQ(files_->Of(kIdentityFile), Set{Temperature::kHot});
  EXPECT_EQ(files_->Of(kTableFile), Set{Temperature::kUnknown});
}

TEST_F(FileTemperaturesTest, ARecycledLogHasTheTierToo) {
  options_.wal_write_temperature = Temperature::kCold;
  options_.recycle_log_file_num = 2;
  Open();
  for (int i = 0; i < 6; i++) {
    Put("k", std::string(100, 'v'));
    Flush();
  }
  Close();
  EXPECT_EQ(files_->Of(kWalFile), Set{Temperature::kCold});
  EXPECT_EQ(files_->Of(kDescriptorFile), Set{Temperature::kUnknown});
}

TEST_F(FileTemperaturesTest, WithoutOptionsNoTierIsNamed) {
  Use();
  for (const FileType type :
       {kWalFile, kDescriptorFile, kCurrentFile, kOptionsFile, kIdentityFile, kTableFile}) {
    EXPECT_EQ(files_->Of(type), Set{Temperature::kUnknown}) << type;
  }
}

}  // namespace
}  // namespace ashlar
