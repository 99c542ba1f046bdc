// SPDX-License-Identifier: Apache-2.0
//
// What is kept although nobody needs it now: logs that the archive cannot take, and tables that
// nobody can explain and nobody can read either.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system_wrapper.h"
#include "env/fault/fault_file_system.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/opened_db.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

const uint64_t kReads =
    KindBit(CallKind::kOpenRead) | KindBit(CallKind::kRead) | KindBit(CallKind::kQuery);

class ObsoleteFilesTest : public testing::Test {
 protected:
  ObsoleteFilesTest() { options_.create_if_missing = true; }

  // A database without writes, and beside it a table with some and a blob file.
  void MakeUnexplainedTable() {
    const std::unique_ptr<Env> env = NewCompositeEnv(memory_);
    options_.env = env.get();
    OpenedDb opened;
    ASSERT_OK(opened.Open(options_, "/db"));
    ASSERT_OK(opened.Close());
    // RocksDB 7.8 does not write how new a table is: its entries are read.
    memory_->PutFile(table_, LoadSampleTable("v78_nofilter_fv5").bytes);
    memory_->PutFile(blobs_, "values");
  }
  bool Exists(const std::string& path) { return memory_->AllFiles().contains(path); }

  const std::string table_ = "/db/000900.sst", blobs_ = "/db/000901.blob";
  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  Options options_;
};

TEST_F(ObsoleteFilesTest, ATableThatCannotBeReadNowIsLeftForTheNextOpen) {
  for (const CallKind kind : {CallKind::kOpenRead, CallKind::kRead}) {
    MakeUnexplainedTable();
    const auto fault = std::make_shared<FaultFileSystem>(memory_);
    const std::unique_ptr<Env> env = NewCompositeEnv(fault);
    options_.env = env.get();
    fault->AddFault(
        {.mode = FaultMode::kSticky, .kinds = KindBit(kind), .path_part = "000900.sst"});
    OpenedDb opened;
    ASSERT_OK(opened.Open(options_, "/db"));
    std::string report;
    ASSERT_TRUE(opened.db()->GetProperty("ashlar.recovery-report", &report));
    EXPECT_NE(report.find(table_ + ": not in the MANIFEST, and cannot be"), std::string::npos)
        << report;
    ASSERT_OK(opened.Close());
    EXPECT_TRUE(Exists(table_) && Exists(blobs_)) << NameOf(kind);
    fault->ClearFaults();
    ASSERT_OK(opened.Open(options_, "/db"));
    ASSERT_OK(opened.Close());
    EXPECT_TRUE(Exists(table_ + ".orphan") && Exists(blobs_ + ".orphan")) << NameOf(kind);
    EXPECT_FALSE(Exists(table_) || Exists(blobs_)) << NameOf(kind);
  }
}

// Wherever in the table that is.
TEST_F(ObsoleteFilesTest, NoFailedReadDeletesATable) {
  MakeUnexplainedTable();
  int left_count = 0;
  for (uint64_t n = 0;; n++) {
    const auto copy = std::make_shared<MemoryFileSystem>();
    for (const auto& [path, bytes] : memory_->AllFiles()) copy->PutFile(path, bytes);
    const auto fault = std::make_shared<FaultFileSystem>(copy);
    const std::unique_ptr<Env> env = NewCompositeEnv(fault);
    options_.env = env.get();
    fault->AddFault({.first_call = n, .kinds = kReads, .path_part = "000900.sst"});
    OpenedDb opened;
    ASSERT_OK(opened.Open(options_, "/db"));
    ASSERT_OK(opened.Close());
    const auto files = copy->AllFiles();
    ASSERT_TRUE(files.contains(table_) || files.contains(table_ + ".orphan")) << n;
    left_count += files.contains(table_);
    if (fault->Stats().TotalInjected() == 0) break;
  }
  EXPECT_GT(left_count, 0);
}

// Refuses to move logs to the archive.
class NoArchiveFs final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "NoArchiveFs"; }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    if (is_refusing && to.find("/archive/") != std::string::npos) return IOStatus::IOError("full");
    return FileSystemWrapper::RenameFile(from, to, options, dbg);
  }
  bool is_refusing = true;
};

TEST_F(ObsoleteFilesTest, ALogThatTheArchiveCannotTakeStays) {
  const auto fs = std::make_shared<NoArchiveFs>(memory_);
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  options_.env = env.get();
  options_.WAL_ttl_seconds = 3600;
  OpenedDb opened;
  ASSERT_OK(opened.Open(options_, "/db"));
  ASSERT_OK(opened.db()->Put(WriteOptions(), "a", "value"));
  VectorWalPtr logs;
  ASSERT_OK(opened.db()->GetSortedWalFiles(logs));
  ASSERT_EQ(logs.size(), 1u);
  const std::string name = logs[0]->PathName();
  ASSERT_OK(opened.db()->Flush(FlushOptions()));
  ASSERT_OK(opened.db()->WaitForCompact(WaitForCompactOptions()));
  EXPECT_TRUE(Exists("/db" + name)) << name;
  EXPECT_NE(memory_->AllFiles()["/db/LOG"].find("cannot move /db" + name), std::string::npos);
  ASSERT_OK(opened.Close());
  fs->is_refusing = false;
  ASSERT_OK(opened.Open(options_, "/db"));
  EXPECT_TRUE(Exists("/db/archive" + name));
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(opened.db()->GetUpdatesSince(1, &updates));
  EXPECT_TRUE(updates->Valid());
  updates.reset();
  ASSERT_OK(opened.Close());
}

}  // namespace
}  // namespace ashlar
