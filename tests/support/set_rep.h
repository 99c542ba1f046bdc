// SPDX-License-Identifier: Apache-2.0
//
// SetRepFactory: a memtable representation such as a program may provide, over std::set and a lock,
// with its own memory. It expects that insertions, the allocations before them and questions about
// its memory come one at a time, and ends the program if they do not.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "ashlar/memtablerep.h"

namespace ashlar {

// Counts the calls of all representations of the factory. Any thread.
struct SetRepCalls {
  std::atomic<int> made{0};
  std::atomic<int> sealed{0};
  std::atomic<int> inserted{0};
  std::atomic<int> with_hint{0};
  std::atomic<int> new_hints{0};
};

class SetRep final : public MemTableRep {
 public:
  SetRep(const KeyComparator& comparator, Allocator* allocator, SetRepCalls* calls,
         bool supports_snapshots)
      : MemTableRep(allocator),
        calls_(calls),
        supports_snapshots_(supports_snapshots),
        rows_(Less{&comparator}) {}

  KeyHandle Allocate(const size_t len, char** buf) override {
    const SingleThreadCheck check(&is_busy_);
    buffers_.push_back(std::make_unique<char[]>(len));
    *buf = buffers_.back().get();
    return *buf;
  }
  void Insert(KeyHandle handle) override { Enter(static_cast<const char*>(handle)); }
  bool InsertKey(KeyHandle handle) override { return Enter(static_cast<const char*>(handle)); }
  bool InsertKeyWithHint(KeyHandle handle, void** hint) override {
    ++calls_->with_hint;
    if (*hint == nullptr) ++calls_->new_hints;
    *hint = this;
    return InsertKey(handle);
  }
  void MarkReadOnly() override { ++calls_->sealed; }
  bool IsSnapshotSupported() const override { return supports_snapshots_; }
  bool Contains(const char* key) const override {
    const std::shared_lock lock(mutex_);
    return rows_.count(key) != 0;
  }
  size_t ApproximateMemoryUsage() override {
    const SingleThreadCheck check(&is_busy_);
    return buffers_.size() * 64;
  }
  MemTableRep::Iterator* GetIterator(Arena* /*arena*/) override { return new Walk(this); }

 private:
  class SingleThreadCheck {
   public:
    explicit SingleThreadCheck(std::atomic<bool>* is_busy) : is_busy_(is_busy) {
      if (is_busy_->exchange(true)) std::abort();
    }
    ~SingleThreadCheck() { is_busy_->store(false); }
    SingleThreadCheck(const SingleThreadCheck&) = delete;
    SingleThreadCheck& operator=(const SingleThreadCheck&) = delete;

   private:
    std::atomic<bool>* const is_busy_;
  };
  struct Less {
    using is_transparent = void;
    bool operator()(const char* a, const char* b) const { return (*order)(a, b) < 0; }
    bool operator()(const char* a, const Slice& b) const { return (*order)(a, b) < 0; }
    bool operator()(const Slice& a, const char* b) const { return (*order)(b, a) > 0; }
    const KeyComparator* order;
  };
  using Rows = std::set<const char*, Less>;

  // Keeps its position when other keys are inserted.
  class Walk final : public MemTableRep::Iterator {
   public:
    explicit Walk(const SetRep* rep) : rep_(rep) {}
    bool Valid() const override { return key_ != nullptr; }
    const char* key() const override { return key_; }
    void Next() override {
      MoveTo([this](const Rows& rows) { return rows.upper_bound(key_); });
    }
    void Prev() override {
      MoveTo([this](const Rows& rows) { return Before(rows, rows.lower_bound(key_)); });
    }
    void Seek(const Slice& internal_key, const char* /*memtable_key*/) override {
      MoveTo([&](const Rows& rows) { return rows.lower_bound(internal_key); });
    }
    void SeekForPrev(const Slice& internal_key, const char* /*memtable_key*/) override {
      MoveTo([&](const Rows& rows) { return Before(rows, rows.upper_bound(internal_key)); });
    }
    void SeekToFirst() override {
      MoveTo([](const Rows& rows) { return rows.begin(); });
    }
    void SeekToLast() override {
      MoveTo([](const Rows& rows) { return Before(rows, rows.end()); });
    }

   private:
    static Rows::const_iterator Before(const Rows& rows, Rows::const_iterator row) {
      return row == rows.begin() ? rows.end() : --row;
    }
    template <typename Find>
    void MoveTo(const Find& find) {
      const std::shared_lock lock(rep_->mutex_);
      const auto row = find(rep_->rows_);
      key_ = row == rep_->rows_.end() ? nullptr : *row;
    }

    const SetRep* const rep_;
    const char* key_ = nullptr;
  };

  bool Enter(const char* entry) {
    const SingleThreadCheck check(&is_busy_);
    ++calls_->inserted;
    const std::unique_lock lock(mutex_);
    return rows_.insert(entry).second;
  }

  SetRepCalls* const calls_;
  const bool supports_snapshots_;
  std::atomic<bool> is_busy_{false};
  std::vector<std::unique_ptr<char[]>> buffers_;  // no lock: allocations come one at a time
  mutable std::shared_mutex mutex_;
  Rows rows_;
};

class SetRepFactory final : public MemTableRepFactory {
 public:
  explicit SetRepFactory(bool supports_snapshots = true)
      : supports_snapshots_(supports_snapshots) {}

  using MemTableRepFactory::CreateMemTableRep;
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& comparator, Allocator* allocator,
                                 const SliceTransform*, Logger*) override {
    ++calls_.made;
    return new SetRep(comparator, allocator, &calls_, supports_snapshots_);
  }
  const char* Name() const override { return "test.SetRep"; }
  const SetRepCalls& calls() const { return calls_; }

 private:
  const bool supports_snapshots_;
  SetRepCalls calls_;
};

}  // namespace ashlar
