// SPDX-License-Identifier: Apache-2.0
//
// Objects of the engine that call functions of a C program. The handle is the object itself.
#pragma once

#include <cassert>
#include <memory>
#include <string>

#include "ashlar/compaction_filter.h"
#include "ashlar/comparator.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/wal_filter.h"
#include "capi/handles.h"

namespace ashlar::capi {

// What all objects of a C program have: a state, and functions that destroy it and name the object.
// The destructor of the program is called once, when the engine lets go of the object.
class Program {
 public:
  Program(void* state, void (*destructor)(void*), const char* (*name)(void*))
      : state_(state), destructor_(destructor), name_(name) {}
  Program(const Program&) = delete;
  ~Program() {
    if (destructor_ != nullptr) destructor_(state_);
  }
  void* state() const { return state_; }
  const char* name() const { return name_ == nullptr ? "" : name_(state_); }

 private:
  void* const state_;
  void (*const destructor_)(void*);
  const char* (*const name_)(void*);
};

// A handle that options may take over, more than once: all options that have it share one object.
// The program's own claim ends with the first time that options take it over.
template <typename Handle>
struct Shareable : public std::enable_shared_from_this<Handle> {
  std::shared_ptr<Handle> TakeOver() {
    // Not thread-safe: a handle is given to options by one thread at a time.
    std::shared_ptr<Handle> taken = this->weak_from_this().lock();
    return taken != nullptr ? taken : std::shared_ptr<Handle>(static_cast<Handle*>(this));
  }
  // For ..._destroy: does nothing if options have taken it over.
  static void Destroy(Handle* handle) {
    if (handle != nullptr && handle->weak_from_this().expired()) delete handle;
  }
};

}  // namespace ashlar::capi

// Never shared: it must outlive every database that uses it, and the program destroys it.
struct ashlar_comparator_t : public ashlar::Comparator {
  using CompareFunction = int (*)(void*, const char* a, size_t alen, const char* b, size_t blen);
  using CompareWithoutFunction = int (*)(void*, const char* a, size_t alen, unsigned char a_has_ts,
                                         const char* b, size_t blen, unsigned char b_has_ts);

  ashlar_comparator_t(void* state, void (*destructor)(void*), CompareFunction compare,
                      CompareFunction compare_ts, CompareWithoutFunction compare_without_ts,
                      const char* (*name)(void*), size_t timestamp_size);

  using Comparator::CompareWithoutTimestamp;
  const char* Name() const override { return program.name(); }
  int Compare(const ashlar::Slice& a, const ashlar::Slice& b) const override;
  int CompareTimestamp(const ashlar::Slice& a, const ashlar::Slice& b) const override;
  int CompareWithoutTimestamp(const ashlar::Slice& a, bool a_has_ts, const ashlar::Slice& b,
                              bool b_has_ts) const override;
  // Keys of a custom order cannot be shortened without knowing the order.
  void FindShortestSeparator(std::string*, const ashlar::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  const ashlar::capi::Program program;
  const CompareFunction compare;
  const CompareFunction compare_ts;
  const CompareWithoutFunction compare_without_ts;
};

// Options take it over.
struct ashlar_mergeoperator_t : public ashlar::MergeOperator,
                                public ashlar::capi::Shareable<ashlar_mergeoperator_t> {
  using FullMergeFunction = char* (*)(void*, const char* key, size_t key_length,
                                      const char* existing_value, size_t existing_value_length,
                                      const char* const* operands_list,
                                      const size_t* operands_list_length, int num_operands,
                                      unsigned char* success, size_t* new_value_length);
  using PartialMergeFunction = char* (*)(void*, const char* key, size_t key_length,
                                         const char* const* operands_list,
                                         const size_t* operands_list_length, int num_operands,
                                         unsigned char* success, size_t* new_value_length);
  using DeleteFunction = void (*)(void*, const char* value, size_t value_length);

  ashlar_mergeoperator_t(void* state, void (*destructor)(void*), FullMergeFunction full,
                         PartialMergeFunction partial, DeleteFunction delete_function,
                         const char* (*name)(void*));

  const char* Name() const override { return program.name(); }
  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override;
  bool PartialMergeMulti(const ashlar::Slice& key, const std::deque<ashlar::Slice>& operand_list,
                         std::string* new_value, ashlar::Logger* logger) const override;
  // Copies and deletes what the program returned. False if it failed.
  bool TakeResult(char* result, size_t length, unsigned char success, std::string* value) const;

  const ashlar::capi::Program program;
  const FullMergeFunction full_merge;
  const PartialMergeFunction partial_merge;  // may be null
  const DeleteFunction delete_value;         // may be null
};

// Not derived from the functions of the program alone: built-in extractors have a handle too.
struct ashlar_slicetransform_t : public ashlar::capi::Shareable<ashlar_slicetransform_t> {
  explicit ashlar_slicetransform_t(std::shared_ptr<const ashlar::SliceTransform> transform)
      : rep(std::move(transform)) {
    assert(rep != nullptr);
  }

