// SPDX-License-Identifier: Apache-2.0
//
// Listeners that request it are notified of every operation on files of a database: which, where,
// how much, and the result. If no listener requests it, there is no wrapper and no cost.
#include "env/listened_file_system.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "env/fault/fault_file_system.h"
#include "env/file_util.h"
#include "env/mapped_file.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class Hears final : public EventListener {
 public:
  explicit Hears(bool asks) : asks_(asks) {}
  bool ShouldBeNotifiedOnFileIO() override { return asks_; }
  void OnFileReadFinish(const FileOperationInfo& i) override { Note("read", i); }
  void OnFileWriteFinish(const FileOperationInfo& i) override { Note("write", i); }
  void OnFileFlushFinish(const FileOperationInfo& i) override { Note("flush", i); }
  void OnFileSyncFinish(const FileOperationInfo& i) override { Note("sync", i); }
  void OnFileRangeSyncFinish(const FileOperationInfo& i) override { Note("range sync", i); }
  void OnFileTruncateFinish(const FileOperationInfo& i) override { Note("truncate", i); }
  void OnFileCloseFinish(const FileOperationInfo& i) override { Note("close", i); }
  void OnIOError(const IOErrorInfo& i) override {
    EXPECT_FALSE(i.io_status.ok());
    notes.push_back(StrCat("error ", static_cast<int>(i.operation), " ", i.file_path, " ", i.offset,
                           "+", i.length));
    if (throws) throw std::runtime_error("listener");
  }

  std::vector<std::string> Take() { return std::exchange(notes, {}); }

  std::vector<std::string> notes;
  bool throws = false;

 private:
  void Note(const char* what, const FileOperationInfo& info) {
    EXPECT_GE(info.duration.count(), 0);
    EXPECT_GT(info.start_ts.time_since_epoch().count(), 0);
    notes.push_back(StrCat(what, static_cast<int>(info.type), " ", info.path, " ", info.offset, "+",
                           info.length, info.status.ok() ? "" : " failed"));
    info.status.PermitUncheckedError();
    if (throws) throw std::runtime_error("listener");
  }

  const bool asks_;
};

std::string Type(FileOperationType type) { return std::to_string(static_cast<int>(type)); }

using Notes = std::vector<std::string>;
constexpr char kTable[] = "/db/000007.sst";

class ListenedFileSystemTest : public testing::Test {
 protected:
  ListenedFileSystemTest() { EXPECT_OK(fs_->CreateDir("/db", {}, nullptr)); }

  std::unique_ptr<FSWritableFile> Create(const std::string& path) {
    std::unique_ptr<FSWritableFile> file;
    EXPECT_OK(fs_->NewWritableFile(path, FileOptions(), &file, nullptr));
    return file;
  }
  // Writes ten bytes.
  void Write(const std::string& path) {
    const auto file = Create(path);
    ASSERT_OK(file->Append("0123456789", {}, nullptr));
    ASSERT_OK(file->Close({}, nullptr));
    hears_->Take();
  }
  void FailNext(CallKind kind) {
    FaultPlan plan;
    plan.first_call = faults_->CallCount();
    plan.kinds = KindBit(kind);
    faults_->AddFault(plan);
  }

  const std::shared_ptr<FaultFileSystem> faults_ =
      std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  const std::shared_ptr<Hears> hears_ = std::make_shared<Hears>(true);
  const std::shared_ptr<Logger> log_;
  const std::shared_ptr<FileSystem> fs_ =
      WithFileListeners(faults_, {std::make_shared<Hears>(false), hears_}, &log_);
  char scratch_[100];
};

TEST_F(ListenedFileSystemTest, WithoutAListenerThatAsksNothingIsInBetween) {
  const auto deaf = std::make_shared<Hears>(false);
  EXPECT_EQ(WithFileListeners(faults_, {}, &log_), faults_);
  EXPECT_EQ(WithFileListeners(faults_, {deaf, deaf}, &log_), faults_);
  EXPECT_NE(fs_, faults_);
  EXPECT_EQ(MappedLogFactory::Of(fs_.get()), nullptr);
}

TEST_F(ListenedFileSystemTest, WritesAreToldWithTheirPlaces) {
  const auto file = Create(kTable);
  ASSERT_OK(file->Append("abc", {}, nullptr));
  ASSERT_OK(file->Append("defg", {}, DataVerificationInfo(), nullptr));
  ASSERT_OK(file->Flush({}, nullptr));
  ASSERT_OK(file->RangeSync(0, 7, {}, nullptr));
  ASSERT_OK(file->Sync({}, nullptr));
  ASSERT_OK(file->Fsync({}, nullptr));
  ASSERT_OK(file->Truncate(5, {}, nullptr));
  ASSERT_OK(file->Append("x", {}, nullptr));
  ASSERT_OK(file->Close({}, nullptr));
  using enum FileOperationType;
  const std::string at = StrCat(" ", kTable, " ");
  EXPECT_EQ(
      hears_->Take(),
      (Notes{StrCat("write", Type(kWrite), at, "0+3"), StrCat("write", Type(kWrite), at, "3+4"),
             StrCat("flush", Type(kFlush), at, "0+0"),
             StrCat("range sync", Type(kRangeSync), at, "0+7"),
             StrCat("sync", Type(kSync), at, "0+0"), StrCat("sync", Type(kFsync), at, "0+0"),
             StrCat("truncate", Type(kTruncate), at, "0+0"),
             StrCat("write", Type(kWrite), at, "5+1"), StrCat("close", Type(kClose), at, "0+0")}));
}

