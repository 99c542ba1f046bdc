// SPDX-License-Identifier: Apache-2.0
//
// Converts between the entries of a program's representation and those of the memtable.
#include "memtable/user_rep.h"

#include <cassert>

#include "memtable/entry.h"
#include "util/keys/coding.h"
#include "util/memory/arena.h"

namespace ashlar {
namespace {

struct DecodedEntry {
  Slice internal_key;
  Slice value;
};

// Splits an entry that Insert() has encoded.
DecodedEntry Decode(const char* entry) {
  DecodedEntry decoded;
  decoded.internal_key = GetLengthPrefixedSlice(entry);
  const char* const behind_key = decoded.internal_key.data() + decoded.internal_key.size();
  decoded.value = GetLengthPrefixedSlice(behind_key);
  return decoded;
}

}  // namespace

class UserRep::KeyComparator final : public MemTableRep::KeyComparator {
 public:
  explicit KeyComparator(const InternalKeyComparator& comparator) : comparator_(comparator) {}
  int operator()(const char* a, const char* b) const override {
    return comparator_.Compare(GetLengthPrefixedSlice(a), GetLengthPrefixedSlice(b));
  }
  int operator()(const char* a, const Slice& b) const override {
    return comparator_.Compare(GetLengthPrefixedSlice(a), b);
  }
  const InternalKeyComparator& order() const { return comparator_; }

 private:
  const InternalKeyComparator comparator_;
};

UserRep::UserRep(const InternalKeyComparator& comparator, const RepresentationOptions& options,
                 size_t checksum_bytes)
    : factory_(options.factory),
      prefixes_(options.prefixes),
      hint_prefixes_(options.hint_prefixes),
      checksum_bytes_(checksum_bytes),
      is_concurrent_(options.factory->IsInsertConcurrentlySupported()),
      comparator_(std::make_unique<const KeyComparator>(comparator)) {}

UserRep::~UserRep() = default;

std::unique_ptr<UserRep> UserRep::Make(const InternalKeyComparator& comparator,
                                       const RepresentationOptions& options, size_t checksum_bytes,
                                       Allocator* allocator) {
  assert(options.factory != nullptr);
  std::unique_ptr<UserRep> made(new UserRep(comparator, options, checksum_bytes));
  made->rep_.reset(options.factory->CreateMemTableRep(
      *made->comparator_, allocator, options.prefixes.get(), /*logger=*/nullptr, options.family));
  if (made->rep_ == nullptr) return nullptr;
  made->memory_bytes_.store(made->rep_->ApproximateMemoryUsage(), std::memory_order_relaxed);
  return made;
}

bool UserRep::Insert(const Slice& user_key, uint64_t trailer, const Slice& value) {
  bool is_new = false;
  if (is_concurrent_) {
    is_new = rep_->InsertKeyConcurrently(NewEntry(user_key, trailer, value));
  } else {
    MutexLock lock(&mutex_);
    is_new = InsertLocked(NewEntry(user_key, trailer, value), user_key);
    memory_bytes_.store(rep_->ApproximateMemoryUsage(), std::memory_order_relaxed);
  }
  if (is_new) has_entries_.store(true, std::memory_order_release);
  return is_new;
}

KeyHandle UserRep::NewEntry(const Slice& user_key, uint64_t trailer, const Slice& value) {
  const size_t key_bytes = user_key.size() + kTrailerBytes;
  const size_t bytes = static_cast<size_t>(VarintLength(key_bytes)) + key_bytes +
                       static_cast<size_t>(VarintLength(value.size())) + value.size() +
                       checksum_bytes_;
  char* memory = nullptr;
  const KeyHandle handle = rep_->Allocate(bytes, &memory);
  assert(memory != nullptr);  // guaranteed by MemTableRep, which has no way to refuse
  char* p = EncodeVarint32(memory, static_cast<uint32_t>(key_bytes));
  const Slice internal_key(p, key_bytes);
  if (!user_key.empty()) std::memcpy(p, user_key.data(), user_key.size());
  EncodeFixed64(p + user_key.size(), trailer);
  p = EncodeVarint32(p + key_bytes, static_cast<uint32_t>(value.size()));
  if (!value.empty()) std::memcpy(p, value.data(), value.size());
  if (checksum_bytes_ != 0) {
    MemTableEntry::StoreChecksum(internal_key, Slice(p, value.size()), checksum_bytes_);
  }
  assert(p + value.size() + checksum_bytes_ == memory + bytes);
  return handle;
}

bool UserRep::InsertLocked(KeyHandle handle, const Slice& user_key) {
  const SliceTransform* const prefixes = hint_prefixes_.get();
  if (prefixes == nullptr || !prefixes->InDomain(user_key)) return rep_->InsertKey(handle);
  return rep_->InsertKeyWithHint(handle, &hints_[prefixes->Transform(user_key).ToString()]);
}

bool UserRep::VisitVersions(const LookupKey& key, void* argument, Visit visit) const {
  assert(visit != nullptr);
  struct State {
    const InternalKeyComparator* order;
    const LookupKey* key;
    void* argument;
    Visit visit;
    bool has_ended;
  } state{&comparator_->order(), &key, argument, visit, false};
  rep_->Get(key, &state, [](void* raw, const char* entry) {
    State& now = *static_cast<State*>(raw);
    const DecodedEntry decoded = Decode(entry);
    const Slice user_key = ExtractUserKey(decoded.internal_key);
    if (!now.order->SameKey(user_key, now.key->user_key)) return false;
    now.has_ended = now.visit(now.argument, decoded.internal_key, decoded.value);
    return !now.has_ended;
  });
  return state.has_ended;
}

uint64_t UserRep::CountBetween(const Slice& begin, const Slice& end) const {
  if (comparator_->order().OrderWithTimestamp(begin, end) >= 0) return 0;
  const std::string first = MakeInternalKey(begin, kMaxSequenceNumber, kValueTypeForSeek);
  const std::string last = MakeInternalKey(end, kMaxSequenceNumber, kValueTypeForSeek);
  return rep_->ApproximateNumEntries(first, last);
}

class UserRep::Iterator final : public InternalIterator {
 public:
  Iterator(const UserRep* rep, MemTableRep::Iterator* entries) : rep_(rep), entries_(entries) {
    assert(entries != nullptr);
  }

  void SeekToFirst() override {
    entries_->SeekToFirst();
    Show();
  }
  void SeekToLast() override {
    entries_->SeekToLast();
    Show();
  }
  void Seek(const Slice& internal_key) override {
    entries_->Seek(internal_key, nullptr);
    Show();
  }
  void SeekForPrev(const Slice& internal_key) override {
    entries_->SeekForPrev(internal_key, nullptr);
    Show();
  }
  ValuePin PinOfValue() const override { return ValuePin::Lasting(rep_); }

 protected:
  void NextSlow() override {
    entries_->Next();
    Show();
  }
  void PrevSlow() override {
    entries_->Prev();
    Show();
  }

 private:
  void Show() {
    valid_ = entries_->Valid();
    if (!valid_) return;
    const DecodedEntry decoded = Decode(entries_->key());
    key_ = decoded.internal_key;
    value_ = decoded.value;
  }

  const UserRep* const rep_;
  const std::unique_ptr<MemTableRep::Iterator> entries_;
};

InternalIterator* UserRep::NewIterator(Arena* arena, const SliceTransform* /*prefixes*/) const {
  MemTableRep::Iterator* const entries = rep_->GetIterator(nullptr);
  if (arena == nullptr) return new Iterator(this, entries);
  return new (arena->AllocateAligned(sizeof(Iterator))) Iterator(this, entries);
}

}  // namespace ashlar
