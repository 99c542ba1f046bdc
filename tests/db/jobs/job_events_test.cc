// SPDX-License-Identifier: Apache-2.0
//
// Events in the info log, as RocksDB's tools expect them: jobs, created and deleted files, options.
#include "ashlar/file_checksum.h"
#include "tests/support/log_lines.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr const char* kNoChecksum =
    "\"file_checksum\": \"\", \"file_checksum_func_name\": \"Unknown\"";

class JobEventsTest : public DbTest {
 protected:
  JobEventsTest() {
    options_.disable_auto_compactions = true;
    options_.enable_blob_files = true;
    options_.min_blob_size = 100;
    options_.enable_blob_garbage_collection = true;
    options_.blob_garbage_collection_age_cutoff = 1;
    options_.avoid_flush_during_shutdown = true;
    options_.info_log = log_;
    options_.compression = kNoCompression;
  }
  void Put() {
    DbTest::Put("a", "small");
    DbTest::Put("b", std::string(200, 'l'));
    Delete("c");
  }
  // Numbers of the live tables.
  std::vector<std::string> TableNumbers() {
    std::vector<std::string> numbers;
    for (const LiveFileMetaData& file : Tables()) {
      numbers.push_back(std::to_string(std::stoull(file.name.substr(1))));
    }
    return numbers;
  }
  // The first line of this event that contains `part`; empty if there is none.
  std::string Event(const std::string& name, const std::string& part = "") {
    return log_->LineWith({StrCat("\"event\": \"", name, "\""), part});
  }
  static bool Has(const std::string& line, const std::string& part) {
    return line.find(part) != std::string::npos;
  }

  const std::shared_ptr<LogLines> log_ = std::make_shared<LogLines>();
};

TEST_F(JobEventsTest, OfAFlush) {
  Open();
  Put();
  Flush();
  const std::string table = StrCat("\"file_number\": ", TableNumbers()[0], ",");
  Close();
  const std::string begun = Event("flush_started");
  EXPECT_TRUE(Has(begun, "\"num_memtables\": 1, \"num_entries\": 3, \"num_deletes\": 1")) << begun;
  EXPECT_TRUE(Has(begun, "\"flush_reason\": \"Manual Flush\"")) << begun;
  const std::string made = Event("table_file_creation", table);
  EXPECT_TRUE(Has(made, "\"cf_name\": \"default\"")) << made;
  EXPECT_TRUE(Has(made, "\"table_properties\": {\"data_size\": ")) << made;
  EXPECT_TRUE(Has(made, "\"num_entries\": 3,")) << made;
  // Three keys of one byte, each with a trailer; the values are "small", a blob reference, and
  // none.
  EXPECT_TRUE(Has(made, "\"raw_average_key_size\": 9, \"raw_average_value_size\": ")) << made;
  EXPECT_TRUE(Has(made, kNoChecksum)) << made;
  const std::string blob = Event("blob_file_creation");
  EXPECT_TRUE(Has(blob, "\"total_blob_count\": 1,")) << blob;
  EXPECT_TRUE(Has(blob, kNoChecksum) && Has(blob, "\"status\": \"OK\"")) << blob;
  const std::string ended = Event("flush_finished");
  EXPECT_TRUE(Has(ended, "\"output_compression\": \"NoCompression\"")) << ended;
  EXPECT_TRUE(Has(ended, "\"lsm_state\": [1, 0, 0, 0, 0, 0, 0], \"blob_file_head\": ")) << ended;
  EXPECT_TRUE(Has(ended, "\"immutable_memtables\": 0")) << ended;
}

TEST_F(JobEventsTest, ChecksumsOfFilesAreTold) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  Put();
  Flush();
  const std::vector<LiveFileMetaData> tables = Tables();
  ASSERT_EQ(tables.size(), 1u);
  const std::string sum = Slice(tables[0].file_checksum).ToString(/*hex=*/true);
  Close();
  const std::string name = "\"file_checksum_func_name\": \"FileChecksumCrc32c\"";
  const std::string made = Event("table_file_creation");
  EXPECT_TRUE(Has(made, StrCat("\"file_checksum\": \"", sum, "\", ", name))) << made;
  EXPECT_TRUE(Has(Event("blob_file_creation"), name));
}

TEST_F(JobEventsTest, OfACompaction) {
  Open();
  for (int i = 0; i < 2; i++) {
    Put();
    ASSERT_OK(db_->SingleDelete(WriteOptions(), i == 0 ? "d" : "e"));
    Flush();
  }
  const std::vector<std::string> inputs = TableNumbers();
  ASSERT_EQ(inputs.size(), 2u);
  Compact();
  const std::string output = StrCat("\"file_number\": ", TableNumbers()[0], ",");
  Close();
  const std::string begun = Event("compaction_started");
  EXPECT_TRUE(Has(begun, "\"compaction_reason\": \"ManualCompaction\"")) << begun;
  EXPECT_TRUE(Has(begun, StrCat("\"files_L0\": [", inputs[0], ", ", inputs[1], "]"))) << begun;
  EXPECT_TRUE(Has(begun, "\"score\": ") && Has(begun, "\"input_data_size\": ")) << begun;
  EXPECT_NE(Event("table_file_creation", output), "");
  for (const std::string& input : inputs) {
    EXPECT_NE(Event("table_file_deletion", StrCat("\"file_number\": ", input, "}")), "");
  }
  EXPECT_NE(Event("blob_file_deletion"), "");
  EXPECT_TRUE(Has(begun, "\"oldest_snapshot_seqno\": -1")) << begun;
  const std::string ended = Event("compaction_finished");
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
  Flush();
  const Snapshot* const older = db_->GetSnapshot();
  Put();
  const Snapshot* const newer = db_->GetSnapshot();
  Flush();
  Compact();
  const std::string begun = Event("compaction_started");
  EXPECT_TRUE(Has(begun, StrCat("\"oldest_snapshot_seqno\": ", older->GetSequenceNumber(), "}")))
      << begun;
  db_->ReleaseSnapshot(newer);
  db_->ReleaseSnapshot(older);
  Close();
}

TEST_F(JobEventsTest, OfAMove) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 1;
  Open();
  DbTest::Put("a", "small");
  Flush();
  WaitForJobs();
  const std::vector<LiveFileMetaData> tables = Tables();
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].level, 6);
  Close();
  const std::string moved = Event("trivial_move");
  EXPECT_TRUE(Has(moved, StrCat("\"destination_level\": 6, \"files\": 1, \"total_files_size\": ",
                                tables[0].size, "}")))
      << moved;
  EXPECT_NE(Event("compaction_finished", "\"is_trivial_move\": true"), "");
}

TEST_F(JobEventsTest, OfATableOfRecovery) {
  Open();
  Put();
  Close();
  EXPECT_EQ(Event("table_file_creation"), "");
  Open();
  EXPECT_NE(Event("table_file_creation", "\"num_entries\": 3,"), "");
  EXPECT_EQ(Event("flush_started"), "");
  Close();
}

TEST_F(JobEventsTest, OptionsAreSaidAtOpen) {
  options_.max_open_files = 321;
  options_.write_buffer_size = 7654321;
  Open();
  EXPECT_NE(log_->LineWith({"RocksDB version: "}), "");
  EXPECT_NE(log_->LineWith({"Options.max_open_files: 321\n"}), "");
  EXPECT_NE(log_->LineWith({"Options for column family [default]:"}), "");
  EXPECT_NE(log_->LineWith({"Options.write_buffer_size: 7654321\n"}), "");
  Close();
}

}  // namespace
}  // namespace ashlar
