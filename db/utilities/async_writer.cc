// SPDX-License-Identifier: Apache-2.0
//
// A queue and a thread. The thread takes everything that waits, writes one batch after the other
// without a sync, and then syncs once for the writes that asked for it: a sync covers everything
// that was logged before.
//
// A write that was taken still counts as pending until its callback has returned. Lock order: the
// queue's mutex is never held while the database or a callback runs.
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

// Without the attribute this nested class would be exported like its outer class.
class [[gnu::visibility("hidden")]] AsyncWriter::Impl {
 public:
  // Both limits are > 0. The database must outlive the object.
  Impl(DB * db, const AsyncWriterOptions& options) : db_(db), options_(options) {
    assert(db_ != nullptr && options_.max_pending_writes > 0 && options_.max_pending_bytes > 0);
  }

  // The thread uses the object until has_ended_.
  void Start() {
    db_->GetEnv()->StartThread([](void* self) { static_cast<Impl*>(self)->Run(); }, this);
  }

  Status Write(const WriteOptions& options, WriteBatch batch, Callback done);
  Status Drain();
  Status Close();

 private:
  // A write in the queue, or in the group that the thread works on.
  struct Pending {
    WriteOptions options;
    WriteBatch batch;
    Callback done;
    size_t bytes = 0;  // of the batch, when it was accepted
    Status status;     // set by WriteOne()
  };

  // A callback runs in the writer's thread, so it must not wait for that thread.
  bool IsWriterThread() const { return calling_writer == this; }
  bool HasRoomLocked(size_t bytes) const REQUIRES(mutex_);
  // The thread's function; returns after Close() when the queue is empty.
  void Run();
  bool TakeAll(std::deque<Pending> * group);
  void WriteGroup(std::deque<Pending> * group);
  void WriteOne(Pending * write, bool* wants_sync);
  void Finish(Pending * write);

  DB* const db_;
  const AsyncWriterOptions options_;
  static thread_local const Impl* calling_writer;  // in a writer's thread: its writer; else null

  Mutex mutex_{LockRank::kUtility};
  CondVar arrived_{&mutex_};  // a write, or the end; the writer's thread waits for it
  CondVar done_{&mutex_};     // a write is done; threads wait for room or for the end
  std::deque<Pending> queue_ GUARDED_BY(mutex_);
  size_t pending_writes_ GUARDED_BY(mutex_) = 0;  // accepted, and their callbacks not returned yet
  size_t pending_bytes_ GUARDED_BY(mutex_) = 0;   // of these
  uint64_t accepted_ GUARDED_BY(mutex_) = 0;      // ever
  uint64_t finished_ GUARDED_BY(mutex_) = 0;      // in whole groups
  bool is_closed_ GUARDED_BY(mutex_) = false;     // no write is accepted any more
  bool has_ended_ GUARDED_BY(mutex_) = false;     // the thread no longer uses this object
};

thread_local const AsyncWriter::Impl* AsyncWriter::Impl::calling_writer = nullptr;

// A batch that is larger than the limit is accepted when the queue is empty.
bool AsyncWriter::Impl::HasRoomLocked(size_t bytes) const {
  // Without this a batch above the limit of bytes would wait for ever.
  if (pending_writes_ == 0) return true;
  return pending_writes_ < options_.max_pending_writes &&
         pending_bytes_ + bytes <= options_.max_pending_bytes;
}

// Waits for room unless the caller must not wait.
Status AsyncWriter::Impl::Write(const WriteOptions& options, WriteBatch batch, Callback done) {
  // Counted before the batch moves into the queue.
  const size_t bytes = batch.GetDataSize();
  // A callback runs in the writer's thread, the only one that makes room, so it must not wait for
  // room.
  const bool may_wait = !options.no_slowdown && !IsWriterThread();
  MutexLock lock(&mutex_);
  while (!is_closed_ && !HasRoomLocked(bytes)) {
    if (!may_wait) return Status::Incomplete("AsyncWriter: too many writes are pending");
    done_.Wait();
  }
  if (is_closed_) return Status::Aborted("AsyncWriter: it is closed");
  try {
    queue_.push_back({options, std::move(batch), std::move(done), bytes, Status()});
    // Nothing was counted yet, so the state is as before the call.
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit("AsyncWriter: no memory for one more write");
  }
  accepted_++;
  pending_writes_++;
  pending_bytes_ += bytes;
  // One signal is enough, because only the writer's thread waits for arrivals.
  arrived_.Signal();
  assert(pending_writes_ <= options_.max_pending_writes);
  return Status::OK();
}

