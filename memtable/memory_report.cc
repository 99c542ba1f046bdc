// SPDX-License-Identifier: Apache-2.0
//
// Reserving, scheduling and freeing stay balanced, because exactly the reported bytes are given
// back.
#include "memtable/memory_report.h"

#include <cassert>
#include <utility>

namespace ashlar {

MemoryReport::MemoryReport(std::shared_ptr<WriteBufferManager> manager)
    : manager_(std::move(manager)) {
  if (manager_ != nullptr) due_bytes_.store(kStepBytes, std::memory_order_relaxed);
}

MemoryReport::~MemoryReport() {
  if (told_bytes_ == 0) return;
  if (!is_immutable_) EndActive();
  manager_->FreeMem(told_bytes_);
  if (is_kept_) manager_->memory_kept_.fetch_sub(told_bytes_);
}

void MemoryReport::Tell(size_t bytes) {
  assert(!is_immutable_);
  if (manager_ == nullptr || bytes <= told_bytes_) return;
  if (told_bytes_ == 0) manager_->active_memtables_.fetch_add(1, std::memory_order_relaxed);
  manager_->ReserveMem(bytes - told_bytes_);
  told_bytes_ = bytes;
  due_bytes_.store(bytes + kStepBytes, std::memory_order_relaxed);
}

void MemoryReport::Seal(size_t bytes) {
  if (is_immutable_) return;
  Tell(bytes);
  is_immutable_ = true;
  if (told_bytes_ > 0) EndActive();
}

void MemoryReport::Keep() {
  assert(is_immutable_);
  if (is_kept_ || told_bytes_ == 0) return;
  is_kept_ = true;
  manager_->memory_kept_.fetch_add(told_bytes_);
  manager_->MaybeEndWriteStall();
}

void MemoryReport::EndActive() {
  manager_->active_memtables_.fetch_sub(1, std::memory_order_relaxed);
  manager_->ScheduleFreeMem(told_bytes_);
}

size_t MemoryReport::MeanActiveBytes(const WriteBufferManager& manager) {
  const size_t count = manager.active_memtables_.load(std::memory_order_relaxed);
  return count == 0 ? 0 : manager.mutable_memtable_memory_usage() / count;
}

}  // namespace ashlar
