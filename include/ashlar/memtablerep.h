// SPDX-License-Identifier: Apache-2.0
//
// The representations of a memtable: which one a column family uses.
//
// The built-in factories below only name a representation and its parameters; the memtable itself
// is the library's. A program may bring a factory of its own, whose representations then hold the
// point entries of the family's memtables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class Allocator;
class Arena;
class Logger;
class SliceTransform;
struct LookupKey;

using KeyHandle = void*;

// A sorted collection of entries, each in one piece of memory that Allocate() gave out: the
// internal key with its length as a varint before it, then the value likewise. What was inserted
// stays until the representation is destroyed; readers come from any thread, and may come during
// insertions. InsertKey() returns false if this very internal key is there already, if it can tell.
// Only these are called by the library: Allocate, InsertKey, InsertKeyConcurrently (where the
// factory says so, from several threads at once; otherwise insertions come one at a time),
// InsertKeyWithHint (with memtable_insert_with_hint_prefix_extractor), Get, GetIterator,
// ApproximateNumEntries, ApproximateMemoryUsage, MarkReadOnly and IsSnapshotSupported.
//
// None of them may call the database: locks of it may be held.
class ASHLAR_EXPORT MemTableRep {
 public:
  class KeyComparator {
   public:
    using DecodedType = Slice;
    virtual ~KeyComparator() {}
    // A varint length followed by that many bytes.
    virtual DecodedType decode_key(const char* key) const;
    virtual int operator()(const char* prefix_len_key1, const char* prefix_len_key2) const = 0;
    virtual int operator()(const char* prefix_len_key, const Slice& key) const = 0;
  };

  using EntryCheck = std::function<Status(const char*, bool)>;

  explicit MemTableRep(Allocator* allocator) : allocator_(allocator) {}
  MemTableRep(const MemTableRep&) = delete;
  MemTableRep& operator=(const MemTableRep&) = delete;
  virtual ~MemTableRep() {}

  // From the memtable's memory, which lives as long as the representation.
  virtual KeyHandle Allocate(const size_t len, char** buf);
  virtual void Insert(KeyHandle handle) = 0;
  virtual bool InsertKey(KeyHandle handle) {
    Insert(handle);
    return true;
  }
  virtual void InsertWithHint(KeyHandle handle, void** /*hint*/) { Insert(handle); }
  virtual bool InsertKeyWithHint(KeyHandle handle, void** hint) {
    InsertWithHint(handle, hint);
    return true;
  }
  virtual void InsertWithHintConcurrently(KeyHandle handle, void** /*hint*/) {
    InsertConcurrently(handle);
  }
  virtual bool InsertKeyWithHintConcurrently(KeyHandle handle, void** hint) {
    InsertWithHintConcurrently(handle, hint);
    return true;
  }
  virtual void InsertConcurrently(KeyHandle handle);
  virtual bool InsertKeyConcurrently(KeyHandle handle) {
    InsertConcurrently(handle);
    return true;
  }
  virtual void BatchPostProcess() {}
  virtual bool Contains(const char* key) const = 0;
  virtual void MarkReadOnly() {}
  virtual void MarkFlushed() {}
  virtual void Get(const LookupKey& k, void* callback_args,
                   bool (*callback_func)(void* arg, const char* entry));
  virtual Status GetAndValidate(const LookupKey& k, void* callback_args,
                                bool (*callback_func)(void* arg, const char* entry),
                                bool allow_data_in_errors, bool detect_key_out_of_order,
                                const EntryCheck& key_validation_callback);
  virtual Status MultiGet(size_t num_keys, const char* const* keys, void** callback_args,
                          bool (*callback_func)(void* arg, const char* entry),
                          bool allow_data_in_errors = false, bool detect_key_out_of_order = false,
                          const EntryCheck& key_validation_callback = nullptr);
  virtual uint64_t ApproximateNumEntries(const Slice& /*start*/, const Slice& /*end*/) { return 0; }
  virtual void UniqueRandomSample(const uint64_t num_entries, const uint64_t target_sample_size,
                                  std::unordered_set<const char*>* entries);
  // Beside what Allocate() of this class gave out.
  virtual size_t ApproximateMemoryUsage() = 0;

  class Iterator {
   public:
    virtual ~Iterator() {}
    virtual bool Valid() const = 0;
    virtual const char* key() const = 0;
    virtual void Next() = 0;
    virtual Status NextAndValidate(bool allow_data_in_errors);
    virtual void Prev() = 0;
    virtual Status PrevAndValidate(bool allow_data_in_errors);
    virtual void Seek(const Slice& internal_key, const char* memtable_key) = 0;
    virtual Status SeekAndValidate(const Slice& internal_key, const char* memtable_key,
                                   bool allow_data_in_errors, bool detect_key_out_of_order,
                                   const EntryCheck& key_validation_callback);
    virtual void SeekForPrev(const Slice& internal_key, const char* memtable_key) = 0;
    virtual void RandomSeek() {}
    virtual void SeekToFirst() = 0;
    virtual void SeekToLast() = 0;
  };

