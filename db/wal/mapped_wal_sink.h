// SPDX-License-Identifier: Apache-2.0
//
// MappedWalSink writes a log through a shared memory mapping: a record is delivered to the kernel
// as soon as it is copied. A background job allocates space and populates pages ahead, so a write
// without sync makes no system call.
//
// After a crash the file ends in zeros or, if recycled, in its previous contents, as the log format
// allows. Close() truncates the file after the last record.
#pragma once

#include <atomic>
#include <memory>

#include "db/wal/shared_progress.h"
#include "db/wal/staging_order.h"
#include "db/wal/wal_sink.h"
#include "env/mapped_file.h"

namespace ashlar {

class MappedWalSink final : public WalSink {
 public:
  // Whether the file system and the options allow a mapped log.
  static bool IsPossible(const WalSinkOptions& options);
  // NotSupported if the kernel's file system does not support it.
  static Result<std::unique_ptr<WalSink>> Open(const WalSinkOptions& options);
  ~MappedWalSink() override;

  Status Stage(const Range& range, const Slice& head, const Slice& body) override;
  Status Deliver(uint64_t end) override;
  Status DeliverBeforeSync(uint64_t end) override;
  Status Flush(uint64_t end) override { return Deliver(end); }
  Status Sync(uint64_t end) override;
  void Seal() override;
  void Abandon(const Status& error) override { IgnoreError(FailWith(error), "the caller has it"); }
  Status Close() override { return CloseAt(order_.staged_end()); }
  Status CloseForReuse() override { return CloseAt(MappedLogFile::kKeepsSize); }

  uint64_t delivered_size() const override { return order_.staged_end(); }
  uint64_t synced_size() const override { return sync_.done(); }
  Status error() const override { return sync_.error(); }
  bool is_mapped() const override { return true; }

 protected:
  Status StageRaw(const Range& range, const Slice& bytes) override;

 private:
  MappedWalSink(const WalSinkOptions& options, std::unique_ptr<MappedLogFile> file);

  Status StageRecord(const Range& range, const Slice& head, const Slice& body);
  Status MakeRoom(const Range& range);
  Status CheckNotLost();
  Status SyncFile();
  void Prepare(uint64_t expected_bytes);
  void PopulateAhead(uint64_t end);
  // Schedules a job of this sink in a background thread. Returns false if there is none.
  bool Schedule(void (*job)(void*));
  static void PopulateJob(void* sink);
  static void SealJob(void* sink);
  void GiveBack();
  static void CancelJob(void* sink);
  Status FailWith(const Status& error);
  Status CloseAt(uint64_t file_bytes);

  Env* const env_;
  std::unique_ptr<MappedLogFile> file_;
  StagingOrder order_;
  SharedProgress sync_;
  uint64_t expected_bytes_ = 0;  // 0: unknown; set before the sink is used by other threads
  bool is_closed_ = false;

  // A range that reaches this offset starts the next populating job and advances the trigger.
  alignas(64) std::atomic<uint64_t> populate_trigger_;
  std::atomic<uint64_t> populate_end_{0};  // end offset that the next job populates
  std::atomic<bool> is_sealed_{false};     // true: jobs must not populate any more
  Mutex job_mutex_{LockRank::kLeaf};
  CondVar job_done_{&job_mutex_};
  int jobs_ GUARDED_BY(job_mutex_) = 0;
};

}  // namespace ashlar
