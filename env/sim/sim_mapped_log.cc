// SPDX-License-Identifier: Apache-2.0
//
// Other threads may store while the simulation looks. It then sees a part of the store now and the
// rest the next time, as a kernel would that writes the page back meanwhile.
#include "env/sim/sim_mapped_log.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "env/sim/sim_fs.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr uint64_t kSegmentBytes = 4096;
constexpr uint64_t kMaxCapacity = uint64_t{1} << 20;
constexpr size_t kWordBytes = sizeof(uint64_t);
constexpr size_t kRunGapBytes = 64;  // equal bytes that do not end a changed run

// The races with storing threads are meant, so the thread sanitizer is not asked. Volatile keeps
// the compiler from calling memcmp and memcpy, which it would ask.
#define ASHLAR_RACES_WITH_STORES __attribute__((no_sanitize("thread")))

// The first word at or behind `begin` that differs; `end` if none does.
ASHLAR_RACES_WITH_STORES size_t FindChange(const char* live, const char* seen, size_t begin,
                                           size_t end) {
  for (; begin < end; begin += kWordBytes) {
    if (*reinterpret_cast<const volatile uint64_t*>(live + begin) !=
        *reinterpret_cast<const uint64_t*>(seen + begin)) {
      break;
    }
  }
  return begin;
}

ASHLAR_RACES_WITH_STORES void CopyBytes(const char* from, char* to, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    *static_cast<volatile char*>(to + i) = *static_cast<const volatile char*>(from + i);
  }
}

// Equal bytes at the border of two words: what was synced before must not seem to be written again.
ASHLAR_RACES_WITH_STORES bool DiffersAt(const char* live, const char* seen, size_t offset) {
  return *static_cast<const volatile char*>(live + offset) != seen[offset];
}

}  // namespace

bool SimMappedLog::CanHold(uint64_t bytes) {
  return bytes % kSegmentBytes == 0 && bytes <= kMaxCapacity;
}

SimMappedLog::SimMappedLog(SimFS* fs, const FaultFileContext& context,
                           std::unique_ptr<FSWritableFile> file, uint64_t capacity,
                           const std::string& content)
    : MappedLogFile(context.path, nullptr, std::min(capacity, kMaxCapacity)),
      fs_(fs),
      context_(context),
      file_(std::move(file)),
      memory_(kMaxCapacity),
      seen_(content) {
  assert(CanHold(content.size()) && content.size() <= capacity_);
  base_ = memory_.data();
  CopyBytes(content.data(), memory_.data(), content.size());
  allocated_.store(content.size(), std::memory_order_release);
  fs_->AddMapping(this);
}

SimMappedLog::~SimMappedLog() {
  if (base_ == nullptr) return;
  fs_->RemoveMapping(this);
  IgnoreError(fs_->RunWhole(CallOf(CallKind::kClose, 0), [] { return IOStatus::OK(); }),
              "a destructor has nobody to tell");
}

FileCall SimMappedLog::CallOf(CallKind kind, uint64_t size) const {
  FileCall call;
  call.kind = kind;
  call.path = context_.path;
  call.file_id = context_.file_id;
  call.size = size;
  return call;
}

Status SimMappedLog::EnsureAllocated(uint64_t end) {
  if (end <= allocated()) return Status::OK();
  return Grow((end + kSegmentBytes - 1) / kSegmentBytes * kSegmentBytes);
}

Status SimMappedLog::PopulateAhead(uint64_t end) {
  return end <= allocated() ? Status::OK() : Grow(allocated() + kSegmentBytes);
}

// Two threads may want the same: the second finds it done.
Status SimMappedLog::Grow(uint64_t new_end) {
  if (new_end > capacity_) {
    return Status::InvalidArgument(StrCat("grow log: ", path_), "beyond the capacity");
  }
  return fs_->RunWhole(CallOf(CallKind::kGrow, new_end), [&] {
    const uint64_t old_end = allocated();
    if (new_end <= old_end) return IOStatus::OK();
    IOStatus status = file_->Truncate(new_end, IOOptions(), nullptr);
    if (!status.ok()) {
      IgnoreError(file_->Truncate(old_end, IOOptions(), nullptr), "the first error counts");
      return status;
    }
    seen_.resize(new_end);
    allocated_.store(new_end, std::memory_order_release);
    return status;
  });
}

Status SimMappedLog::SyncNow() {
  return fs_->RunWhole(CallOf(CallKind::kSync, 0), [] { return IOStatus::OK(); });
}

Status SimMappedLog::Close(uint64_t final_size) {
  assert(final_size <= allocated() || final_size == kKeepsSize);
  if (base_ == nullptr) return Status::OK();
  fs_->RemoveMapping(this);
  base_ = nullptr;
  Status status;
  if (final_size != kKeepsSize) {
    status = fs_->RunWhole(CallOf(CallKind::kTruncate, final_size),
                           [&] { return file_->Truncate(final_size, IOOptions(), nullptr); });
  }
  status.UpdateIfOk(fs_->RunWhole(CallOf(CallKind::kClose, 0), [] { return IOStatus::OK(); }));
  return status;
}

void SimMappedLog::TakeStores(const std::function<void(const FileCall&, const Slice&)>& note) {
  const char* const live = memory_.data();
  const size_t end = seen_.size();
  assert(end % kWordBytes == 0);
  for (size_t at = FindChange(live, seen_.data(), 0, end); at < end;) {
    const size_t first_word = at;
    size_t run_end = at;
    for (; at < end && at <= run_end + kRunGapBytes;
         at = FindChange(live, seen_.data(), at + kWordBytes, end)) {
      run_end = at + kWordBytes;
    }
    size_t begin = first_word, last = run_end - 1;
    while (begin < last && !DiffersAt(live, seen_.data(), begin)) ++begin;
    while (last > begin && !DiffersAt(live, seen_.data(), last)) --last;
    FileCall call = CallOf(CallKind::kStore, last + 1 - begin);
    call.offset = begin;
    // Nothing beside it: what is stored there meanwhile must still look new the next time.
    CopyBytes(live + begin, seen_.data() + begin, call.size);
    const Slice data(seen_.data() + begin, call.size);
    IgnoreError(file_->PositionedAppend(data, begin, IOOptions(), nullptr), "inside the file");
    note(call, data);
  }
}

void SimMappedLog::Overwrite(const std::string& content) {
  seen_.assign(content, 0, seen_.size());
  seen_.resize(allocated());
  CopyBytes(seen_.data(), memory_.data(), seen_.size());
}

}  // namespace ashlar
