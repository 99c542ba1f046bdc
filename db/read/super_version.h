// SPDX-License-Identifier: Apache-2.0
//
// SuperVersion holds everything that a reader of one column family needs: the memtables, the
// version, and the current options. Immutable.
//
// A family publishes its super version in one atomic pointer. Short reads use it within an epoch
// and touch no count; iterators take a counted reference. Replacing it retires the old one through
// the epoch, so that a reader who has just loaded the pointer is safe.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/types.h"
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
    uint64_t number = 0;  // counts the super versions of the family
  };

  // Takes a reference on each part. Starts with one reference, the publisher's.
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
  // Whether readers with ReadOptions::ignore_range_deletions leave range tombstones out. Not where
  // scans make them: such a one stands for tombstones of keys, which flushes and compactions drop.
  bool MayIgnoreRangeTombstones() const;
  // Memtables by id, newest first, and the number of the version.
  std::string DebugString() const;

  // Releases the publisher's reference once no reader can still use the pointer that it loaded.
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

// SuperVersionRef is a counted reference: it keeps a super version alive outside of epochs. Giving
// it back, in any thread and without locks held, may free memtables and make files obsolete.
class SuperVersionRef {
 public:
  SuperVersionRef() = default;
  // Within the epoch in which the pointer was loaded, or while another reference is held.
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
  const SuperVersion& operator*() const { return *super_version_; }
  const SuperVersion* operator->() const { return super_version_; }
  explicit operator bool() const { return super_version_ != nullptr; }

  void Reset() {
    if (super_version_ != nullptr) std::exchange(super_version_, nullptr)->Unref();
  }

 private:
  SuperVersion* super_version_ = nullptr;
};

}  // namespace ashlar
