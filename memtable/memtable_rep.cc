// SPDX-License-Identifier: Apache-2.0
//
// Default implementations for representations of programs.
#include <memory>
#include <string>

#include "ashlar/memtablerep.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/memory/allocator.h"

namespace ashlar {

Slice MemTableRep::KeyComparator::decode_key(const char* key) const {
  return GetLengthPrefixedSlice(key);
}

KeyHandle MemTableRep::Allocate(const size_t len, char** buf) {
  *buf = allocator_->Allocate(len);
  return *buf;
}

void MemTableRep::InsertConcurrently(KeyHandle handle) { Insert(handle); }

void MemTableRep::Get(const LookupKey& k, void* callback_args,
                      bool (*callback_func)(void* arg, const char* entry)) {
  std::string target;
  PutVarint32(&target, static_cast<uint32_t>(k.user_key.size() + kTrailerBytes));
  const size_t key_begin = target.size();
  AppendInternalKey(&target, k.user_key, k.trailer);
  const std::unique_ptr<Iterator> entries(GetDynamicPrefixIterator());
  entries->Seek(Slice(target.data() + key_begin, target.size() - key_begin), target.data());
  while (entries->Valid() && callback_func(callback_args, entries->key())) entries->Next();
}

Status MemTableRep::GetAndValidate(const LookupKey& k, void* callback_args,
                                   bool (*callback_func)(void* arg, const char* entry), bool, bool,
                                   const EntryCheck&) {
  Get(k, callback_args, callback_func);
  return Status::OK();
}

Status MemTableRep::MultiGet(size_t, const char* const*, void**, bool (*)(void*, const char*), bool,
                             bool, const EntryCheck&) {
  return Status::NotSupported("MemTableRep::MultiGet: not implemented");
}

void MemTableRep::UniqueRandomSample(const uint64_t, const uint64_t,
                                     std::unordered_set<const char*>* entries) {
  entries->clear();
}

Slice MemTableRep::UserKey(const char* key) const {
  const Slice internal_key = GetLengthPrefixedSlice(key);
  return Slice(internal_key.data(), internal_key.size() - 8);
}

Status MemTableRep::Iterator::NextAndValidate(bool) {
  Next();
  return Status::OK();
}

Status MemTableRep::Iterator::PrevAndValidate(bool) {
  Prev();
  return Status::OK();
}

Status MemTableRep::Iterator::SeekAndValidate(const Slice& internal_key, const char* memtable_key,
                                              bool, bool, const EntryCheck&) {
  Seek(internal_key, memtable_key);
  return Status::OK();
}

}  // namespace ashlar
