// SPDX-License-Identifier: Apache-2.0
//
// A record lies on the stack of its thread; the list has pointers. A thread finds its own through a
// thread-local variable.
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

// Of the calling thread, if it is one of a pool.
struct OwnPlace {
  const ThreadStatusUpdater* list = nullptr;
  void* record = nullptr;
};
thread_local OwnPlace own_place;

// As Env::GetThreadID().
uint64_t OwnThreadId() {
  uint64_t id = 0;
  const pthread_t self = pthread_self();
  memcpy(&id, &self, std::min(sizeof(id), sizeof(self)));
  return id;
}

// Of a clock that goes on when the time of day is set.
uint64_t NowMicros() { return SystemClock::Default()->NowNanos() / 1000; }

}  // namespace

ThreadStatus ThreadStatusUpdater::StatusOf(const Record& record, uint64_t now_micros) {
  const OperationFacts& operation = record.operation;
  const bool is_idle = operation.type == ThreadStatus::OP_UNKNOWN;
  assert(!is_idle || operation.db_name.empty());
  // Another thread may have begun after the clock was read.
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

// Records of other threads lie on stacks that nobody has any more.
void ThreadStatusUpdater::MendInChild() NO_THREAD_SAFETY_ANALYSIS {
  const uint64_t own_id = OwnThreadId();
  records_.remove_if([own_id](const Record* record) { return record->thread_id != own_id; });
}

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
  assert(own_place.list == nullptr);  // a thread is of one pool
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

TrackedOperation::TrackedOperation(ThreadStatusUpdater* list, OperationFacts facts)
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
  assert(property >= 0 && property < ThreadStatus::kNumOperationProperties);
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

// A program's code, a filter say, may have reset the context.
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
