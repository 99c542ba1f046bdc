// SPDX-License-Identifier: Apache-2.0
//
// Files of two families come together or not at all, whichever call of the file system fails and
// whichever was the last before the machine stopped.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/sst_file_writer.h"
#include "env/file_util.h"
#include "tests/support/database_on_disk.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// What is there before, in tables, the memtable and the log; "b" and "d" are overlapped.
const Rows kBefore = {{"a", "old"}, {"b", "old"}, {"c", "old"}, {"d", "old"}};
const Rows kAfter = {{"a", "old"}, {"b", "new"}, {"c", "old"}, {"d", "new"}, {"x", "new"}};
const Rows kSecondAfter = {{"p", "second"}, {"q", "second"}};

class IngestFault : public testing::Test {
 protected:
  IngestFault() {
    options_.create_if_missing = true;
    options_.create_missing_column_families = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
  }

  void Fill(DatabaseOnDisk* life) {
    EXPECT_OK(life->opened.CreateFamily(options_, "second"));
    DB* const db = life->opened.db();
    WriteOptions synced;
    synced.sync = true;
    EXPECT_OK(db->Put(synced, "a", "old"));
    EXPECT_OK(db->Put(synced, "b", "old"));
    EXPECT_OK(db->Flush(FlushOptions()));
    EXPECT_OK(db->Put(synced, "c", "old"));
    EXPECT_OK(db->Put(synced, "d", "old"));
    MakeFile("/1.sst", {"b", "d", "x"}, "new");
    MakeFile("/2.sst", {"p", "q"}, "second");
  }
  void MakeFile(const std::string& path, const std::vector<std::string>& keys,
                const std::string& value) {
    SstFileWriter writer(EnvOptions(), options_);
    EXPECT_OK(writer.Open(path));
    for (const std::string& key : keys) EXPECT_OK(writer.Put(key, value));
    EXPECT_OK(writer.Finish());
  }
  Status Ingest(DatabaseOnDisk* life) {
    IngestExternalFileArg first, second;
    first.column_family = life->opened.handles()[0];
    first.external_files = {"/1.sst"};
    first.options = ingest_;
    second.column_family = life->opened.handles()[1];
    second.external_files = {"/2.sst"};
    second.options = ingest_;
    return life->opened.db()->IngestExternalFiles({first, second});
  }
  // Whether the files are in the database; nothing between there and not.
  static bool IsThere(OpenedDb* opened, const std::string& when) {
    Contents contents;
    EXPECT_OK(opened->ReadAll(&contents)) << when;
    const bool is_there = contents["default"].contains("x");
    EXPECT_EQ(contents["default"], is_there ? kAfter : kBefore) << when;
    EXPECT_EQ(contents["second"], is_there ? kSecondAfter : Rows()) << when;
    return is_there;
  }
  bool IsThereAfter(const std::shared_ptr<SimFS>& disk, const std::string& when) {
    const std::unique_ptr<DatabaseOnDisk> life = OpenDatabaseOnDisk(disk, &options_);
    if (life->opened.db() == nullptr) return false;
    EXPECT_OK(life->opened.db()->VerifyChecksum()) << when;
    const bool is_there = IsThere(&life->opened, when);
    CheckTables(life.get(), when);
    return is_there;
  }
  // No table on the disk that nobody names.
  static void CheckTables(DatabaseOnDisk* life, const std::string& when) {
    std::vector<LiveFileMetaData> live;
    life->opened.db()->GetLiveFilesMetaData(&live);
    std::vector<std::string> names;
    EXPECT_OK(life->env->GetChildren("/db", &names));
    size_t tables = 0;
    for (const std::string& name : names) tables += name.ends_with(".sst");
    EXPECT_EQ(tables, live.size()) << when;
  }
  // Writes over the files when the first flush for them begins, so that they are overlapped again.
  class WriteMeanwhile final : public EventListener {
   public:
    void OnFlushBegin(DB* db, const FlushJobInfo& info) override {
      if (info.flush_reason != FlushReason::kExternalFileIngestion || has_written) return;
      has_written = true;
      IgnoreError(db->Put(WriteOptions(), "d", "old"), "the fault may hit it");
    }
    bool has_written = false;
  };
  void FailEveryCall(FaultEffect effect);
  void CrashAtEveryCall();

  Options options_;
  IngestExternalFileOptions ingest_;
  bool has_memtable_ = true;                // in a crash; false: no flush syncs the directory
  std::shared_ptr<WriteMeanwhile> writer_;  // null: nobody writes
};