TEST_F(ListenedFileSystemTest, ReadsAreToldWithWhatTheyFound) {
  Write(kTable);
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_->NewRandomAccessFile(kTable, FileOptions(), &file, nullptr));
  Slice result;
  ASSERT_OK(file->Read(2, 5, {}, &result, scratch_, nullptr));
  EXPECT_EQ(result, "23456");
  ASSERT_OK(file->Read(8, 50, {}, &result, scratch_, nullptr));
  FSReadRequest requests[2];
  for (size_t i = 0; i < 2; i++) {
    requests[i].offset = 4 * i;
    requests[i].len = 3;
    requests[i].scratch = scratch_ + 10 * i;
  }
  ASSERT_OK(file->MultiRead(requests, 2, {}, nullptr));
  bool is_read = false;
  void* handle = nullptr;
  IOHandleDeleter deleter;
  ASSERT_OK(file->ReadAsync(
      requests[1], {}, [&](FSReadRequest& r, void*) { is_read = r.result == "456"; }, nullptr,
      &handle, &deleter, nullptr));
  EXPECT_TRUE(is_read);

  std::unique_ptr<FSSequentialFile> log;
  ASSERT_OK(fs_->NewSequentialFile(kTable, FileOptions(), &log, nullptr));
  ASSERT_OK(log->Read(3, {}, &result, scratch_, nullptr));
  ASSERT_OK(log->Skip(2));
  ASSERT_OK(log->Read(50, {}, &result, scratch_, nullptr));
  const std::string read = StrCat("read", Type(FileOperationType::kRead), " ", kTable, " ");
  EXPECT_EQ(hears_->Take(), (Notes{read + "2+5", read + "8+2", read + "0+3", read + "4+3",
                                   read + "4+3", read + "0+3", read + "5+5"}));
}

TEST_F(ListenedFileSystemTest, WhatFailsIsToldTwice) {
  Write(kTable);
  using enum FileOperationType;
  const std::string at = StrCat(" ", kTable, " ");
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_->NewRandomAccessFile(kTable, FileOptions(), &file, nullptr));
  Slice result;
  FailNext(CallKind::kRead);
  EXPECT_TRUE(file->Read(2, 5, {}, &result, scratch_, nullptr).IsIOError());
  EXPECT_EQ(hears_->Take(), (Notes{StrCat("read", Type(kRead), at, "2+0 failed"),
                                   StrCat("error ", Type(kRead), at, "2+5")}));
  const auto output = Create(kTable);
  FailNext(CallKind::kAppend);
  EXPECT_FALSE(output->Append("abc", {}, nullptr).ok());
  EXPECT_OK(output->Append("de", {}, nullptr));
  FailNext(CallKind::kSync);
  EXPECT_FALSE(output->Sync({}, nullptr).ok());
  EXPECT_EQ(hears_->Take(), (Notes{StrCat("write", Type(kWrite), at, "0+3 failed"),
                                   StrCat("error ", Type(kAppend), at, "0+3"),
                                   StrCat("write", Type(kWrite), at, "0+2"),
                                   StrCat("sync", Type(kSync), at, "0+0 failed"),
                                   StrCat("error ", Type(kSync), at, "0+0")}));
}

TEST_F(ListenedFileSystemTest, OnlyTablesLogsManifestsAndBlobFilesAreTold) {
  for (const char* told : {"/db/000001.log", "/db/MANIFEST-000002", kTable, "/db/000003.blob"}) {
    ASSERT_OK(Create(told)->Append("x", {}, nullptr));
    EXPECT_EQ(hears_->Take().size(), 1u) << told;
  }
  for (const char* other : {"/db/CURRENT", "/db/OPTIONS-000004", "/db/LOG", "/db/000005.dbtmp"}) {
    ASSERT_OK(Create(other)->Append("x", {}, nullptr));
    EXPECT_TRUE(hears_->Take().empty()) << other;
  }
}

TEST_F(ListenedFileSystemTest, WhatAListenerThrowsGoesNoFurther) {
  hears_->throws = true;
  const auto file = Create(kTable);
  EXPECT_OK(file->Append("abc", {}, nullptr));
  FailNext(CallKind::kSync);
  EXPECT_TRUE(file->Sync({}, nullptr).IsIOError());
  EXPECT_EQ(hears_->Take().size(), 3u);
}

}  // namespace
}  // namespace ashlar