  virtual Iterator* GetIterator(Arena* arena = nullptr) = 0;
  virtual Iterator* GetDynamicPrefixIterator(Arena* arena = nullptr) { return GetIterator(arena); }
  virtual bool IsMergeOperatorSupported() const { return true; }
  virtual bool IsSnapshotSupported() const { return true; }

 protected:
  virtual Slice UserKey(const char* key) const;

  Allocator* allocator_;
};

class ASHLAR_EXPORT MemTableRepFactory : public Customizable {
 public:
  ~MemTableRepFactory() override {}
  static const char* Type() { return "MemTableRepFactory"; }
  // By name or short name, optionally with a parameter: "SkipListFactory", "skip_list:16",
  // "vector", ...
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::unique_ptr<MemTableRepFactory>* factory);
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::shared_ptr<MemTableRepFactory>* factory);

  // The caller's to delete. nullptr: the library's own memtable is used instead. The arguments live
  // as long as the representation; slice_transform is the family's prefix_extractor or nullptr.
  virtual MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& key_cmp,
                                         Allocator* allocator,
                                         const SliceTransform* slice_transform, Logger* logger) = 0;
  virtual MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& key_cmp,
                                         Allocator* allocator,
                                         const SliceTransform* slice_transform, Logger* logger,
                                         uint32_t /*column_family_id*/) {
    return CreateMemTableRep(key_cmp, allocator, slice_transform, logger);
  }
  const char* Name() const override = 0;
  virtual bool IsInsertConcurrentlySupported() const { return false; }
  virtual bool CanHandleDuplicatedKey() const { return false; }
};

// The concurrent skip list. CreateMemTableRep() of built-in factories returns nullptr: the library
// recognises them by name.
class ASHLAR_EXPORT SkipListFactory : public MemTableRepFactory {
 public:
  // `lookahead` is a hint without effect: insertion positions are always remembered.
  explicit SkipListFactory(size_t lookahead = 0) : lookahead_(lookahead) {}
  static const char* kClassName() { return "SkipListFactory"; }
  static const char* kNickName() { return "skip_list"; }
  const char* Name() const override { return kClassName(); }
  const char* NickName() const override { return kNickName(); }
  std::string GetId() const override;

  using MemTableRepFactory::CreateMemTableRep;
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& key_cmp, Allocator* allocator,
                                 const SliceTransform* slice_transform, Logger* logger) override;
  bool IsInsertConcurrentlySupported() const override { return true; }
  bool CanHandleDuplicatedKey() const override { return true; }

  size_t lookahead() const { return lookahead_; }

 protected:
  Status ConfigureOptions(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opts_map,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& prefix) const override;

 private:
  size_t lookahead_;
};

// Unsorted until it is read or flushed: for bulk loads.
class ASHLAR_EXPORT VectorRepFactory : public MemTableRepFactory {
 public:
  // Entries to reserve room for.
  explicit VectorRepFactory(size_t count = 0) : count_(count) {}
  static const char* kClassName() { return "VectorRepFactory"; }
  static const char* kNickName() { return "vector"; }
  const char* Name() const override { return kClassName(); }
  const char* NickName() const override { return kNickName(); }

  using MemTableRepFactory::CreateMemTableRep;
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& key_cmp, Allocator* allocator,
                                 const SliceTransform* slice_transform, Logger* logger) override;

  size_t count() const { return count_; }

 protected:
  Status ConfigureOptions(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opts_map,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& prefix) const override;

 private:
  size_t count_;
};

// A bucket for each prefix of prefix_extractor, as a skip list or, up to `threshold_use_skiplist`
// entries, as a list. A lookup, and a step within one prefix, costs as much as that prefix has
// entries; the step that leaves it sorts all entries added since the last one did. Without a
// prefix_extractor the default is used. Huge pages and logging are hints without effect.
ASHLAR_EXPORT MemTableRepFactory* NewHashSkipListRepFactory(size_t bucket_count = 1000000,
                                                            int32_t skiplist_height = 4,
                                                            int32_t skiplist_branching_factor = 4);
ASHLAR_EXPORT MemTableRepFactory* NewHashLinkListRepFactory(
    size_t bucket_count = 50000, size_t huge_page_tlb_size = 0,
    int bucket_entries_logging_threshold = 4096, bool if_log_bucket_dist_when_flash = true,
    uint32_t threshold_use_skiplist = 256);

}  // namespace ashlar
