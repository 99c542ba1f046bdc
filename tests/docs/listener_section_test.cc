// SPDX-License-Identifier: Apache-2.0
//
// The listener's part of docs/compatibility.md: a listener notes what it is told while a database
// flushes, compacts, slows writes down, fails, recovers and is closed. What is built and not called
// in this scenario belongs into the scenario.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <set>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/sst_file_writer.h"
#include "env/fault/fault_file_system.h"
#include "tests/docs/header_text.h"
#include "tests/docs/page.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class Recorder final : public EventListener {
 public:
  bool IsCalled(const std::string& name) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return called_.contains(name);
  }

  void OnFlushCompleted(DB*, const FlushJobInfo&) override { Note("OnFlushCompleted"); }
  void OnFlushBegin(DB*, const FlushJobInfo&) override { Note("OnFlushBegin"); }
  void OnManualFlushScheduled(DB*, const std::vector<ManualFlushInfo>&) override {
    Note("OnManualFlushScheduled");
  }
  void OnTableFileDeleted(const TableFileDeletionInfo&) override { Note("OnTableFileDeleted"); }
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override {
    Note("OnCompactionBegin");
    if (on_compaction) on_compaction();
  }
  void OnCompactionPreCommit(DB*, const CompactionJobInfo&) override {
    Note("OnCompactionPreCommit");
  }
  void OnCompactionCompleted(DB*, const CompactionJobInfo&) override {
    Note("OnCompactionCompleted");
  }
  void OnSubcompactionBegin(const SubcompactionJobInfo&) override { Note("OnSubcompactionBegin"); }
  void OnSubcompactionCompleted(const SubcompactionJobInfo&) override {
    Note("OnSubcompactionCompleted");
  }
  void OnTableFileCreated(const TableFileCreationInfo&) override { Note("OnTableFileCreated"); }
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo&) override {
    Note("OnTableFileCreationStarted");
  }
  void OnMemTableSealed(const MemTableInfo&) override { Note("OnMemTableSealed"); }
  void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle*) override {
    Note("OnColumnFamilyHandleDeletionStarted");
  }
  void OnExternalFileIngested(DB*, const ExternalFileIngestionInfo&) override {
    Note("OnExternalFileIngested");
  }
  void OnBackgroundError(BackgroundErrorReason, Status*) override { Note("OnBackgroundError"); }
  void OnStallConditionsChanged(const WriteStallInfo&) override {
    Note("OnStallConditionsChanged");
  }
  void OnFileReadFinish(const FileOperationInfo&) override { Note("OnFileReadFinish"); }
  void OnFileWriteFinish(const FileOperationInfo&) override { Note("OnFileWriteFinish"); }
  void OnFileFlushFinish(const FileOperationInfo&) override { Note("OnFileFlushFinish"); }
  void OnFileSyncFinish(const FileOperationInfo&) override { Note("OnFileSyncFinish"); }
  void OnFileRangeSyncFinish(const FileOperationInfo&) override { Note("OnFileRangeSyncFinish"); }
  void OnFileTruncateFinish(const FileOperationInfo&) override { Note("OnFileTruncateFinish"); }
  void OnFileCloseFinish(const FileOperationInfo&) override { Note("OnFileCloseFinish"); }
  bool ShouldBeNotifiedOnFileIO() override {
    Note("ShouldBeNotifiedOnFileIO");
    return true;
  }
  void OnErrorRecoveryBegin(BackgroundErrorReason, Status, bool*) override {
    Note("OnErrorRecoveryBegin");
  }
  void OnErrorRecoveryCompleted(Status) override { Note("OnErrorRecoveryCompleted"); }
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo&) override {
    Note("OnErrorRecoveryEnd");
    recovered.release();
  }
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo&) override {
    Note("OnBlobFileCreationStarted");
  }
  void OnBlobFileCreated(const BlobFileCreationInfo&) override { Note("OnBlobFileCreated"); }
  void OnBlobFileDeleted(const BlobFileDeletionInfo&) override { Note("OnBlobFileDeleted"); }
  void OnIOError(const IOErrorInfo&) override { Note("OnIOError"); }
  void OnBackgroundJobPressureChanged(DB*, const BackgroundJobPressure&) override {
    Note("OnBackgroundJobPressureChanged");
  }
  void OnDBShutdownBegin(DB*) override { Note("OnDBShutdownBegin"); }

  std::counting_semaphore<> recovered{0};
  std::function<void()> on_compaction;  // changed only while no compaction runs

 private:
  void Note(const char* name) {
    std::lock_guard<std::mutex> lock(mutex_);
    called_.insert(name);
  }

  mutable std::mutex mutex_;
  std::set<std::string> called_;
};

