// SPDX-License-Identifier: Apache-2.0
//
// Ingestion concurrent with writers, readers, flushes and compactions.
#include <atomic>
#include <thread>

#include "ashlar/listener.h"
#include "env/fault/fault_file_system.h"
#include "tests/db/ingestion/ingest_fixture.h"

namespace ashlar {

// Each ingestion replaces the same keys in two families. Every snapshot and iterator shows exactly
// one ingestion in both families, and never an older one than before.
TEST_F(IngestTest, ReadersSeeEachCallAsAWholeWhileEverythingGoesOn) {
  constexpr int kRounds = 40, kKeys = 20;
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.write_buffer_size = 64 << 10;
  Open({kDefaultColumnFamilyName, "second"});
  const auto file = [&](int round, const char* name) {
    return File("/" + std::string(name) + std::to_string(round) + ".sst", 0, kKeys,
                std::to_string(1000 + round));
  };
  const auto ingest = [&](int round) {
    std::vector<IngestExternalFileArg> args(2);
    for (size_t i = 0; i < 2; i++) {
      args[i].column_family = handles_[i];
      args[i].external_files = {file(round, i == 0 ? "a" : "b")};
      args[i].options.move_files = true;
    }
    ASSERT_OK(db_->IngestExternalFiles(args));
  };
  ingest(0);
  std::atomic<bool> stop{false};
  std::atomic<int> looks{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([&, t] {  // writers between the keys, so that memtables are overlapped
      for (int i = 0; !stop.load(std::memory_order_relaxed); i++) {
        const std::string key = Key(i % kKeys) + "x" + std::to_string(t);
        ASSERT_OK(
            db_->Put(WriteOptions(), handles_[static_cast<size_t>(t)], key, std::string(100, 'w')));
      }
    });
    threads.emplace_back([&] {
      std::string newest;
      while (!stop.load(std::memory_order_relaxed)) {
        const Snapshot* snapshot = db_->GetSnapshot();
        const std::string value = Get(Key(0), snapshot);
        for (size_t family = 0; family < 2; family++) {
          for (const int i : {0, kKeys / 2, kKeys - 1}) {
            ASSERT_EQ(Get(Key(i), snapshot, family), value) << family << " " << i;
          }
        }
        db_->ReleaseSnapshot(snapshot);
        ASSERT_LE(newest, value);
        newest = value;
        std::vector<Iterator*> both;
        ASSERT_OK(db_->NewIterators(ReadOptions(), handles_, &both));
        std::string seen;
        for (Iterator* it : both) {
          for (it->Seek(Key(0)); it->Valid(); it->Next()) {
            if (it->key().size() != Key(0).size()) continue;
            if (seen.empty()) seen = it->value().ToString();
            ASSERT_EQ(it->value().ToString(), seen) << it->key().ToString();
          }
          ASSERT_OK(it->status());
          delete it;
        }
        ASSERT_LE(newest, seen);
        newest = seen;
        looks.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (int round = 1; round < kRounds; round++) ingest(round);
  while (looks.load(std::memory_order_relaxed) < 3) std::this_thread::yield();
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads) thread.join();
  WaitForJobs();
  EXPECT_EQ(Get(Key(3)) + Get(Key(3), nullptr, 1), "10391039");
  CheckWhole();
  Reopen();
  EXPECT_EQ(Get(Key(3)) + Get(Key(3), nullptr, 1), "10391039");
}

// Of concurrent calls, the one with the highest sequence number wins on every key.
TEST_F(IngestTest, CallsOfSeveralThreadsComeOneAfterTheOther) {
  Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < 10; i++) {
      File("/t" + std::to_string(t) + "_" + std::to_string(i) + ".sst", 0, 50, std::to_string(t));
    }
  }
  for (int t = 0; t < 3; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; i++) {
        ASSERT_OK(Ingest({"/t" + std::to_string(t) + "_" + std::to_string(i) + ".sst"}));
        const std::string value = Get(0);
        Put(Key(100 + t), value);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 1; i < 50; i++) EXPECT_EQ(Get(i), Get(0));
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 29u + 30u);  // the first file has number 0
  CheckWhole();
}

// A compaction that begins while files are installed does not write tables to their place.
TEST_F(IngestTest, CompactionsAndIngestionsShareTheLevels) {
  Open();
  std::atomic<bool> stop{false};
  std::thread compacting([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      Compact();
    }
  });
  for (int i = 0; i < 60; i++) {
    const int begin = (i * 37) % 300;
    ASSERT_OK(Ingest({File("/f.sst", begin, begin + 40, std::to_string(i))}));
    Put(begin + 20, "w" + std::to_string(i));
    if (i % 3 == 0) Flush();
    ASSERT_EQ(Get(begin + 20), "w" + std::to_string(i));
    ASSERT_EQ(Get(begin + 39), std::to_string(i));
  }
  stop.store(true, std::memory_order_relaxed);
  compacting.join();
  CheckWhole();
}

