// SPDX-License-Identifier: Apache-2.0
//
// A failed sync of a directory may lose the entries of files that were created before it, and a
// later successful sync does not make them durable. The engine then creates logs, tables and
// MANIFESTs again, and no acknowledged write is lost when the machine stops.
#include <utility>

#include "ashlar/file_system_wrapper.h"
#include "ashlar/sst_file_writer.h"
#include "env/file_util.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Directly after the creation of a file, another thread syncs the directory, which fails.
class Meddler final : public FileSystemWrapper {
 public:
  explicit Meddler(std::shared_ptr<SimFS> sim) : FileSystemWrapper(sim), sim_(std::move(sim)) {}
  const char* Name() const override { return "Meddler"; }

  void FailBehind(const std::string& part) { part_ = part; }
  bool HasFailed() const { return part_.empty(); }
  void FailSync() {
    sim_->AddFault({.kinds = KindBit(CallKind::kSyncDirectory)});
    EXPECT_FALSE(SyncDirectory(sim_.get(), "/db").ok());
  }

  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    IOStatus status = FileSystemWrapper::NewWritableFile(f, options, r, dbg);
    if (!part_.empty() && f.starts_with("/db/") && f.find(part_) != std::string::npos) {
      part_.clear();
      FailSync();
    }
    return status;
  }
  // So ingestion copies the file.
  IOStatus LinkFile(const std::string& s, const std::string& /*t*/, const IOOptions& /*options*/,
                    IODebugContext* /*dbg*/) override {
    return IOStatus::NotSupported(s, "no links");
  }

 private:
  const std::shared_ptr<SimFS> sim_;
  std::string part_;
};

class LostEntries : public DbTestWith<int> {  // the number of families
 protected:
  LostEntries() {
    options_.disable_auto_compactions = true;
    options_.max_bgerror_resume_count = 0;  // only Resume() recovers
  }

  void Open() {
    sim_ = SimFS::Create();
    ASSERT_OK(sim_->CreateDir("/db", IOOptions(), nullptr));
    sim_->SyncEverything();
    meddler_ = std::make_shared<Meddler>(sim_);
    UseFiles(meddler_);
    acknowledged_.clear();
    ingested_.clear();
    DbTest::Open();
    for (int i = 1; i < GetParam(); i++) CreateFamily(StrCat("family", i));
  }
  // Into all families with one synced batch.
  Status Put(const std::string& key) {
    WriteBatch batch;
    EXPECT_OK(batch.Put(key, "value"));
    for (ColumnFamilyHandle* handle : handles_) EXPECT_OK(batch.Put(handle, key, "value"));
    const Status status = db_->Write(Synced(), &batch);
    if (status.ok()) acknowledged_.push_back(key);
    return status;
  }
  // Repeats the call after a Resume() if it fails.
  template <typename Call>
  void DoAfterAll(const std::string& what, Call call) {
    const Status first = call();
    if (first.ok()) return;
    failures_++;
    EXPECT_OK(db_->Resume()) << what << ": " << first.ToString();
    EXPECT_OK(call()) << what << ", after " << first.ToString();
  }
  Status Ingest(const std::string& key) {
    const std::string path = StrCat("/", key, ".sst");
    SstFileWriter writer(EnvOptions(), options_);
    RETURN_IF_ERROR(writer.Open(path));
    RETURN_IF_ERROR(writer.Put(key, "value"));
    RETURN_IF_ERROR(writer.Finish());
    RETURN_IF_ERROR(db_->IngestExternalFile({path}, IngestExternalFileOptions()));
    ingested_ = key;
    return Status::OK();
  }
  void Work() {
    DoAfterAll("put", [&] { return Put("1"); });
    DoAfterAll("flush", [&] { return db_->Flush(FlushOptions()); });
    DoAfterAll("put behind a flush", [&] { return Put("2"); });
    DoAfterAll("second flush", [&] { return db_->Flush(FlushOptions()); });
    DoAfterAll("compaction",
               [&] { return db_->CompactRange(CompactRangeOptions(), nullptr, nullptr); });
    DoAfterAll("ingestion", [&] { return Ingest("i"); });
    DoAfterAll("last put", [&] { return Put("3"); });
  }
  // If the machine stops now, all acknowledged writes are there, in all families.
  void CheckCrash(const std::string& what) {
    TestDb opened(CrashImage(CrashPolicy::kStrict));
    opened.options().wal_dir = options_.wal_dir;
    Contents contents;
    ASSERT_OK(opened.TryOpenAll()) << what;
    ASSERT_OK(opened.TryReadAll(&contents)) << what;
    ASSERT_EQ(contents.size(), static_cast<size_t>(GetParam())) << what;
    for (const auto& [family, rows] : contents) {
      for (const std::string& key : acknowledged_) {
        EXPECT_TRUE(rows.contains(key)) << what << ": " << family << " has lost " << key;
      }
    }
    const bool has_ingested = ingested_.empty() || contents["default"].contains(ingested_);
    EXPECT_TRUE(has_ingested) << what;
  }

