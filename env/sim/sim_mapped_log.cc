// SPDX-License-Identifier: Apache-2.0
//
// Other threads may store while the simulation compares. It then sees one part of a store now and
// the rest the next time. A kernel that writes the page out at that moment would do the same.
#include "env/sim/sim_mapped_log.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "env/sim/sim_fs.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Small, so that tests with little data still grow their logs several times.
constexpr uint64_t kSegmentBytes = 4096;
// The memory is allocated at once, so that base_ never moves.
constexpr uint64_t kMaxCapacity = uint64_t{1} << 20;
constexpr size_t kWordBytes = sizeof(uint64_t);
constexpr size_t kRunGapBytes = 64;  // a changed range may contain this many equal bytes in a row

// These functions race with storing threads on purpose, so that the thread sanitizer must not check
// them. Volatile accesses keep the compiler from calling memcmp and memcpy, which it would check.
#define ASHLAR_RACES_WITH_STORES __attribute__((no_sanitize("thread")))

// The first word at or after `begin` that differs, or `end`.
ASHLAR_RACES_WITH_STORES size_t FindChange(const char* live, const char* seen, size_t begin,
                                           size_t end) {
  assert(begin % kWordBytes == 0);
  assert(end % kWordBytes == 0);
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

// Whether the byte differs. Equal bytes at both ends of a changed range are not reported as
// written, because they may be synced already.
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
  assert(fs_ != nullptr);
  assert(file_ != nullptr);
  assert(CanHold(content.size()));
  assert(content.size() <= capacity_);
  base_ = memory_.data();
  CopyBytes(content.data(), memory_.data(), content.size());
  allocated_.store(content.size(), std::memory_order_release);
  fs_->AddMapping(this);
}

SimMappedLog::~SimMappedLog() {
  // Closed already.
  if (base_ == nullptr) return;
  fs_->RemoveMapping(this);
  IgnoreError(fs_->RunWhole(CallOf(CallKind::kClose, 0), [] { return IOStatus::OK(); }),
              "a destructor cannot return errors");
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

// If two threads want to grow the log, the second finds it done.
Status SimMappedLog::Grow(uint64_t new_end) {
  assert(new_end % kSegmentBytes == 0);
  if (new_end > capacity_) {
    return Status::InvalidArgument(StrCat("grow log: ", path_), "beyond the capacity");
  }
  return fs_->RunWhole(CallOf(CallKind::kGrow, new_end), [&] {
    const uint64_t old_end = allocated();
    if (new_end <= old_end) return IOStatus::OK();
    // A truncation beyond the quota writes a part; the log must not keep it.
    IOStatus status = file_->Truncate(new_end, IOOptions(), nullptr);
    if (!status.ok()) {
      IgnoreError(file_->Truncate(old_end, IOOptions(), nullptr), "the first error is returned");
      return status;
    }
    // The new bytes are zero in memory_ as well.
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
  // From now on stores are lost, which the log writer rules out by closing last.
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
  // Each round reports one range: changed words, with gaps of at most kRunGapBytes of equal words.
  for (size_t at = FindChange(live, seen_.data(), 0, end); at < end;) {
    const size_t first_word = at;
    size_t run_end = at;
    for (; at < end && at <= run_end + kRunGapBytes;
         at = FindChange(live, seen_.data(), at + kWordBytes, end)) {
      run_end = at + kWordBytes;
    }
    assert(first_word < run_end && run_end <= end);
    size_t begin = first_word, last = run_end - 1;
    while (begin < last && !DiffersAt(live, seen_.data(), begin)) ++begin;
    while (last > begin && !DiffersAt(live, seen_.data(), last)) --last;
    FileCall call = CallOf(CallKind::kStore, last + 1 - begin);
    call.offset = begin;
    // Copies exactly the reported range. Bytes next to it that were stored meanwhile must still
    // differ the next time.
    CopyBytes(live + begin, seen_.data() + begin, call.size);
    const Slice data(seen_.data() + begin, call.size);
    IgnoreError(file_->PositionedAppend(data, begin, IOOptions(), nullptr),
                "the range is within the file");
    note(call, data);
  }
}

void SimMappedLog::Overwrite(const std::string& content) {
  assert(content.size() >= seen_.size());
  seen_.assign(content, 0, seen_.size());
  seen_.resize(allocated());
  CopyBytes(seen_.data(), memory_.data(), seen_.size());
}

}  // namespace ashlar
