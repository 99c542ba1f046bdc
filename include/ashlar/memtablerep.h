// SPDX-License-Identifier: Apache-2.0
//
// Memtable representations: the data structure that holds the entries of a column family's
// memtables.
//
// The built-in factories below only specify a representation and its parameters; the engine
// implements it. A program can supply its own factory, whose representations then store the point
// entries of the memtables.
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

// A piece of memory that Allocate() has returned.
using KeyHandle = void*;

// A sorted collection of entries. Each entry is one piece of memory from Allocate(): the length of
// the internal key as a varint, the internal key, the length of the value as a varint, and the
// value. Inserted entries remain until the representation is destroyed. Any thread may read, also
// during insertions. InsertKey() returns false if the same internal key has been inserted before,
// if the representation can detect that.
//
// The engine calls only these functions: Allocate(), InsertKey(), InsertKeyConcurrently() (from
// several threads at the same time, if the factory supports it; otherwise insertions come one at a
// time), InsertKeyWithHint() (with memtable_insert_with_hint_prefix_extractor), Get(),
// GetIterator(), ApproximateNumEntries(), ApproximateMemoryUsage(), MarkReadOnly() and
// IsSnapshotSupported().
//
// None of them may call the database, because locks of the database may be held.
class ASHLAR_EXPORT MemTableRep {
 public:
  // Compares entries by their internal keys.
  class KeyComparator {
   public:
    using DecodedType = Slice;
    virtual ~KeyComparator() {}
    // Decodes a varint length followed by that many bytes.
    virtual DecodedType decode_key(const char* key) const;
    virtual int operator()(const char* prefix_len_key1, const char* prefix_len_key2) const = 0;
    virtual int operator()(const char* prefix_len_key, const Slice& key) const = 0;
  };

  using EntryCheck = std::function<Status(const char*, bool)>;

  explicit MemTableRep(Allocator* allocator) : allocator_(allocator) {}
  MemTableRep(const MemTableRep&) = delete;
  MemTableRep& operator=(const MemTableRep&) = delete;
  virtual ~MemTableRep() {}

  // Returns `len` bytes from the memory of the memtable, which lives as long as the representation.
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
  // Bytes of memory, except for those that Allocate() of this class has returned.
  virtual size_t ApproximateMemoryUsage() = 0;

  // Iterates over the entries. Threads: one at a time.
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

// Creates representations. Must be thread safe.
class ASHLAR_EXPORT MemTableRepFactory : public Customizable {
 public:
  ~MemTableRepFactory() override {}
  static const char* Type() { return "MemTableRepFactory"; }
  // Creates a built-in factory from its name or short name and an optional parameter:
  // "SkipListFactory", "skip_list:16", "vector" and so on.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::unique_ptr<MemTableRepFactory>* factory);
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::shared_ptr<MemTableRepFactory>* factory);

  // Creates the representation for a new memtable; the engine deletes it. nullptr: the built-in
  // memtable is used. The arguments live as long as the representation; slice_transform is the
  // prefix_extractor of the family, or nullptr.
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

// The default memtable, which supports concurrent insertions. CreateMemTableRep() of built-in
// factories returns nullptr, because the engine recognizes them by name.
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

// Entries are not sorted until they are read or flushed. For bulk loads.
class ASHLAR_EXPORT VectorRepFactory : public MemTableRepFactory {
 public:
  // Number of entries for which memory is reserved.
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

// Store the entries in one bucket per prefix (see prefix_extractor); NewHashLinkListRepFactory()
// stores a bucket as a list while it has at most threshold_use_skiplist entries. A lookup, and a
// step within a prefix, costs as much as that prefix has entries. A step to the next prefix sorts
// all entries that were added since the previous such step. Without a prefix_extractor the default
// memtable is used. Huge pages and logging are hints without effect. The caller owns the result.
ASHLAR_EXPORT MemTableRepFactory* NewHashSkipListRepFactory(size_t bucket_count = 1000000,
                                                            int32_t skiplist_height = 4,
                                                            int32_t skiplist_branching_factor = 4);
ASHLAR_EXPORT MemTableRepFactory* NewHashLinkListRepFactory(
    size_t bucket_count = 50000, size_t huge_page_tlb_size = 0,
    int bucket_entries_logging_threshold = 4096, bool if_log_bucket_dist_when_flash = true,
    uint32_t threshold_use_skiplist = 256);

}  // namespace ashlar