namespace {

// Writes a key when the first flush for an ingestion begins.
class WriteMeanwhile final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo& info) override {
    if (info.flush_reason != FlushReason::kExternalFileIngestion || has_written_) return;
    has_written_ = true;
    EXPECT_OK(db->Put(WriteOptions(), "k0005", "meanwhile"));
  }

 private:
  bool has_written_ = false;
};

}  // namespace

TEST_F(IngestTest, AreNewerThanWhatWritersOverlapAgain) {
  options_.listeners.push_back(std::make_shared<WriteMeanwhile>());
  options_.write_buffer_size = 64 << 10;  // so that the file counts as large
  Open();
  Put(5, "old");
  ASSERT_OK(Ingest({File("/a.sst", 0, 400, std::string(100, 'n'))}));
  EXPECT_EQ(Get(5), std::string(100, 'n'));
  EXPECT_EQ(Levels(), "3,0,0,0,0,0,0");
  CheckWhole();
  Reopen();
  EXPECT_EQ(Get(5), std::string(100, 'n'));
}

// The entries of a small file are written to the memtable then, without waiting for a flush.
TEST_F(IngestTest, AreWrittenIfTheyAreSmallAndOverlappedAgain) {
  options_.listeners.push_back(std::make_shared<WriteMeanwhile>());
  Open({kDefaultColumnFamilyName, "second"});
  Put(5, "old");
  Put(7, "old");
  const Snapshot* const before = db_->GetSnapshot();
  MakeFile("/a.sst", [](SstFileWriter* writer) {
    ASSERT_OK(writer->DeleteRange(Key(6), Key(9)));
    ASSERT_OK(writer->Put(Key(5), "new"));
    ASSERT_OK(writer->Merge(Key(8), "m"));
    ASSERT_OK(writer->Delete(Key(9)));
    ASSERT_OK(writer->PutEntity(Key(10), {{"one", "1"}, {kDefaultWideColumnName, "default"}}));
  });
  std::vector<IngestExternalFileArg> args(2);
  args[0].column_family = handles_[0];
  args[0].external_files = {"/a.sst"};
  args[0].options.move_files = true;
  args[1].column_family = handles_[1];
  args[1].external_files = {File("/b.sst", 0, 3, "b"), File("/c.sst", 2, 5, "c")};
  ASSERT_OK(db_->IngestExternalFiles(args));
  EXPECT_EQ(Levels(), "1,0,0,0,0,0,0");  // the table of the first flush
  EXPECT_EQ(FilesOnDisk(".sst"), 1);     // the staged tables are deleted
  EXPECT_TRUE(env_->FileExists("/a.sst").IsNotFound());
  const auto check = [this] {
    EXPECT_EQ(Get(5) + Get(7) + Get(8) + Get(9), "new-m-");
    PinnableWideColumns entity;
    EXPECT_OK(db_->GetEntity(ReadOptions(), handles_[0], Key(10), &entity));
    EXPECT_EQ(entity.columns(), (WideColumns{{kDefaultWideColumnName, "default"}, {"one", "1"}}));
    EXPECT_EQ(Scan(nullptr, 1),
              Key(0) + "=b " + Key(1) + "=b " + Key(2) + "=c " + Key(3) + "=c " + Key(4) + "=c");
  };
  check();
  EXPECT_EQ(Get(5, before) + Get(7, before), "oldold");
  db_->ReleaseSnapshot(before);
  Reopen();
  check();
}

// While the MANIFEST is written, another thread takes a snapshot. The snapshot shows the same
// before and after the ingestion.
TEST_F(IngestTest, NoSnapshotIsTakenInTheMiddle) {
  const auto files = std::make_shared<FaultFileSystem>(memory_);
  UseFiles(files);
  Open();
  File("/a.sst", 0, 10, "a");
  std::thread thread;
  std::atomic<bool> has_looked{false};
  const Snapshot* snapshot = nullptr;
  std::string seen;
  files->SetHook([&](const FileCall& call, bool is_before) {
    const bool is_manifest = call.path.find("MANIFEST") != std::string::npos;
    if (!is_manifest || !is_before || thread.joinable()) return;
    thread = std::thread([&] {
      snapshot = db_->GetSnapshot();
      seen = Get(5, snapshot);
      has_looked.store(true, std::memory_order_release);
    });
    for (int i = 0; i < 1000 && !has_looked.load(std::memory_order_acquire); i++) {
      std::this_thread::yield();
    }
  });
  ASSERT_OK(Ingest({"/a.sst"}));
  ASSERT_TRUE(thread.joinable());
  thread.join();
  EXPECT_EQ(Get(5, snapshot), seen);
  db_->ReleaseSnapshot(snapshot);
  files->SetHook(nullptr);
}

}  // namespace ashlar
