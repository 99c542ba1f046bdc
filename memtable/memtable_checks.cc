// SPDX-License-Identifier: Apache-2.0
//
// Entries stay in memory as long as their memtable, so a step may compare an entry with the
// previous one.
#include "memtable/memtable_checks.h"

#include <cassert>
#include <string>

#include "util/memory/arena.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string NameOf(const Slice& internal_key) {
  return StrCat("the entry with sequence number ", TrailerSeqno(ExtractTrailer(internal_key)));
}

class CheckedIterator final : public InternalIterator {
 public:
  CheckedIterator(InternalIterator* entries, const MemTableChecks& checks,
                  const InternalKeyComparator& comparator, IteratorHome home)
      : entries_(entries), checks_(checks), comparator_(comparator), home_(home) {
    assert(checks_.any());
  }
  ~CheckedIterator() override { DestroyIterator(entries_, home_); }

  void SeekToFirst() override {
    entries_->SeekToFirst();
    Show();
  }
  void SeekToLast() override {
    entries_->SeekToLast();
    Show();
  }
  void Seek(const Slice& target) override {
    if (checks_.looks_around()) {
      SeekForPrev(target);
      if (!status_.ok()) return;
    }
    entries_->Seek(target);
    Show();
    if (valid_ && checks_.order && comparator_.Compare(key_, target) < 0) FailOrder(key_);
  }
  void SeekForPrev(const Slice& target) override {
    entries_->SeekForPrev(target);
    Show();
    if (valid_ && checks_.order && comparator_.Compare(key_, target) > 0) FailOrder(key_);
  }
  ValuePin PinOfValue() const override { return entries_->PinOfValue(); }

 protected:
  void NextSlow() override {
    const Slice before = key_;
    entries_->Next();
    Show();
    if (valid_ && checks_.order && comparator_.Compare(before, key_) > 0) FailOrder(key_);
  }
  void PrevSlow() override {
    const Slice behind = key_;
    entries_->Prev();
    Show();
    if (valid_ && checks_.order && comparator_.Compare(key_, behind) > 0) FailOrder(key_);
  }

 private:
  // Takes over the state of the inner iterator and verifies the checksum of its entry.
  void Show() {
    status_ = entries_->status();
    valid_ = entries_->Valid() && status_.ok();
    if (!valid_) return;
    key_ = entries_->key();
    value_ = entries_->value();
    if (checks_.checksum_bytes == 0) return;
    status_ = CheckEntry(key_, value_, checks_.checksum_bytes);
    valid_ = status_.ok();
  }
  void FailOrder(const Slice& key) {
    status_ = Status::Corruption(StrCat("memtable: ", NameOf(key), " is out of order"));
    valid_ = false;
  }

  InternalIterator* const entries_;  // owned
  const MemTableChecks checks_;
  const InternalKeyComparator comparator_;
  const IteratorHome home_;
};

}  // namespace

Status CheckEntry(const Slice& internal_key, const Slice& value, size_t checksum_bytes) {
  assert(checksum_bytes >= 1);
  assert(checksum_bytes <= sizeof(uint64_t));
  const uint64_t expected = MemTableEntry::Checksum(internal_key, value, checksum_bytes);
  const uint64_t found = MemTableEntry::ChecksumBehind(value, checksum_bytes);
  if (expected == found) [[likely]]
    return Status::OK();
  return Status::Corruption(StrCat("memtable: ", NameOf(internal_key), ": expected checksum ",
                                   expected, ", found ", found));
}

InternalIterator* NewCheckedIterator(InternalIterator* entries, const MemTableChecks& checks,
                                     const InternalKeyComparator& comparator, Arena* arena) {
  assert(entries != nullptr);
  const IteratorHome home = HomeOf(arena);
  if (arena == nullptr) return new CheckedIterator(entries, checks, comparator, home);
  return new (arena->AllocateAligned(sizeof(CheckedIterator)))
      CheckedIterator(entries, checks, comparator, home);
}

}  // namespace ashlar
