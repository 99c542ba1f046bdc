// SPDX-License-Identifier: Apache-2.0
//
// ReadView is one consistent state of a column family: a super version and the newest sequence
// number a reader may see in it. It keeps both alive, and the family, until it is destroyed.
// ReadViewSource hands views out.
#pragma once

#include <atomic>
#include <cassert>
#include <utility>

#include "ashlar/types.h"
#include "db/read/super_version.h"

namespace ashlar {

class EmptyRanges;
class ReadView;

// Who deletes files that become obsolete when a view is given back.
enum class Purge : uint8_t { kNow, kInBackground };

// Source of the newest sequence number that is visible to readers. Any thread.
class VisibleSeqnoSource {
 public:
  virtual ~VisibleSeqnoSource() = default;
  virtual SequenceNumber VisibleSeqno() const = 0;
};

// The base of a column family: what readers know of it. Any thread.
class ReadViewSource {
 public:
  virtual ~ReadViewSource() = default;

  // For short reads. The pointer is valid until the caller leaves its epoch.
  SuperVersion* super_version() const { return super_version_.load(std::memory_order_acquire); }

  // The newest state. The super version is loaded before the sequence number: the other way round,
  // a flush in between could drop a version that the number needs.
  virtual ReadView AcquireView() = 0;
  // Where nothing lives; null: nobody keeps that.
  EmptyRanges* empty_ranges() const { return empty_ranges_; }
  // A super version was given back: files may have become obsolete, and are deleted, now or by a
  // background thread. Without locks held, and outside of epochs.
  virtual void OnViewReleased(Purge purge) = 0;
  // Views keep the family alive, also when it is dropped. With the last one it goes, and its files
  // with it, now or by a background thread.
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
  // Another number that the super version can answer for: of a snapshot, or of a view that was
  // taken together with this one.
  void ReadAsOf(SequenceNumber seqno) { seqno_ = seqno; }

  // What is obsolete afterwards is left to a background thread.
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

}  // namespace ashlar
