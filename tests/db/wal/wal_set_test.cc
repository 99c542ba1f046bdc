// SPDX-License-Identifier: Apache-2.0
//
// The files of the set of logs. What it does with records is tested through the database.
#include "db/wal/wal_set.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system_wrapper.h"
#include "db/wal/log_reader.h"
#include "env/filename.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class WalSetTest : public testing::Test {
 protected:
  WalSetTest() {
    sim_->OfferMappedLogs(true);
    EXPECT_OK(sim_->CreateDirIfMissing("/logs", IOOptions(), nullptr));
    WalSetOptions options;
    options.log.fs = sim_.get();
    options.wal_dir = "/logs";
    set_.Configure(options);
  }
  std::vector<std::string> Files() {
    std::vector<std::string> names;
    EXPECT_OK(sim_->GetChildren("/logs", IOOptions(), &names, nullptr));
    return names;
  }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  WalSet set_;
};

// The file is created, and then there is no space for its first part.
TEST_F(WalSetTest, ALogThatGetsNoSpaceLeavesNoFile) {
  sim_->SetByteQuota(0);
  for (const uint64_t number : {uint64_t{7}, uint64_t{8}, uint64_t{9}}) {
    const auto log = set_.Create(FileNumber{number});
    EXPECT_TRUE(log.status().IsNoSpace()) << log.status().ToString();
    const auto ahead = set_.CreateAhead(FileNumber{100 + number});
    EXPECT_TRUE(ahead.status().IsNoSpace()) << ahead.status().ToString();
  }
  EXPECT_EQ(Files(), std::vector<std::string>());
  sim_->SetByteQuota(uint64_t{1} << 40);
  const auto log = set_.Create(10);
  EXPECT_OK(log);
  EXPECT_EQ(Files(), std::vector<std::string>{"000010.log"});
}

// Makes a function run at the first append to a log, once.
class AppendWatch final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "AppendWatch"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    const IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, dbg);
    if (status.ok()) *file = std::make_unique<File>(this, std::move(*file));
    return status;
  }
  std::function<void()> at_append;

 private:
  class File final : public FSWritableFileOwnerWrapper {
   public:
    File(AppendWatch* watch, std::unique_ptr<FSWritableFile> file)
        : FSWritableFileOwnerWrapper(std::move(file)), watch_(watch) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
      if (watch_->at_append) std::exchange(watch_->at_append, nullptr)();
      return FSWritableFileOwnerWrapper::Append(data, options, dbg);
    }

   private:
    AppendWatch* const watch_;
  };
};

// A family with timestamps is created while the next log is installed: after its first records were
// chosen, and after the end of the log before it was. The log before it is written to its end then.
TEST(WalSetSizes, ASizeThatIsAddedDuringAnInstallationIsInTheNextLogOnly) {
  const std::shared_ptr<SimFS> sim = SimFS::Create();
  AppendWatch watch(sim);
  ASSERT_OK(sim->CreateDirIfMissing("/logs", IOOptions(), nullptr));
  WalSetOptions options;
  options.log.fs = &watch;
  options.wal_dir = "/logs";
  WalSet set;
  set.Configure(options);
  auto first = set.Create(7);
  ASSERT_OK(first);
  ASSERT_OK(set.Install(first.Take(), 1));
  set.AddTimestampSize({.column_family = 1, .bytes = 8});
  watch.at_append = [&set] { set.AddTimestampSize({.column_family = 2, .bytes = 8}); };
  auto next = set.Create(8);
  ASSERT_OK(next);
  ASSERT_OK(set.Install(next.Take(), 1));
  ASSERT_FALSE(static_cast<bool>(watch.at_append)) << "the size was not added";
  EXPECT_FALSE(set.current_has_records());
  ASSERT_OK(set.Close());
  const auto families_of = [&sim](FileNumber number) {
    std::string contents;
    EXPECT_OK(ReadFileToString(sim.get(), LogFileName("/logs", number), &contents));
    LogReader::Options read;
    read.log_number = number;
    read.is_wal = true;
    LogReader reader(NewMemoryLogSource(contents, "log"), read, nullptr);
    for (Slice record; reader.ReadRecord(&record);) continue;
    EXPECT_OK(reader.status());
    std::vector<uint32_t> families;
    for (const TimestampSize& size : reader.timestamp_sizes()) {
      families.push_back(size.column_family);
    }
    return families;
  };
  EXPECT_EQ(families_of(7), std::vector<uint32_t>{1});
  EXPECT_EQ(families_of(8), (std::vector<uint32_t>{1, 2}));
}

}  // namespace
}  // namespace ashlar