// In a family of its own.
void ReplaceABlobFile(DB* db, ColumnFamilyOptions options) {
  options.enable_blob_files = true;
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db->CreateColumnFamily(options, "blobs", &family));
  ASSERT_OK(db->Put(WriteOptions(), family, "key", "value"));
  ASSERT_OK(db->Flush(FlushOptions(), family));
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  rewrite.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  rewrite.blob_garbage_collection_age_cutoff = 1;
  ASSERT_OK(db->CompactRange(rewrite, family, nullptr, nullptr));
  ASSERT_OK(db->WaitForCompact(WaitForCompactOptions()));  // it is deleted behind the call
  ASSERT_OK(db->DestroyColumnFamilyHandle(family));
}

// At the end the rest of the older log is cut off.
void WriteOverAnOldLog(Options options) {
  options.recycle_log_file_num = 1;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/recycling", &db));
  for (int i = 0; i < 3; i++) {
    ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
    ASSERT_OK(db->Flush(FlushOptions()));
    ASSERT_OK(db->WaitForCompact(WaitForCompactOptions()));  // obsolete logs are kept by now
  }
  ASSERT_OK(db->Close());
}

void FillOnce(DB* db, const std::string& value) {
  for (int i = 0; i < 100; i++) {
    ASSERT_OK(db->Put(WriteOptions(), "key" + std::to_string(i), value));
  }
  ASSERT_OK(db->Flush(FlushOptions()));
}

}  // namespace

TEST(CompatibilityOfListeners, CallbacksAreNotedWhileADatabaseWorksFailsAndRecovers) {
  const std::unique_ptr<Env> memory(NewMemEnv(Env::Default()));
  const auto faults = std::make_shared<FaultFileSystem>(memory->GetFileSystem());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  const auto recorder = std::make_shared<Recorder>();
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.listeners.push_back(recorder);
  options.bytes_per_sync = 1;
  options.compression = kNoCompression;
  options.max_subcompactions = 2;
  options.level0_file_num_compaction_trigger = 2;
  options.level0_slowdown_writes_trigger = 2;  // writes slow down until that is compacted
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db->CreateColumnFamily(options, "family", &family));
  ASSERT_OK(db->DestroyColumnFamilyHandle(family));
  ASSERT_NO_FATAL_FAILURE(ReplaceABlobFile(db.get(), options));
  for (const char* value : {"1", "2", "3", "4"}) FillOnce(db.get(), value);
  ASSERT_OK(db->Put(WriteOptions(), "large", std::string(4 << 20, 'v')));  // synced piece by piece
  ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db->WaitForCompact(WaitForCompactOptions()));

  {
    SstFileWriter writer(EnvOptions(), options);
    ASSERT_OK(writer.Open("/x.sst"));
    ASSERT_OK(writer.Put("key", "from outside"));
    ASSERT_OK(writer.Finish());
  }
  ASSERT_OK(db->IngestExternalFile({"/x.sst"}, IngestExternalFileOptions()));

  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kSync);
  plan.path_part = ".log";
  faults->AddFault(plan);
  WriteOptions durable;
  durable.sync = true;
  EXPECT_FALSE(db->Put(durable, "key", "lost").ok());
  ASSERT_OK(db->Resume());
  recorder->recovered.acquire();

  plan.path_part = ".sst";  // a compaction of the next table fails, and is tried again
  ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db->SetOptions({{"level0_file_num_compaction_trigger", "1"}}));
  std::atomic<bool> has_failed{false};
  recorder->on_compaction = [&] {
    if (!has_failed.exchange(true)) faults->AddFault(plan);
  };
  FillOnce(db.get(), "5");
  recorder->recovered.acquire();
  ASSERT_OK(db->Close());
  recorder->on_compaction = nullptr;
  ASSERT_NO_FATAL_FAILURE(WriteOverAnOldLog(options));

  NamesByState names({"called", "never called so far"});
  for (const DeclaredMember& member : MembersOf(TextOf("include/ashlar/listener.h"),
                                                "class EventListener : public Customizable {")) {
    if (!member.name.starts_with("On") && !member.name.starts_with("Should")) continue;
    names.Add(recorder->IsCalled(member.name) ? "called" : "never called so far", member.name);
  }
  ExpectSection("Listeners", names.Text());
}

}  // namespace ashlar
