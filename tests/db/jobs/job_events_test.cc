// SPDX-License-Identifier: Apache-2.0
//
// What the info log says for RocksDB's tools: jobs that begin, files that come and go, options.
#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_checksum.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

constexpr const char* kNoChecksum =
    "\"file_checksum\": \"\", \"file_checksum_func_name\": \"Unknown\"";

class Lines final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    char text[40000];
    std::vsnprintf(text, sizeof(text), format, ap);
    MutexLock lock(&mutex_);
    lines_.emplace_back(text);
  }
  // The first line with all of these, from the member after the time on; empty: there is none.
  std::string With(const std::vector<std::string>& parts) {
    MutexLock lock(&mutex_);
    for (const std::string& line : lines_) {
      bool has_all = true;
      for (const std::string& part : parts) has_all &= line.find(part) != std::string::npos;
      if (has_all) return line;
    }
    return "";
  }
  std::string Event(const std::string& name, const std::string& part = "") {
    return With({StrCat("\"event\": \"", name, "\""), part});
  }

 private:
  Mutex mutex_{LockRank::kLogger};
  std::vector<std::string> lines_ GUARDED_BY(mutex_);
};

class JobEventsTest : public testing::Test {
 protected:
  JobEventsTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.enable_blob_files = true;
    options_.min_blob_size = 100;
    options_.enable_blob_garbage_collection = true;
    options_.blob_garbage_collection_age_cutoff = 1;
    options_.avoid_flush_during_shutdown = true;
    options_.info_log = log_;
    options_.compression = kNoCompression;
  }
  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  void Put() {
    ASSERT_OK(db_->Put(WriteOptions(), "a", "small"));
    ASSERT_OK(db_->Put(WriteOptions(), "b", std::string(200, 'l')));
    ASSERT_OK(db_->Delete(WriteOptions(), "c"));
  }
  // Numbers of the live tables.
  std::vector<std::string> Tables() {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::vector<std::string> numbers;
    for (const LiveFileMetaData& file : files) {
      numbers.push_back(std::to_string(std::stoull(file.name.substr(1))));
    }
    return numbers;
  }
  static bool Has(const std::string& line, const std::string& part) {
    return line.find(part) != std::string::npos;
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  const std::shared_ptr<Lines> log_ = std::make_shared<Lines>();
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(JobEventsTest, OfAFlush) {
  Open();
  Put();
  ASSERT_OK(db_->Flush(FlushOptions()));
  const std::string table = StrCat("\"file_number\": ", Tables()[0], ",");
  ASSERT_OK(db_->Close());
  const std::string begun = log_->Event("flush_started");
  EXPECT_TRUE(Has(begun, "\"num_memtables\": 1, \"num_entries\": 3, \"num_deletes\": 1")) << begun;
  EXPECT_TRUE(Has(begun, "\"flush_reason\": \"Manual Flush\"")) << begun;
  const std::string made = log_->Event("table_file_creation", table);
  EXPECT_TRUE(Has(made, "\"cf_name\": \"default\"")) << made;
  EXPECT_TRUE(Has(made, "\"table_properties\": {\"data_size\": ")) << made;
  EXPECT_TRUE(Has(made, "\"num_entries\": 3,")) << made;
  // Three keys of a byte, each with a trailer; "small", a reference to a blob, and nothing.
  EXPECT_TRUE(Has(made, "\"raw_average_key_size\": 9, \"raw_average_value_size\": ")) << made;
  EXPECT_TRUE(Has(made, kNoChecksum)) << made;
  const std::string blob = log_->Event("blob_file_creation");
  EXPECT_TRUE(Has(blob, "\"total_blob_count\": 1,")) << blob;
  EXPECT_TRUE(Has(blob, kNoChecksum) && Has(blob, "\"status\": \"OK\"")) << blob;
  const std::string ended = log_->Event("flush_finished");
  EXPECT_TRUE(Has(ended, "\"output_compression\": \"NoCompression\"")) << ended;
  EXPECT_TRUE(Has(ended, "\"lsm_state\": [1, 0, 0, 0, 0, 0, 0], \"blob_file_head\": ")) << ended;
  EXPECT_TRUE(Has(ended, "\"immutable_memtables\": 0")) << ended;
}

TEST_F(JobEventsTest, ChecksumsOfFilesAreTold) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  Put();
  ASSERT_OK(db_->Flush(FlushOptions()));
  std::vector<LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  ASSERT_EQ(tables.size(), 1u);
  const std::string sum = Slice(tables[0].file_checksum).ToString(/*hex=*/true);
  ASSERT_OK(db_->Close());
  const std::string name = "\"file_checksum_func_name\": \"FileChecksumCrc32c\"";
  const std::string made = log_->Event("table_file_creation");
  EXPECT_TRUE(Has(made, StrCat("\"file_checksum\": \"", sum, "\", ", name))) << made;
  EXPECT_TRUE(Has(log_->Event("blob_file_creation"), name));
}

