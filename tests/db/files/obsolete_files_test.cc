// SPDX-License-Identifier: Apache-2.0
//
// Files that stay although the database does not need them: logs that cannot be moved to the
// archive, and tables that are not in the MANIFEST and cannot be read.
#include "ashlar/file_system_wrapper.h"
#include "env/fault/fault_file_system.h"
#include "tests/support/sample_table.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

const uint64_t kReads =
    KindBit(CallKind::kOpenRead) | KindBit(CallKind::kRead) | KindBit(CallKind::kQuery);

class ObsoleteFilesTest : public DbTest {
 protected:
  // A database without writes, and beside it a table with entries and a blob file.
  void MakeUnexplainedTable() {
    UseFiles(memory_);
    Open();
    Close();
    // Tables of RocksDB 7.8 do not have their largest sequence number: opening reads their entries.
    memory_->PutFile(table_, LoadSampleTable("v78_nofilter_fv5").bytes);
    memory_->PutFile(blobs_, "values");
  }
  bool Exists(const std::string& path) { return memory_->AllFiles().contains(path); }

  const std::string table_ = "/db/000900.sst", blobs_ = "/db/000901.blob";
};

TEST_F(ObsoleteFilesTest, ATableThatCannotBeReadNowIsLeftForTheNextOpen) {
  for (const CallKind kind : {CallKind::kOpenRead, CallKind::kRead}) {
    MakeUnexplainedTable();
    const auto fault = std::make_shared<FaultFileSystem>(memory_);
    UseFiles(fault);
    fault->AddFault(
        {.mode = FaultMode::kSticky, .kinds = KindBit(kind), .path_part = "000900.sst"});
    Open();
    const std::string report = Property("ashlar.recovery-report");
    EXPECT_NE(report.find(table_ + ": not in the MANIFEST, and cannot be"), std::string::npos)
        << report;
    Close();
    EXPECT_TRUE(Exists(table_) && Exists(blobs_)) << NameOf(kind);
    fault->ClearFaults();
    Open();
    Close();
    EXPECT_TRUE(Exists(table_ + ".orphan") && Exists(blobs_ + ".orphan")) << NameOf(kind);
    EXPECT_FALSE(Exists(table_) || Exists(blobs_)) << NameOf(kind);
  }
}

// Each read of the table fails in turn.
TEST_F(ObsoleteFilesTest, NoFailedReadDeletesATable) {
  MakeUnexplainedTable();
  int left_count = 0;
  for (uint64_t n = 0;; n++) {
    const auto copy = std::make_shared<MemoryFileSystem>();
    for (const auto& [path, bytes] : memory_->AllFiles()) copy->PutFile(path, bytes);
    const auto fault = std::make_shared<FaultFileSystem>(copy);
    UseFiles(fault);
    fault->AddFault({.first_call = n, .kinds = kReads, .path_part = "000900.sst"});
    Open();
    Close();
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
  UseFiles(fs);
  options_.WAL_ttl_seconds = 3600;
  Open();
  Put("a");
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  ASSERT_EQ(logs.size(), 1u);
  const std::string name = logs[0]->PathName();
  Flush();
  WaitForJobs();
  EXPECT_TRUE(Exists("/db" + name)) << name;
  EXPECT_NE(memory_->AllFiles()["/db/LOG"].find("cannot move /db" + name), std::string::npos);
  Close();
  fs->is_refusing = false;
  Open();
  EXPECT_TRUE(Exists("/db/archive" + name));
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(db_->GetUpdatesSince(1, &updates));
  EXPECT_TRUE(updates->Valid());
}

}  // namespace
}  // namespace ashlar
