// SPDX-License-Identifier: Apache-2.0
//
// ReadView is one consistent state of a column family: a super version and the newest sequence
// number that a reader may see in it. It keeps the super version and the family alive until it is
// destroyed. ReadViewSource creates views.
#pragma once

#include <atomic>
#include <cassert>
#include <utility>

#include "ashlar/types.h"
#include "db/read/super_version.h"

namespace ashlar {

class EmptyRanges;
class ReadView;
class Snapshot;

// Which thread deletes files that become obsolete when a view is released: the releasing one, or a
// background thread.
enum class Purge : uint8_t { kNow, kInBackground };

// The source of the newest sequence number that is visible to readers. Called by any thread.
class VisibleSeqnoSource {
 public:
  virtual ~VisibleSeqnoSource() = default;
  virtual SequenceNumber VisibleSeqno() const = 0;
};

// The base class of a column family: the part that readers know. Any thread.
class ReadViewSource {
 public:
  virtual ~ReadViewSource() = default;

  // For short reads. Called inside an epoch; the pointer is valid until the caller leaves it.
  SuperVersion* super_version() const { return super_version_.load(std::memory_order_acquire); }

  // A view of the newest state. The super version is loaded before the sequence number: otherwise a
  // flush in between could drop a version that a reader at the older number needs.
  ReadView AcquireView();
  // The state that answers for reads as of the snapshot, which may be null: the newest one, unless
  // the snapshot holds one of its own.
  virtual ReadView AcquireViewFor(const Snapshot* snapshot) = 0;
  // Ranges that are known to have no live keys; null: they are not recorded.
  EmptyRanges* empty_ranges() const { return empty_ranges_; }
  // Called when a view has released its super version: deletes files that have become obsolete, at
  // once or in a background thread. Without locks held, and outside of epochs.
  virtual void OnViewReleased(Purge purge) = 0;
  // Views keep the family alive, even after it is dropped. Releasing the last pin of a dropped
  // family destroys it and deletes its files, at once or in a background thread.
  virtual void PinSource() = 0;
  virtual void UnpinSource(Purge purge) = 0;

 protected:
  // Written under the DB mutex (release), read by readers within an epoch (acquire).
  std::atomic<SuperVersion*> super_version_{nullptr};
  EmptyRanges* empty_ranges_ = nullptr;
};

// Movable. Destroyed without locks held, and outside of epochs. Threads: one at a time.
class ReadView {
 public:
  ReadView() = default;
  ReadView(ReadViewSource* source, SuperVersionRef super_version, SequenceNumber seqno)
      : source_(source), super_version_(std::move(super_version)), seqno_(seqno) {
    assert(source_ != nullptr);
    source_->PinSource();
  }
  ~ReadView() { Reset(); }
  ReadView(ReadView&& other) noexcept
      : source_(std::exchange(other.source_, nullptr)),
        super_version_(std::move(other.super_version_)),
        seqno_(other.seqno_),
        purge_(other.purge_) {}
  ReadView& operator=(ReadView&& other) noexcept {
    if (this == &other) return *this;
    Reset();
    source_ = std::exchange(other.source_, nullptr);
    super_version_ = std::move(other.super_version_);
    seqno_ = other.seqno_;
    purge_ = other.purge_;
    return *this;
  }

  ReadViewSource* source() const { return source_; }
  const SuperVersion* super_version() const {
    assert(super_version_);
    return super_version_.get();
  }
  SequenceNumber seqno() const { return seqno_; }
  // Replaces the number by another one that the super version can answer for: that of a snapshot,
  // or of a view that was taken together with this one.
  void ReadAsOf(SequenceNumber seqno) { seqno_ = seqno; }

  // From now on obsolete files are left to a background thread when the view is released.
  void PurgeInBackground() { purge_ = Purge::kInBackground; }

  // Releases the super version and the pin on the source.
  void Reset() {
    if (source_ == nullptr) return;
    super_version_.Reset();
    source_->OnViewReleased(purge_);
    std::exchange(source_, nullptr)->UnpinSource(purge_);
  }

 private:
  ReadViewSource* source_ = nullptr;  // pinned; null: the view is empty
  SuperVersionRef super_version_;
  SequenceNumber seqno_ = 0;
  Purge purge_ = Purge::kNow;
};

inline ReadView ReadViewSource::AcquireView() { return AcquireViewFor(nullptr); }

}  // namespace ashlar