  const std::shared_ptr<const ashlar::SliceTransform> rep;
};

// Not owned by options. One that a factory creates belongs to the engine, which deletes it after
// the compaction.
struct ashlar_compactionfilter_t : public ashlar::CompactionFilter {
  using FilterFunction = unsigned char (*)(void*, int level, const char* key, size_t key_length,
                                           const char* existing_value, size_t value_length,
                                           char** new_value, size_t* new_value_length,
                                           unsigned char* value_changed);

  ashlar_compactionfilter_t(void* state, void (*destructor)(void*), FilterFunction function,
                            const char* (*name)(void*))
      : program(state, destructor, name), filter(function) {}

  const char* Name() const override { return program.name(); }
  bool Filter(int level, const ashlar::Slice& key, const ashlar::Slice& existing_value,
              std::string* new_value, bool* value_changed) const override;
  bool IgnoreSnapshots() const override { return ignore_snapshots; }

  const ashlar::capi::Program program;
  const FilterFunction filter;
  bool ignore_snapshots = true;
};

// Borrowed from the engine for one call.
struct ashlar_compactionfiltercontext_t {
  const ashlar::CompactionFilter::Context& rep;
};

struct ashlar_compactionfilterfactory_t
    : public ashlar::CompactionFilterFactory,
      public ashlar::capi::Shareable<ashlar_compactionfilterfactory_t> {
  using CreateFunction = ashlar_compactionfilter_t* (*)(void*, ashlar_compactionfiltercontext_t*);

  ashlar_compactionfilterfactory_t(void* state, void (*destructor)(void*), CreateFunction function,
                                   const char* (*name)(void*))
      : program(state, destructor, name), create(function) {}

  const char* Name() const override { return program.name(); }
  std::unique_ptr<ashlar::CompactionFilter> CreateCompactionFilter(
      const ashlar::CompactionFilter::Context& context) override;

  const ashlar::capi::Program program;
  const CreateFunction create;
};

// Not owned by options; it must live until the database is open.
struct ashlar_walfilter_t : public ashlar::WalFilter {
  ashlar_walfilter_t(void* state, void (*destructor)(void*),
                     ashlar_walfilter_column_family_log_number_map_cb families_function,
                     ashlar_walfilter_log_record_found_cb record_function,
                     const char* (*name)(void*))
      : program(state, destructor, name), families(families_function), record(record_function) {}

  const char* Name() const override { return program.name(); }
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& cf_lognumber_map,
                                const std::map<std::string, uint32_t>& cf_name_id_map) override;
  WalProcessingOption LogRecordFound(unsigned long long log_number,
                                     const std::string& log_file_name,
                                     const ashlar::WriteBatch& batch, ashlar::WriteBatch* new_batch,
                                     bool* batch_changed) override;

  const ashlar::capi::Program program;
  const ashlar_walfilter_column_family_log_number_map_cb families;  // may be null
  const ashlar_walfilter_log_record_found_cb record;                // may be null
};
