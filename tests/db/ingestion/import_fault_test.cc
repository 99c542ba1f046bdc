// SPDX-License-Identifier: Apache-2.0
//
// A family is imported completely or not at all, whichever call of the file system fails or is the
// last one before a crash.
#include "db/manifest/manifest_reader.h"
#include "env/filename.h"
#include "tests/db/ingestion/ingest_fixture.h"
#include "tests/support/invalid_syncs.h"

namespace ashlar {
namespace {

std::string LargeValue(int i) { return "value" + std::to_string(i) + std::string(30, 'x'); }

enum class Values { kInTables, kInBlobFiles };

// The family "imported" of a database, in a simulated file system.
class ImportFault : public testing::TestWithParam<Values> {
 protected:
  ImportFault() {
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.enable_blob_files = GetParam() == Values::kInBlobFiles;
    options_.min_blob_size = 20;
  }
  void Fill(TestDb* test) {
    for (int i = 0; i < 4; i++) test->Put(TestDb::Key(i), LargeValue(i));
    test->Flush();
    test->Put(TestDb::Key(1), "small");
    test->Put(TestDb::Key(2), LargeValue(12));
    test->Flush();
    ASSERT_OK(ExportTo(test->db(), test->db()->DefaultColumnFamily(), "/export", &exported_));
    rows_ = test->ReadRows();
    blobs_ = options_.enable_blob_files ? 2 : 0;
  }
  Status Import(TestDb* test) {
    ColumnFamilyHandle* handle = nullptr;
    const Status status = test->db()->CreateColumnFamilyWithImport(
        options_, "imported", ImportColumnFamilyOptions(), *exported_, &handle);
    EXPECT_EQ(handle != nullptr, status.ok());
    if (handle == nullptr) return status;
    EXPECT_OK(test->db()->DestroyColumnFamilyHandle(handle));
    return status;
  }
  // Whether the family exists, and then with all rows. No file of another family is left.
  bool IsThereAfter(const std::shared_ptr<SimFS>& disk, const std::string& when) {
    TestDb test(disk, options_);
    test.OpenAll();
    if (test.db() == nullptr) return false;
    Contents contents;
    EXPECT_OK(test.TryReadAll(&contents)) << when;
    EXPECT_EQ(contents["default"], rows_) << when;
    const bool is_there = contents.contains("imported");
    if (is_there) {
      EXPECT_EQ(contents["imported"], rows_) << when;
    }
    EXPECT_EQ(test.FilesOnDisk(".sst"), int(test.Tables().size())) << when;
    EXPECT_EQ(test.FilesOnDisk(".blob"), is_there ? 2 * blobs_ : blobs_) << when;
    return is_there;
  }
  void FailCalls(FaultEffect effect, FaultMode mode);

  Options options_;
  std::unique_ptr<ExportImportFilesMetaData> exported_;
  Rows rows_;
  int blobs_ = 0;
};

// With kOnce an error says that the family is not there. If every later call fails too, the
// MANIFEST cannot be put right.
void ImportFault::FailCalls(FaultEffect effect, FaultMode mode) {
  for (uint64_t n = 0;; n++) {
    const std::shared_ptr<SimFS> disk = SimFS::Create();
    TestDb test(disk, options_);
    test.OpenAll();
    Fill(&test);
    const std::string when = "failing call " + std::to_string(n);
    disk->FailAt(disk->CallCount() + n, FaultError::kIO, mode, effect);
    const Status status = Import(&test);
    const bool was_hit = disk->Stats().TotalInjected() > 0;
    disk->ClearFaults();
    const bool survives =
        IsThereAfter(disk->CrashImage(disk->CallCount(), CrashPolicy::kStrict), when);
    EXPECT_TRUE(survives || !status.ok()) << when;
    IgnoreError(test.db()->Resume(), "there may be no error");
    test.Drop();
    const bool is_there = IsThereAfter(disk, when);
    if (mode == FaultMode::kOnce || status.ok()) {
      EXPECT_EQ(is_there, status.ok()) << when;
    }
    if (!was_hit) {
      EXPECT_GT(n, 15u) << "calls of an import";
      return;
    }
    if (HasFailure()) return;
  }
}

TEST_P(ImportFault, EveryCallMayFail) { FailCalls(FaultEffect::kNone, FaultMode::kOnce); }
TEST_P(ImportFault, EveryCallMayFailHalfDone) {
  FailCalls(FaultEffect::kPartial, FaultMode::kOnce);
}
TEST_P(ImportFault, AllCallsMayFailFromOneOn) { FailCalls(FaultEffect::kNone, FaultMode::kSticky); }

// The files may be named by the MANIFEST then, whatever the kind of the error is.
TEST_P(ImportFault, ACallMayFailWithAnErrorOfAnyKind) {
  const std::shared_ptr<SimFS> disk = SimFS::Create();
  const auto files = std::make_shared<InvalidSyncs>(disk);
  TestDb test(files, options_);
  test.OpenAll();
  Fill(&test);
  files->fails_next = true;
  const Status status = Import(&test);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_FALSE(files->fails_next);
  EXPECT_FALSE(IsThereAfter(disk->CrashImage(disk->CallCount(), CrashPolicy::kAll), "crash"));
  test.Drop();
  EXPECT_FALSE(IsThereAfter(disk, "opened again"));
}

TEST_P(ImportFault, EveryCallMayBeTheLast) {
  const std::shared_ptr<SimFS> disk = SimFS::Create();
  TestDb test(disk, options_);
  test.OpenAll();
  Fill(&test);
  disk->SyncEverything();
  const uint64_t begin = disk->CallCount();
  ASSERT_OK(Import(&test));
  const uint64_t end = disk->CallCount();
  int there = 0, not_there = 0;
  for (uint64_t call = begin; call <= end; call++) {
    for (const CrashPolicy policy : kAllCrashPolicies) {
      const std::string when = "crash before call " + std::to_string(call) + ", " + NameOf(policy);
      const bool is_there = IsThereAfter(disk->CrashImage(call, policy, 0), when);
      (is_there ? there : not_there)++;
      EXPECT_TRUE(is_there || call < end) << when;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(there, 0);
  EXPECT_GT(not_there, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ImportFault, testing::Values(Values::kInTables, Values::kInBlobFiles),
                         [](const auto& test) {
                           return test.param == Values::kInTables ? "InTables" : "InBlobFiles";
                         });

}  // namespace
}  // namespace ashlar
