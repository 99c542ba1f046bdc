// SPDX-License-Identifier: Apache-2.0
//
// SuperVersion contains everything that a reader of one column family needs: the memtables, the
// version, and the current options. It is immutable.
//
// A family publishes its super version through one atomic pointer. Short reads use it inside an
// epoch and change no reference count; iterators take a counted reference. When a super version is
// replaced, the old one is retired through the epoch, so that a reader that has just loaded the
// pointer can still use it.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/types.h"
#include "util/keys/internal_key.h"
#include "util/threads/epoch.h"

namespace ashlar {

class MemTable;
class Version;
class VersionSet;
struct ColumnFamilyOptions;

class SuperVersion : private EpochRetired {
 public:
  struct Parts {
    MemTable* mem = nullptr;
    std::vector<MemTable*> immutables;  // newest first
    Version* version = nullptr;
    std::shared_ptr<const ColumnFamilyOptions> options;
    uint64_t number = 0;  // 1 for the first super version of the family, then counting up
    // Readers see no entry with a higher number. Below kMaxSequenceNumber only where another
    // process writes the database: there the memtable may hold entries that belong to later super
    // versions.
    SequenceNumber newest_seqno = kMaxSequenceNumber;
    // Of the versions of a key with a timestamp below it some may be missing; empty: none is.
    std::string full_history_ts_low;
  };

  // Takes a reference on each part. The new object has one reference, which belongs to the
  // publisher.
  SuperVersion(Parts parts, VersionSet* versions);
  SuperVersion(const SuperVersion&) = delete;
  SuperVersion& operator=(const SuperVersion&) = delete;

  MemTable* mem() const { return parts_.mem; }
  const std::vector<MemTable*>& immutables() const { return parts_.immutables; }
  Version* version() const { return parts_.version; }
  const ColumnFamilyOptions& options() const { return *parts_.options; }
  const std::shared_ptr<const ColumnFamilyOptions>& shared_options() const {
    return parts_.options;
  }
  uint64_t number() const { return parts_.number; }
  SequenceNumber newest_seqno() const { return parts_.newest_seqno; }
  const std::string& full_history_ts_low() const { return parts_.full_history_ts_low; }
  // Whether readers with ReadOptions::ignore_range_deletions may leave range tombstones out. False
  // if scans write range tombstones: those replace point tombstones, which flushes and compactions
  // then drop.
  bool MayIgnoreRangeTombstones() const;
  // The ids of the memtables, newest first, and the number of the version.
  std::string DebugString() const;

  // Releases the publisher's reference when no reader can use a pointer any more that it has loaded
  // inside an epoch.
  static void Retire(SuperVersion* super_version);

 private:
  friend class SuperVersionRef;

  ~SuperVersion();
  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  const Parts parts_;
  VersionSet* const versions_;  // outlives every super version
  std::atomic<int> refs_{1};
};

// SuperVersionRef is a counted reference: it keeps a super version alive outside of epochs.
// Releasing it may free memtables and make files obsolete; any thread may do so, without locks
// held.
class SuperVersionRef {
 public:
  SuperVersionRef() = default;
  // Called inside the epoch in which the pointer was loaded, or while another reference is held.
  explicit SuperVersionRef(SuperVersion* super_version) : super_version_(super_version) {
    assert(super_version != nullptr);
    super_version_->Ref();
  }
  ~SuperVersionRef() { Reset(); }
  SuperVersionRef(SuperVersionRef&& other) noexcept
      : super_version_(std::exchange(other.super_version_, nullptr)) {}
  SuperVersionRef& operator=(SuperVersionRef&& other) noexcept {
    if (this != &other) {
      Reset();
      super_version_ = std::exchange(other.super_version_, nullptr);
    }
    return *this;
  }

  const SuperVersion* get() const { return super_version_; }
  const SuperVersion& operator*() const {
    assert(super_version_ != nullptr);
    return *super_version_;
  }
  const SuperVersion* operator->() const {
    assert(super_version_ != nullptr);
    return super_version_;
  }
  explicit operator bool() const { return super_version_ != nullptr; }

  void Reset() {
    if (super_version_ != nullptr) std::exchange(super_version_, nullptr)->Unref();
  }

 private:
  SuperVersion* super_version_ = nullptr;
};

}  // namespace ashlar
