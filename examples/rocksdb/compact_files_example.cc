// SPDX-License-Identifier: Apache-2.0
//
// Compaction controlled by the program: automatic compaction is disabled; after each flush a
// listener checks whether level 0 is full, and a thread of the Env compacts the files that the
// listener chose.
//
//   compact_files_example FOLDER
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/listener.h"
#include "rocksdb/options.h"

#include "examples/rocksdb/example.h"

using rocksdb::CompactionOptions;
using rocksdb::DB;
using rocksdb::Env;
using rocksdb::Options;
using rocksdb::Status;

namespace {

constexpr size_t kFilesAtOnce = 4;
constexpr int kOutputLevel = 3;

struct Task {
  DB* db = nullptr;
  std::vector<std::string> files;
};

// Collects the files of level 0 when there are kFilesAtOnce of them, and compacts them in the
// background.
class LevelZeroGatherer : public rocksdb::EventListener {
 public:
  explicit LevelZeroGatherer(const Options& options) {
    compaction_options_.compression = options.compression;
    compaction_options_.output_file_size_limit = options.target_file_size_base;
  }

  void OnFlushCompleted(DB* db, const rocksdb::FlushJobInfo& info) override {
    if (info.triggered_writes_stop) std::printf("writes wait for a compaction\n");
    auto task = std::make_unique<Task>();
    task->db = db;
    rocksdb::ColumnFamilyMetaData family;
    db->GetColumnFamilyMetaData(&family);
    for (const rocksdb::SstFileMetaData& file : family.levels[0].files) {
      if (file.being_compacted) return;  // one compaction at a time; the next flush checks again
      task->files.push_back(file.name);
    }
    if (task->files.size() < kFilesAtOnce) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      running_++;
    }
    auto* job = new std::pair<LevelZeroGatherer*, std::unique_ptr<Task>>(this, std::move(task));
    db->GetEnv()->Schedule(&LevelZeroGatherer::Compact, job, Env::Priority::LOW);
  }

  // Waits for all compactions and returns the first error.
  Status Finish() {
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return running_ == 0; });
    return first_error_;
  }

  int compaction_count() {
    std::lock_guard<std::mutex> lock(mutex_);
    return compaction_count_;
  }

 private:
  static void Compact(void* argument) {
    std::unique_ptr<std::pair<LevelZeroGatherer*, std::unique_ptr<Task>>> job(
        static_cast<std::pair<LevelZeroGatherer*, std::unique_ptr<Task>>*>(argument));
    LevelZeroGatherer* self = job->first;
    const Task& task = *job->second;
    const Status status =
        task.db->CompactFiles(self->compaction_options_, task.files, kOutputLevel);
    std::lock_guard<std::mutex> lock(self->mutex_);
    if (status.ok()) self->compaction_count_++;
    // Aborted and InvalidArgument mean that another compaction was faster; a later flush tries
    // again.
    const bool comes_again = status.IsAborted() || status.IsInvalidArgument();
    if (!status.ok() && !comes_again && self->first_error_.ok()) self->first_error_ = status;
    self->running_--;
    self->idle_.notify_all();
  }

  CompactionOptions compaction_options_;
  std::mutex mutex_;
  std::condition_variable idle_;
  int running_ = 0;
  int compaction_count_ = 0;
  Status first_error_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = FolderFromArguments(argc, argv);
  Options options;
  options.create_if_missing = true;
  options.compaction_style = rocksdb::kCompactionStyleNone;
  options.level0_slowdown_writes_trigger = 20;
  options.level0_stop_writes_trigger = 36;
  options.IncreaseParallelism(4);
  options.write_buffer_size = 64 << 10;
  auto gatherer = std::make_shared<LevelZeroGatherer>(options);
  options.listeners.push_back(gatherer);

  DB* db = nullptr;
  Require(DB::Open(options, folder, &db), "open");
  const int kCount = 4000;
  for (int i = 0; i < kCount; i++) {
    Require(db->Put(rocksdb::WriteOptions(), std::to_string(i), std::string(200, 'a' + i % 26)),
            "put");
  }
  Require(db->Flush(rocksdb::FlushOptions()), "flush");
  Require(gatherer->Finish(), "compact files");
  Require(gatherer->compaction_count() > 0, "level 0 was gathered");
  for (int i = 0; i < kCount; i++) {
    std::string value;
    Require(db->Get(rocksdb::ReadOptions(), std::to_string(i), &value), "get");
    Require(value == std::string(200, 'a' + i % 26), "the value of each key");
  }
  Require(gatherer->Finish(), "compact files");
  delete db;
  std::printf("compact_files_example: ok\n");
  return 0;
}