void IngestFault::FailEveryCall(FaultEffect effect) {
  for (uint64_t n = 0;; n++) {
    const std::shared_ptr<SimFS> disk = SimFS::Create();
    if (writer_ != nullptr) writer_->has_written = false;
    std::unique_ptr<DatabaseOnDisk> life = OpenDatabaseOnDisk(disk, &options_);
    Fill(life.get());
    const std::string when = "failing call " + std::to_string(n);
    disk->FailAt(disk->CallCount() + n, FaultError::kIO, FaultMode::kOnce, effect);
    const Status status = Ingest(life.get());
    const bool was_hit = disk->Stats().TotalInjected() > 0;
    disk->ClearFaults();
    const bool is_there = IsThere(&life->opened, when);
    if (status.ok()) {
      EXPECT_TRUE(is_there) << when;
    } else {
      // A write whose sync failed is seen.
      EXPECT_TRUE(!is_there || writer_ != nullptr) << when << ": " << status.ToString();
      EXPECT_TRUE(life->env->FileExists("/1.sst").ok()) << when;  // may be tried again
      EXPECT_TRUE(life->env->FileExists("/2.sst").ok()) << when;
    }
    // What is acknowledged survives a crash that keeps what was synced only.
    const bool survives =
        IsThereAfter(disk->CrashImage(disk->CallCount(), CrashPolicy::kStrict), when);
    EXPECT_TRUE(survives || !status.ok()) << when;
    IgnoreError(life->opened.db()->Resume(), "if there is anything to be resumed");
    EXPECT_OK(life->opened.db()->Put(WriteOptions(), "z", "later")) << when;
    EXPECT_OK(life->opened.db()->Delete(WriteOptions(), "z")) << when;
    EXPECT_OK(life->opened.db()->Flush(FlushOptions())) << when;
    EXPECT_OK(status.ok() ? status : Ingest(life.get())) << when;
    EXPECT_TRUE(IsThere(&life->opened, when));
    life.reset();
    EXPECT_TRUE(IsThereAfter(disk, when));
    if (!was_hit) {
      EXPECT_GT(n, 15u) << "calls of an ingestion";
      return;
    }
    if (HasFailure()) return;
  }
}

void IngestFault::CrashAtEveryCall() {
  const std::shared_ptr<SimFS> disk = SimFS::Create();
  const std::unique_ptr<DatabaseOnDisk> life = OpenDatabaseOnDisk(disk, &options_);
  Fill(life.get());
  if (!has_memtable_) {
    ASSERT_OK(life->opened.db()->Flush(FlushOptions()));
  }
  disk->SyncEverything();
  const uint64_t begin = disk->CallCount();
  ASSERT_OK(Ingest(life.get()));
  const uint64_t end = disk->CallCount();
  int there = 0, not_there = 0;
  for (uint64_t call = begin; call <= end; call++) {
    for (const CrashPolicy policy : kAllCrashPolicies) {
      for (uint64_t seed = 0; seed < (UsesSeed(policy) ? 3 : 1); seed++) {
        const std::string when = "crash before call " + std::to_string(call) + ", " +
                                 NameOf(policy) + ", seed " + std::to_string(seed);
        const bool is_there = IsThereAfter(disk->CrashImage(call, policy, seed), when);
        (is_there ? there : not_there)++;
        EXPECT_TRUE(is_there || call < end) << when;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(there, 0);
  EXPECT_GT(not_there, 0);
}

TEST_F(IngestFault, EveryCallMayFail) { FailEveryCall(FaultEffect::kNone); }
TEST_F(IngestFault, EveryCallMayFailHalfDone) { FailEveryCall(FaultEffect::kPartial); }
TEST_F(IngestFault, EveryCallMayFailThoughDone) { FailEveryCall(FaultEffect::kFull); }
TEST_F(IngestFault, EveryCallOfALinkMayFail) {
  ingest_.link_files = true;
  FailEveryCall(FaultEffect::kNone);
}
TEST_F(IngestFault, EveryCallMayFailWhileTheNumberIsWritten) {
  ingest_.write_global_seqno = true;
  FailEveryCall(FaultEffect::kNone);
}
TEST_F(IngestFault, EveryCallMayFailWhileFilesAreWritten) {
  writer_ = std::make_shared<WriteMeanwhile>();
  options_.listeners.push_back(writer_);
  FailEveryCall(FaultEffect::kNone);
}
TEST_F(IngestFault, EveryCallMayFailWhileOthersWait) {
  writer_ = std::make_shared<WriteMeanwhile>();
  options_.listeners.push_back(writer_);
  ingest_.write_global_seqno = true;
  options_.write_buffer_size = 64;  // the files are large ones
  FailEveryCall(FaultEffect::kNone);
}
TEST_F(IngestFault, EveryCallMayBeTheLast) { CrashAtEveryCall(); }
TEST_F(IngestFault, EveryCallMayBeTheLastWithNothingInMemory) {
  has_memtable_ = false;
  CrashAtEveryCall();
}
TEST_F(IngestFault, EveryCallOfALinkMayBeTheLast) {
  ingest_.link_files = true;
  CrashAtEveryCall();
}

}  // namespace
}  // namespace ashlar
