// SPDX-License-Identifier: Apache-2.0
//
// A queue and a thread. The thread takes all that waits, writes one batch after the other without a
// sync, and then syncs once for those that asked: a sync covers everything that was logged before.
//
// What is taken still counts as pending until its callback has returned. Lock order: the queue's
// mutex is never held while the database or a callback runs.
#include "ashlar/async.h"

#include <cassert>
#include <deque>
#include <new>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Else it would leave the library, as its class does.
class [[gnu::visibility("hidden")]] AsyncWriter::Impl {
 public:
  Impl(DB * db, const AsyncWriterOptions& options) : db_(db), options_(options) {}

  void Start() {
    db_->GetEnv()->StartThread([](void* self) { static_cast<Impl*>(self)->Run(); }, this);
  }

  Status Write(const WriteOptions& options, WriteBatch batch, Callback done);
  Status Drain();
  Status Close();

 private:
  struct Pending {
    WriteOptions options;
    WriteBatch batch;
    Callback done;
    size_t bytes = 0;
    Status status;
  };

  bool IsWriterThread() const { return calling_writer == this; }
  bool HasRoomLocked(size_t bytes) const REQUIRES(mutex_);
  void Run();
  bool TakeAll(std::deque<Pending> * group);
  void WriteGroup(std::deque<Pending> * group);
  void WriteOne(Pending * write, bool* wants_sync);
  void Finish(Pending * write);

  DB* const db_;
  const AsyncWriterOptions options_;
  static thread_local const Impl* calling_writer;  // of a writer's thread: its own; else null

  Mutex mutex_{LockRank::kUtility};
  CondVar arrived_{&mutex_};  // a write, or the end; the writer's thread waits
  CondVar done_{&mutex_};     // some write; those wait that want room, or the end
  std::deque<Pending> queue_ GUARDED_BY(mutex_);
  size_t pending_writes_ GUARDED_BY(mutex_) = 0;
  size_t pending_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t accepted_ GUARDED_BY(mutex_) = 0;
  uint64_t finished_ GUARDED_BY(mutex_) = 0;
  bool is_closed_ GUARDED_BY(mutex_) = false;
  bool has_ended_ GUARDED_BY(mutex_) = false;  // the thread, which touches nothing any more
};

thread_local const AsyncWriter::Impl* AsyncWriter::Impl::calling_writer = nullptr;

// A batch that is larger than the limit has room when it is alone.
bool AsyncWriter::Impl::HasRoomLocked(size_t bytes) const {
  if (pending_writes_ == 0) return true;
  return pending_writes_ < options_.max_pending_writes &&
         pending_bytes_ + bytes <= options_.max_pending_bytes;
}

Status AsyncWriter::Impl::Write(const WriteOptions& options, WriteBatch batch, Callback done) {
  const size_t bytes = batch.GetDataSize();
  const bool may_wait = !options.no_slowdown && !IsWriterThread();
  MutexLock lock(&mutex_);
  while (!is_closed_ && !HasRoomLocked(bytes)) {
    if (!may_wait) return Status::Incomplete("AsyncWriter: too many writes are pending");
    done_.Wait();
  }
  if (is_closed_) return Status::Aborted("AsyncWriter: it is closed");
  try {
    queue_.push_back({options, std::move(batch), std::move(done), bytes, Status()});
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit("AsyncWriter: no memory for one more write");
  }
  accepted_++;
  pending_writes_++;
  pending_bytes_ += bytes;
  arrived_.Signal();
  return Status::OK();
}

// They are finished in another order than they were accepted in, but all of a group before those of
// the next: finished_ counts whole groups.
Status AsyncWriter::Impl::Drain() {
  if (IsWriterThread()) {
    return Status::InvalidArgument("AsyncWriter: a callback cannot wait for itself");
  }
  MutexLock lock(&mutex_);
  const uint64_t last = accepted_;
  while (finished_ < last) done_.Wait();
  return Status::OK();
}

Status AsyncWriter::Impl::Close() {
  if (IsWriterThread()) {
    return Status::InvalidArgument("AsyncWriter: a callback cannot wait for itself");
  }
  MutexLock lock(&mutex_);
  is_closed_ = true;
  arrived_.Signal();
  done_.SignalAll();  // those that wait for room
  while (!has_ended_) done_.Wait();
  assert(queue_.empty() && pending_writes_ == 0 && pending_bytes_ == 0);
  return Status::OK();
}

// ---- The writer's thread

void AsyncWriter::Impl::Run() {
  calling_writer = this;
  for (std::deque<Pending> group; TakeAll(&group); group.clear()) WriteGroup(&group);
}

// False: there is nothing, and nothing comes. The thread touches nothing of this any more.
bool AsyncWriter::Impl::TakeAll(std::deque<Pending>* group) {
  assert(group->empty());
  MutexLock lock(&mutex_);
  while (queue_.empty() && !is_closed_) arrived_.Wait();
  group->swap(queue_);
  if (!group->empty()) return true;
  has_ended_ = true;
  done_.SignalAll();
  return false;
}

void AsyncWriter::Impl::WriteGroup(std::deque<Pending>* group) {
  assert(!group->empty());
  bool wants_sync = false;
  for (Pending& write : *group) {
    WriteOne(&write, &wants_sync);
    if (!write.options.sync) Finish(&write);
  }
  const Status synced = wants_sync ? db_->FlushWAL(/*sync=*/true) : Status::OK();
  for (Pending& write : *group) {
    if (!write.options.sync) continue;
    if (write.status.ok()) write.status = synced;
    Finish(&write);
  }
  MutexLock lock(&mutex_);
  finished_ += group->size();
  done_.SignalAll();
}

// What contradicts a sync is for the database to refuse.
void AsyncWriter::Impl::WriteOne(Pending* write, bool* wants_sync) {
  WriteOptions options = write->options;
  options.sync = options.sync && options.disableWAL;
  write->status = db_->Write(options, &write->batch);
  *wants_sync |= write->options.sync && write->status.ok();
}

void AsyncWriter::Impl::Finish(Pending* write) {
  if (write->done) write->done(write->status);
  write->done = nullptr;  // what it holds is let go of before the write counts as done
  MutexLock lock(&mutex_);
  assert(pending_writes_ > 0 && pending_bytes_ >= write->bytes);
  pending_writes_--;
  pending_bytes_ -= write->bytes;
  done_.SignalAll();
}

// ---- The public class

AsyncWriter::AsyncWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AsyncWriter::~AsyncWriter() { IgnoreError(Close(), "it answers OK but in a callback"); }

Status AsyncWriter::Open(DB* db, const AsyncWriterOptions& options,
                         std::unique_ptr<AsyncWriter>* writer) {
  writer->reset();
  if (db == nullptr) return Status::InvalidArgument("AsyncWriter: the database is a null pointer");
  if (options.max_pending_writes == 0 || options.max_pending_bytes == 0) {
    return Status::InvalidArgument("AsyncWriter: a limit of 0 lets nothing through");
  }
  auto impl = std::make_unique<Impl>(db, options);
  impl->Start();
  writer->reset(new AsyncWriter(std::move(impl)));
  return Status::OK();
}

Status AsyncWriter::Write(const WriteOptions& options, WriteBatch batch, Callback done) {
  return impl_->Write(options, std::move(batch), std::move(done));
}
Status AsyncWriter::Drain() { return impl_->Drain(); }
Status AsyncWriter::Close() { return impl_->Close(); }

}  // namespace ashlar