  std::shared_ptr<Meddler> meddler_;
  std::vector<std::string> acknowledged_;
  std::string ingested_;
  int failures_ = 0;  // calls that failed at first
};

INSTANTIATE_TEST_SUITE_P(Families, LostEntries, testing::Values(1, 2));

// With one MANIFEST for all changes, and with a new one for every change.
TEST_P(LostEntries, WhateverDirectorySyncFails) {
  for (const uint64_t manifest_bytes : {uint64_t{1} << 30, uint64_t{1}}) {
    options_.max_manifest_file_size = manifest_bytes;
    Open();
    sim_->KeepCalls(true);
    const uint64_t first_call = sim_->CallCount();
    Work();
    Close();
    std::vector<uint64_t> syncs;
    for (const FileCall& call : sim_->Calls()) {
      if (call.kind == CallKind::kSyncDirectory && call.index >= first_call) {
        syncs.push_back(call.index);
      }
    }
    EXPECT_EQ(failures_, 0);
    EXPECT_GE(syncs.size(), 3u);
    for (const uint64_t index : syncs) {
      Open();
      sim_->AddFault({.first_call = index, .kinds = KindBit(CallKind::kSyncDirectory)});
      Work();
      CheckCrash(StrCat("sync of a directory at call ", index));
      Close();
    }
    EXPECT_GT(failures_, 0);
    failures_ = 0;
  }
}

// The failing sync belongs to another thread than the creation of the file, whose own sync
// succeeds.
TEST_P(LostEntries, WhateverFileWasJustMade) {
  options_.max_manifest_file_size = 1;
  for (const std::string part : {".log", ".sst", "MANIFEST"}) {
    for (int skipped = 0; skipped < 3; skipped++) {
      Open();
      if (skipped > 0) {
        ASSERT_OK(Put("0"));
        Flush();
      }
      if (skipped > 1) {
        Compact();
      }
      failures_ = 0;
      meddler_->FailBehind(part);
      Work();
      EXPECT_TRUE(meddler_->HasFailed()) << part;
      EXPECT_EQ(failures_, 1) << part;
      CheckCrash(StrCat("failed behind ", part, ", case ", skipped));
      Close();
    }
  }
}

// The logs are in another directory and complete, so only the table is lost.
TEST_P(LostEntries, AFlushWritesItsTableAnew) {
  options_.wal_dir = "/wal";
  Open();
  ASSERT_OK(Put("1"));
  meddler_->FailBehind(".sst");
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  EXPECT_TRUE(meddler_->HasFailed());
  EXPECT_OK(db_->Resume());
  EXPECT_OK(Put("2"));
  Flush();
  CheckCrash("flush");
}

TEST_P(LostEntries, ACompactionWritesItsTablesAnew) {
  Open();
  ASSERT_OK(Put("1"));
  Flush();
  ASSERT_OK(Put("1"));
  Flush();
  meddler_->FailBehind(".sst");
  EXPECT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsIOError());
  EXPECT_TRUE(meddler_->HasFailed());
  Compact();
  CheckCrash("compaction");
}

TEST_P(LostEntries, AnIngestionTakesItsFileAnew) {
  Open();
  ASSERT_OK(Put("1"));
  meddler_->FailBehind(".sst");
  EXPECT_TRUE(Ingest("i").IsIOError());
  EXPECT_TRUE(meddler_->HasFailed());
  EXPECT_OK(Ingest("i"));
  CheckCrash("ingestion");
}

// If the entry of a log may be lost, one Resume() replaces the log, although it is empty and its
// own directory sync would succeed.
TEST_P(LostEntries, ALogIsReplacedByOneResume) {
  Open();
  ASSERT_OK(Put("1"));
  ASSERT_OK(db_->PauseBackgroundWork());
  FlushOptions flush;
  flush.wait = false;
  ASSERT_OK(db_->Flush(flush));  // switches to another log, whose entry is not synced
  meddler_->FailSync();
  const Status status = Put("2");
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  EXPECT_FALSE(Put("refused").ok());
  EXPECT_FALSE(db_->SyncWAL().ok());
  CheckCrash("before the resume");
  ASSERT_OK(db_->ContinueBackgroundWork());
  EXPECT_OK(db_->Resume());
  EXPECT_OK(Put("3"));
  EXPECT_OK(db_->SyncWAL());
  CheckCrash("after the resume");
}

// A failed sync does not lose an entry that was durable before.
TEST_P(LostEntries, ALogWithADurableEntryGoesOn) {
  Open();
  ASSERT_OK(Put("1"));
  meddler_->FailSync();
  EXPECT_OK(Put("2"));
  CheckCrash("the same log");
}

}  // namespace
}  // namespace ashlar
