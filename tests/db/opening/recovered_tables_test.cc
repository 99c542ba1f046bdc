// SPDX-License-Identifier: Apache-2.0
//
// Listeners are called for the tables and blob files that recovery writes, but not for a flush.
#include <mutex>
#include <utility>

#include "ashlar/listener.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class Recorder final : public EventListener {
 public:
  void OnFlushBegin(DB*, const FlushJobInfo&) override { Note("flush"); }
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { Note("flush"); }
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override {
    EXPECT_EQ(info.reason, TableFileCreationReason::kRecovery);
    Note(StrCat("begun ", info.cf_name, " ", info.file_path));
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    EXPECT_EQ(info.reason, TableFileCreationReason::kRecovery);
    EXPECT_OK(info.status);
    EXPECT_GT(info.job_id, 0);
    EXPECT_EQ(info.table_properties.num_entries, 2u);
    EXPECT_GT(info.file_size, 0u);
    Note(StrCat("made ", info.cf_name, " ", info.file_path));
  }
  void OnBlobFileCreated(const BlobFileCreationInfo& info) override {
    EXPECT_EQ(info.reason, BlobFileCreationReason::kRecovery);
    Note(StrCat("blobs ", info.total_blob_count));
  }
  std::vector<std::string> TakeNotes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(notes_, {});
  }

 private:
  void Note(const std::string& note) {
    const std::lock_guard<std::mutex> lock(mutex_);
    notes_.push_back(note);
  }
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

TEST(RecoveredTables, AreToldOf) {
  TestDb test;
  test.options().avoid_flush_during_shutdown = true;
  test.options().enable_blob_files = true;
  test.options().min_blob_size = 100;
  test.Open();
  test.Put("a", "small");
  test.Put("b", std::string(200, 'l'));
  const auto told = std::make_shared<Recorder>();
  test.Close();
  test.options().listeners = {told};
  test.Open();
  const std::vector<LiveFileMetaData> files = test.Tables();
  ASSERT_EQ(files.size(), 1u);
  const std::string path = files[0].db_path + files[0].name;
  EXPECT_EQ(told->TakeNotes(),
            (std::vector<std::string>{"begun default " + path, "blobs 1", "made default " + path}));
  test.Close();
}

}  // namespace
}  // namespace ashlar
