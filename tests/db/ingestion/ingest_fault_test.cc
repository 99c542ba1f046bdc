// SPDX-License-Identifier: Apache-2.0
//
// The files of two families are ingested together or not at all, whichever call of the file system
// fails or is the last one before a crash.
#include "ashlar/listener.h"
#include "ashlar/sst_file_writer.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// The rows before, in tables, the memtable and the log. The files overlap "b" and "d".
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

  void Fill(TestDb* test) {
    test->CreateFamily("second");
    const auto put = [&](const char* key) {
      EXPECT_OK(test->db()->Put(TestDb::Synced(), key, "old"));
    };
    put("a");
    put("b");
    test->Flush();
    put("c");
    put("d");
    MakeFile(test, "/1.sst", {"b", "d", "x"}, "new");
    MakeFile(test, "/2.sst", {"p", "q"}, "second");
  }
  static void MakeFile(TestDb* test, const std::string& path, const std::vector<std::string>& keys,
                       const std::string& value) {
    SstFileWriter writer(EnvOptions(), test->options());
    EXPECT_OK(writer.Open(path));
    for (const std::string& key : keys) EXPECT_OK(writer.Put(key, value));
    EXPECT_OK(writer.Finish());
  }
  Status Ingest(TestDb* test) {
    IngestExternalFileArg first, second;
    first.column_family = test->handles()[0];
    first.external_files = {"/1.sst"};
    first.options = ingest_;
    second.column_family = test->handles()[1];
    second.external_files = {"/2.sst"};
    second.options = ingest_;
    return test->db()->IngestExternalFiles({first, second});
  }
  // Whether all files are in the database. Otherwise none may be.
  static bool IsThere(TestDb* test, const std::string& when) {
    Contents contents;
    EXPECT_OK(test->TryReadAll(&contents)) << when;
    const bool is_there = contents["default"].contains("x");
    EXPECT_EQ(contents["default"], is_there ? kAfter : kBefore) << when;
    EXPECT_EQ(contents["second"], is_there ? kSecondAfter : Rows()) << when;
    return is_there;
  }
  bool IsThereAfter(const std::shared_ptr<SimFS>& disk, const std::string& when) {
    TestDb test(disk, options_);
    test.OpenAll();
    if (test.db() == nullptr) return false;
    EXPECT_OK(test.db()->VerifyChecksum()) << when;
    const bool is_there = IsThere(&test, when);
    EXPECT_EQ(test.FilesOnDisk(".sst"), int(test.Tables().size()))
        << "unreferenced tables " << when;
    return is_there;
  }
  // Overwrites a key of the files when the first flush for them begins, so that they overlap the
  // new memtable.
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
  bool has_memtable_ = true;  // of a crash test; if false, no flush syncs the directory
  std::shared_ptr<WriteMeanwhile> writer_;  // null: no write during the ingestion
};

void IngestFault::FailEveryCall(FaultEffect effect) {
  for (uint64_t n = 0;; n++) {
    const std::shared_ptr<SimFS> disk = SimFS::Create();
    if (writer_ != nullptr) writer_->has_written = false;
    TestDb test(disk, options_);
    test.OpenAll();
    Fill(&test);
    const std::string when = "failing call " + std::to_string(n);
    disk->FailAt(disk->CallCount() + n, FaultError::kIO, FaultMode::kOnce, effect);
    const Status status = Ingest(&test);
    const bool was_hit = disk->Stats().TotalInjected() > 0;
    disk->ClearFaults();
    const bool is_there = IsThere(&test, when);
    if (status.ok()) {
      EXPECT_TRUE(is_there) << when;
    } else {
      // A write whose sync failed is visible.
      EXPECT_TRUE(!is_there || writer_ != nullptr) << when << ": " << status.ToString();
      EXPECT_TRUE(test.env()->FileExists("/1.sst").ok()) << when;  // for another try
      EXPECT_TRUE(test.env()->FileExists("/2.sst").ok()) << when;
    }
    // An acknowledged ingestion survives a crash that keeps only synced data.
    const bool survives =
        IsThereAfter(disk->CrashImage(disk->CallCount(), CrashPolicy::kStrict), when);
    EXPECT_TRUE(survives || !status.ok()) << when;
    IgnoreError(test.db()->Resume(), "there may be no error");
    EXPECT_OK(test.db()->Put(WriteOptions(), "z", "later")) << when;
    EXPECT_OK(test.db()->Delete(WriteOptions(), "z")) << when;
    EXPECT_OK(test.db()->Flush(FlushOptions())) << when;
    EXPECT_OK(status.ok() ? status : Ingest(&test)) << when;
    EXPECT_TRUE(IsThere(&test, when));
    test.Drop();
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
  TestDb test(disk, options_);
  test.OpenAll();
  Fill(&test);
  if (!has_memtable_) test.Flush();
  disk->SyncEverything();
  const uint64_t begin = disk->CallCount();
  ASSERT_OK(Ingest(&test));
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
  options_.write_buffer_size = 64;  // so that the files count as large
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