// Writes may finish in another order than they were accepted, but all writes of a group finish
// before those of the next. So finished_ counts whole groups.
Status AsyncWriter::Impl::Drain() {
  if (IsWriterThread()) {
    return Status::InvalidArgument("AsyncWriter: a callback cannot wait for itself");
  }
  MutexLock lock(&mutex_);
  // Only writes that were accepted before this call count; others may be accepted while it waits.
  const uint64_t last = accepted_;
  assert(finished_ <= accepted_);
  while (finished_ < last) done_.Wait();
  return Status::OK();
}

// Returns when all accepted writes have been done and the thread has ended.
Status AsyncWriter::Impl::Close() {
  if (IsWriterThread()) {
    return Status::InvalidArgument("AsyncWriter: a callback cannot wait for itself");
  }
  MutexLock lock(&mutex_);
  // A second call finds the writer closed and returns as soon as the thread has ended.
  is_closed_ = true;
  arrived_.Signal();
  done_.SignalAll();  // wakes threads that wait for room
  while (!has_ended_) done_.Wait();
  assert(queue_.empty() && pending_writes_ == 0 && pending_bytes_ == 0);
  return Status::OK();
}

// ---- functions of the writer's thread

void AsyncWriter::Impl::Run() {
  // For IsWriterThread(). Each writer has a thread of its own, so the variable never changes again.
  calling_writer = this;
  for (std::deque<Pending> group; TakeAll(&group); group.clear()) WriteGroup(&group);
}

// False: the queue is empty and closed; the thread no longer uses this object.
bool AsyncWriter::Impl::TakeAll(std::deque<Pending>* group) {
  assert(group != nullptr);
  assert(group->empty());
  MutexLock lock(&mutex_);
  // A closed writer still takes what was accepted, so no accepted write is lost.
  while (queue_.empty() && !is_closed_) arrived_.Wait();
  group->swap(queue_);
  if (!group->empty()) return true;
  // The last access to the object: Close() may return, and the destructor run, as soon as the mutex
  // is free.
  has_ended_ = true;
  done_.SignalAll();
  return false;
}

// Writes without a sync finish at once; the others wait for the one sync of the group.
void AsyncWriter::Impl::WriteGroup(std::deque<Pending>* group) {
  assert(group != nullptr);
  assert(!group->empty());
  bool wants_sync = false;
  for (Pending& write : *group) {
    WriteOne(&write, &wants_sync);
    if (!write.options.sync) Finish(&write);
  }
  // If the database refuses the sync, all writes that wait for it get the error, although they are
  // in the memtable.
  const Status synced = wants_sync ? db_->FlushWAL(/*sync=*/true) : Status::OK();
  for (Pending& write : *group) {
    if (!write.options.sync) continue;
    if (write.status.ok()) write.status = synced;
    Finish(&write);
  }
  MutexLock lock(&mutex_);
  assert(finished_ + group->size() <= accepted_);
  // Only now may Drain() return: all callbacks of the group have returned.
  finished_ += group->size();
  done_.SignalAll();
}

// If other options contradict the sync, the database refuses the write.
void AsyncWriter::Impl::WriteOne(Pending* write, bool* wants_sync) {
  assert(write != nullptr);
  assert(wants_sync != nullptr);
  WriteOptions options = write->options;
  // The sync is left to the group. A write that asks for a sync and has no log is contradictory;
  // its options are passed on unchanged, so that the database answers as to any other such write.
  options.sync = options.sync && options.disableWAL;
  write->status = db_->Write(options, &write->batch);
  *wants_sync |= write->options.sync && write->status.ok();
}

// Calls the callback, then frees the room of the write.
void AsyncWriter::Impl::Finish(Pending* write) {
  assert(write != nullptr);
  if (write->done) write->done(write->status);
  write->done = nullptr;  // releases what the callback holds before the write counts as done
  MutexLock lock(&mutex_);
  assert(pending_writes_ > 0 && pending_bytes_ >= write->bytes);
  pending_writes_--;
  pending_bytes_ -= write->bytes;
  done_.SignalAll();
}

// ---- the public class

AsyncWriter::AsyncWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AsyncWriter::~AsyncWriter() { IgnoreError(Close(), "it answers OK but in a callback"); }

// Starts the thread that writes. The database must outlive the writer.
Status AsyncWriter::Open(DB* db, const AsyncWriterOptions& options,
                         std::unique_ptr<AsyncWriter>* writer) {
  assert(writer != nullptr);
  writer->reset();
  if (db == nullptr) return Status::InvalidArgument("AsyncWriter: the database is a null pointer");
  if (options.max_pending_writes == 0 || options.max_pending_bytes == 0) {
    return Status::InvalidArgument("AsyncWriter: a limit of 0 would refuse every write");
  }
  auto impl = std::make_unique<Impl>(db, options);
  // From here on the destructor must wait for the thread, which Close() does.
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