TEST_F(JobEventsTest, OfACompaction) {
  Open();
  for (int i = 0; i < 2; i++) {
    Put();
    ASSERT_OK(db_->SingleDelete(WriteOptions(), i == 0 ? "d" : "e"));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  const std::vector<std::string> inputs = Tables();
  ASSERT_EQ(inputs.size(), 2u);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  const std::string output = StrCat("\"file_number\": ", Tables()[0], ",");
  ASSERT_OK(db_->Close());
  const std::string begun = log_->Event("compaction_started");
  EXPECT_TRUE(Has(begun, "\"compaction_reason\": \"ManualCompaction\"")) << begun;
  EXPECT_TRUE(Has(begun, StrCat("\"files_L0\": [", inputs[0], ", ", inputs[1], "]"))) << begun;
  EXPECT_TRUE(Has(begun, "\"score\": ") && Has(begun, "\"input_data_size\": ")) << begun;
  EXPECT_NE(log_->Event("table_file_creation", output), "");
  for (const std::string& input : inputs) {
    EXPECT_NE(log_->Event("table_file_deletion", StrCat("\"file_number\": ", input, "}")), "");
  }
  EXPECT_NE(log_->Event("blob_file_deletion"), "");
  EXPECT_TRUE(Has(begun, "\"oldest_snapshot_seqno\": -1")) << begun;
  const std::string ended = log_->Event("compaction_finished");
  for (const char* const part :
       {"\"num_output_files\": 1,", "\"num_blob_output_files\": 1,", "\"total_blob_output_size\": ",
        "\"num_subcompactions\": 1,", "\"output_compression\": \"NoCompression\"",
        "\"num_single_delete_mismatches\": 0, \"num_single_delete_fallthrough\": 2,",
        "\"compaction_time_cpu_micros\": ", "\"lsm_state\": [0, 0, 0, 0, 0, 0, 1]"}) {
    EXPECT_TRUE(Has(ended, part)) << part << " in " << ended;
  }
}

TEST_F(JobEventsTest, ACompactionNamesTheOldestSnapshot) {
  Open();
  Put();
  ASSERT_OK(db_->Flush(FlushOptions()));
  const Snapshot* const older = db_->GetSnapshot();
  Put();
  const Snapshot* const newer = db_->GetSnapshot();
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  const std::string begun = log_->Event("compaction_started");
  EXPECT_TRUE(Has(begun, StrCat("\"oldest_snapshot_seqno\": ", older->GetSequenceNumber(), "}")))
      << begun;
  db_->ReleaseSnapshot(newer);
  db_->ReleaseSnapshot(older);
  ASSERT_OK(db_->Close());
}

TEST_F(JobEventsTest, OfAMove) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 1;
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "small"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  std::vector<LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].level, 6);
  ASSERT_OK(db_->Close());
  const std::string moved = log_->Event("trivial_move");
  EXPECT_TRUE(Has(moved, StrCat("\"destination_level\": 6, \"files\": 1, \"total_files_size\": ",
                                tables[0].size, "}")))
      << moved;
  EXPECT_NE(log_->Event("compaction_finished", "\"is_trivial_move\": true"), "");
}

TEST_F(JobEventsTest, OfATableOfRecovery) {
  Open();
  Put();
  ASSERT_OK(db_->Close());
  EXPECT_EQ(log_->Event("table_file_creation"), "");
  Open();
  EXPECT_NE(log_->Event("table_file_creation", "\"num_entries\": 3,"), "");
  EXPECT_EQ(log_->Event("flush_started"), "");
  ASSERT_OK(db_->Close());
}

TEST_F(JobEventsTest, OptionsAreSaidAtOpen) {
  options_.max_open_files = 321;
  options_.write_buffer_size = 7654321;
  Open();
  EXPECT_NE(log_->With({"RocksDB version: "}), "");
  EXPECT_NE(log_->With({"Options.max_open_files: 321\n"}), "");
  EXPECT_NE(log_->With({"Options for column family [default]:"}), "");
  EXPECT_NE(log_->With({"Options.write_buffer_size: 7654321\n"}), "");
  ASSERT_OK(db_->Close());
}

}  // namespace
}  // namespace ashlar
