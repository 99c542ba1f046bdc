// SPDX-License-Identifier: Apache-2.0
//
// Listeners hear of the tables and blob files that recovery writes, and of no flush.
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "tests/support/status_matchers.h"
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
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.avoid_flush_during_shutdown = true;
  options.enable_blob_files = true;
  options.min_blob_size = 100;
  {
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options, "/db", &db));
    ASSERT_OK(db->Put(WriteOptions(), "a", "small"));
    ASSERT_OK(db->Put(WriteOptions(), "b", std::string(200, 'l')));
    ASSERT_OK(db->Close());
  }
  const auto told = std::make_shared<Recorder>();
  options.listeners = {told};
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1u);
  const std::string path = files[0].db_path + files[0].name;
  EXPECT_EQ(told->TakeNotes(),
            (std::vector<std::string>{"begun default " + path, "blobs 1", "made default " + path}));
  ASSERT_OK(db->Close());
}

}  // namespace
}  // namespace ashlar
