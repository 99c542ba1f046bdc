// SPDX-License-Identifier: Apache-2.0
//
// The record of a thread is on the stack of that thread, and the list holds pointers to the
// records. A thread finds its own record through a thread-local variable.
#include "env/thread_list.h"

#include <pthread.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "ashlar/env.h"
#include "ashlar/iostats_context.h"
#include "ashlar/system_clock.h"

namespace ashlar {

ThreadStatusUpdater* CreateThreadStatusUpdater() { return new ThreadStatusUpdater; }

namespace {

// Set by TrackedThread. A record is valid as long as its thread is tracked.
// The record of the calling thread and the list that it is in, if the thread belongs to a pool.
struct OwnPlace {
  const ThreadStatusUpdater* list = nullptr;
  void* record = nullptr;
};
thread_local OwnPlace own_place;

// The same number as Env::GetThreadID().
uint64_t OwnThreadId() {
  uint64_t id = 0;
  const pthread_t self = pthread_self();
  memcpy(&id, &self, std::min(sizeof(id), sizeof(self)));
  return id;
}

// A monotonic clock, which is not affected by setting the time of day.
uint64_t NowMicros() { return SystemClock::Default()->NowNanos() / 1000; }

}  // namespace

ThreadStatus ThreadStatusUpdater::StatusOf(const Record& record, uint64_t now_micros) {
  const OperationInfo& operation = record.operation;
  const bool is_idle = operation.type == ThreadStatus::OP_UNKNOWN;
  assert(!is_idle || operation.db_name.empty());
  // Another thread may have begun its operation after `now_micros` was read.
  const uint64_t elapsed_micros =
      is_idle ? 0 : now_micros - std::min(now_micros, record.start_micros);
  return {record.thread_id,
          record.type,
          operation.db_name,
          operation.family_name,
          operation.type,
          elapsed_micros,
          operation.stage,
          operation.properties.data(),
          ThreadStatus::STATE_UNKNOWN};
}

// The other threads do not exist in the child, and the stacks that their records are on may be
// reused.
void ThreadStatusUpdater::MendInChild() NO_THREAD_SAFETY_ANALYSIS {
  const uint64_t own_id = OwnThreadId();
  records_.remove_if([own_id](const Record* record) { return record->thread_id != own_id; });
}

// Each record is consistent; different threads may be seen at slightly different moments.
std::vector<ThreadStatus> ThreadStatusUpdater::List() const {
  const uint64_t now_micros = NowMicros();
  std::vector<ThreadStatus> threads;
  MutexLock lock(&mutex_);
  for (const Record* record : records_) threads.push_back(StatusOf(*record, now_micros));
  return threads;
}

TrackedThread::TrackedThread(ThreadStatusUpdater* list, ThreadStatus::ThreadType type)
    : list_(list) {
  if (list_ == nullptr) return;
  assert(own_place.list == nullptr);  // a thread belongs to at most one pool
  record_.thread_id = OwnThreadId();
  record_.type = type;
  own_place = {list_, &record_};
  MutexLock lock(&list_->mutex_);
  list_->records_.push_back(&record_);
}

TrackedThread::~TrackedThread() {
  if (list_ == nullptr) return;
  own_place = OwnPlace();
  MutexLock lock(&list_->mutex_);
  assert(record_.operation.type == ThreadStatus::OP_UNKNOWN);
  list_->records_.remove(&record_);
}

// Operations nest: the state from before is restored at the end.
TrackedOperation::TrackedOperation(ThreadStatusUpdater* list, OperationInfo facts)
    : list_(list),
      record_(list != nullptr && own_place.list == list
                  ? static_cast<ThreadStatusUpdater::Record*>(own_place.record)
                  : &own_) {
  if (list_ == nullptr) return;
  assert(facts.type != ThreadStatus::OP_UNKNOWN);
  MutexLock lock(&list_->mutex_);
  if (record_ == &own_) {
    own_.thread_id = OwnThreadId();
    list_->records_.push_back(&own_);
  }
  // A thread with a record of its own appears with the new operation; no second record is added.
  before_ = *record_;
  record_->operation = std::move(facts);
  record_->start_micros = NowMicros();
}

TrackedOperation::~TrackedOperation() {
  if (list_ == nullptr) return;
  MutexLock lock(&list_->mutex_);
  *record_ = std::move(before_);
  if (record_ == &own_) list_->records_.remove(&own_);
}

void TrackedOperation::SetStage(ThreadStatus::OperationStage stage) {
  if (list_ == nullptr) return;
  MutexLock lock(&list_->mutex_);
  record_->operation.stage = stage;
}

void TrackedOperation::Add(int property, uint64_t amount) {
  assert(property >= 0);
  assert(property < ThreadStatus::kNumOperationProperties);
  if (list_ == nullptr || amount == 0) return;
  MutexLock lock(&list_->mutex_);
  record_->operation.properties[static_cast<size_t>(property)] += amount;
}

TrackedBytes::TrackedBytes(TrackedOperation* operation, int read_property, int written_property)
    : operation_(operation), read_property_(read_property), written_property_(written_property) {
  if (operation_ == nullptr) return;
  told_read_bytes_ = get_iostats_context()->bytes_read;
  told_written_bytes_ = get_iostats_context()->bytes_written;
}

// The counters may be smaller than at the last call: code of the program, such as a compaction
// filter, may have reset the context.
void TrackedBytes::Tell() {
  if (operation_ == nullptr) return;
  const IOStatsContext& io = *get_iostats_context();
  const uint64_t read = io.bytes_read - std::min(io.bytes_read, told_read_bytes_);
  const uint64_t written = io.bytes_written - std::min(io.bytes_written, told_written_bytes_);
  if (read_property_ != kNone) operation_->Add(read_property_, read);
  if (written_property_ != kNone) operation_->Add(written_property_, written);
  told_read_bytes_ = io.bytes_read;
  told_written_bytes_ = io.bytes_written;
}

}  // namespace ashlar
