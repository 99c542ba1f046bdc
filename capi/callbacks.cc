// SPDX-License-Identifier: Apache-2.0
//
// The C API: objects that call functions of the program.
//
// The engine calls these objects from its own threads, several at once; so the functions of the
// program must be safe for that. Keys and values that they get are valid during the call only.
#include "capi/callbacks.h"

#include <cassert>

#include "ashlar/c/callbacks.h"

using ashlar::CompactionFilter;
using ashlar::Slice;
using ashlar::SliceTransform;
using ashlar::Status;
using ashlar::WriteBatch;

namespace ashlar::capi {
namespace {

// Arrays of pointers and of lengths.
// C functions take a list of texts as two parallel arrays. The bytes stay where the slices point.
struct Arrays {
  template <typename Container>
  explicit Arrays(const Container& slices) {
    for (const Slice& slice : slices) {
      data.push_back(slice.data());
      sizes.push_back(slice.size());
    }
  }
  std::vector<const char*> data;
  std::vector<size_t> sizes;
};

// The prefix that the program returns must be a part of the key or live longer than the call.
class ProgramTransform : public SliceTransform {
 public:
  using TransformFunction = char* (*)(void*, const char* key, size_t length, size_t* dst_length);
  using DomainFunction = unsigned char (*)(void*, const char* key, size_t length);

  ProgramTransform(void* state, void (*destructor)(void*), TransformFunction transform,
                   DomainFunction in_domain, const char* (*name)(void*))
      : program_(state, destructor, name), transform_(transform), in_domain_(in_domain) {
    assert(transform_ != nullptr);
  }

  const char* Name() const override { return program_.name(); }
  Slice Transform(const Slice& key) const override {
    // The program owns the bytes of the prefix; the engine never frees them.
    size_t length = 0;
    const char* prefix = transform_(program_.state(), key.data(), key.size(), &length);
    return Text(prefix, length);
  }
  bool InDomain(const Slice& key) const override {
    // Without a function every key has a prefix.
    return in_domain_ == nullptr || in_domain_(program_.state(), key.data(), key.size()) != 0;
  }

 private:
  const Program program_;
  const TransformFunction transform_;
  const DomainFunction in_domain_;
};

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::Arrays;

ashlar_comparator_t::ashlar_comparator_t(void* state, void (*destructor)(void*),
                                         CompareFunction compare_keys,
                                         CompareFunction compare_timestamps,
                                         CompareWithoutFunction compare_without,
                                         const char* (*name)(void*), size_t timestamp_size)
    : Comparator(timestamp_size),
      program(state, destructor, name),
      compare(compare_keys),
      compare_ts(compare_timestamps),
      compare_without_ts(compare_without) {
  assert(compare != nullptr);
}

int ashlar_comparator_t::Compare(const Slice& a, const Slice& b) const {
  return compare(program.state(), a.data(), a.size(), b.data(), b.size());
}

int ashlar_comparator_t::CompareTimestamp(const Slice& a, const Slice& b) const {
  // Without a function the comparator has no timestamps, so all of them are equal.
  if (compare_ts == nullptr) return 0;
  return compare_ts(program.state(), a.data(), a.size(), b.data(), b.size());
}

int ashlar_comparator_t::CompareWithoutTimestamp(const Slice& a, bool a_has_ts, const Slice& b,
                                                 bool b_has_ts) const {
  if (compare_without_ts == nullptr) return Compare(a, b);
  return compare_without_ts(program.state(), a.data(), a.size(), a_has_ts, b.data(), b.size(),
                            b_has_ts);
}

ashlar_comparator_t* ashlar_comparator_create(void* state, void (*destructor)(void*),
                                              int (*compare)(void*, const char* a, size_t alen,
                                                             const char* b, size_t blen),
                                              const char* (*name)(void*)) {
  return new ashlar_comparator_t(state, destructor, compare, nullptr, nullptr, name, 0);
}

ashlar_comparator_t* ashlar_comparator_with_ts_create(
    void* state, void (*destructor)(void*),
    int (*compare)(void*, const char* a, size_t alen, const char* b, size_t blen),
    int (*compare_ts)(void*, const char* a_ts, size_t a_tslen, const char* b_ts, size_t b_tslen),
    int (*compare_without_ts)(void*, const char* a, size_t alen, unsigned char a_has_ts,
                              const char* b, size_t blen, unsigned char b_has_ts),
    const char* (*name)(void*), size_t timestamp_size) {
  return new ashlar_comparator_t(state, destructor, compare, compare_ts, compare_without_ts, name,
                                 timestamp_size);
}

void ashlar_comparator_destroy(ashlar_comparator_t* comparator) { delete comparator; }

ashlar_mergeoperator_t::ashlar_mergeoperator_t(void* state, void (*destructor)(void*),
                                               FullMergeFunction full, PartialMergeFunction partial,
                                               DeleteFunction delete_function,
                                               const char* (*name)(void*))
    : program(state, destructor, name),
      full_merge(full),
      partial_merge(partial),
      delete_value(delete_function) {
  assert(full_merge != nullptr);
}

bool ashlar_mergeoperator_t::TakeResult(char* result, size_t length, unsigned char success,
                                        std::string* value) const {
  assert(value != nullptr);
  // The text may be null for an empty value, and std::string does not take a null pointer.
  if (success != 0) value->assign(result == nullptr ? "" : result, result == nullptr ? 0 : length);
  // The memory of the result belongs to the program, which says how it is freed; without a function
  // it is from malloc().
  if (delete_value != nullptr) {
    delete_value(program.state(), result, length);
  } else {
    std::free(result);
  }
  return success != 0;
}

bool ashlar_mergeoperator_t::FullMergeV2(const MergeOperationInput& merge_in,
                                         MergeOperationOutput* merge_out) const {
  assert(merge_out != nullptr);
  const Arrays operands(merge_in.operand_list);
  // Null tells the program that the key has no value below the operands, which differs from an
  // empty value.
  const Slice* existing = merge_in.existing_value;
  unsigned char success = 0;
  size_t length = 0;
  char* result =
      full_merge(program.state(), merge_in.key.data(), merge_in.key.size(),
                 existing == nullptr ? nullptr : existing->data(),
                 existing == nullptr ? 0 : existing->size(), operands.data.data(),
                 operands.sizes.data(), static_cast<int>(operands.data.size()), &success, &length);
  return TakeResult(result, length, success, &merge_out->new_value);
}

bool ashlar_mergeoperator_t::PartialMergeMulti(const Slice& key,
                                               const std::deque<Slice>& operand_list,
                                               std::string* new_value, ashlar::Logger*) const {
  assert(new_value != nullptr);
  // The engine then keeps the operands until a full merge.
  if (partial_merge == nullptr) return false;
  const Arrays operands(operand_list);
  unsigned char success = 0;
  size_t length = 0;
  char* result = partial_merge(program.state(), key.data(), key.size(), operands.data.data(),
                               operands.sizes.data(), static_cast<int>(operands.data.size()),
                               &success, &length);
  return TakeResult(result, length, success, new_value);
}

ashlar_mergeoperator_t* ashlar_mergeoperator_create(
    void* state, void (*destructor)(void*),
    char* (*full_merge)(void*, const char* key, size_t key_length, const char* existing_value,
                        size_t existing_value_length, const char* const* operands_list,
                        const size_t* operands_list_length, int num_operands,
                        unsigned char* success, size_t* new_value_length),
    char* (*partial_merge)(void*, const char* key, size_t key_length,
                           const char* const* operands_list, const size_t* operands_list_length,
                           int num_operands, unsigned char* success, size_t* new_value_length),
    void (*delete_value)(void*, const char* value, size_t value_length),
    const char* (*name)(void*)) {
  return new ashlar_mergeoperator_t(state, destructor, full_merge, partial_merge, delete_value,
                                    name);
}

void ashlar_mergeoperator_destroy(ashlar_mergeoperator_t* merge_operator) {
  ashlar_mergeoperator_t::Destroy(merge_operator);
}

ashlar_slicetransform_t* ashlar_slicetransform_create(
    void* state, void (*destructor)(void*),
    char* (*transform)(void*, const char* key, size_t length, size_t* dst_length),
    unsigned char (*in_domain)(void*, const char* key, size_t length), const char* (*name)(void*)) {
  return new ashlar_slicetransform_t(std::make_shared<ashlar::capi::ProgramTransform>(
      state, destructor, transform, in_domain, name));
}

ashlar_slicetransform_t* ashlar_slicetransform_create_fixed_prefix(size_t length) {
  return new ashlar_slicetransform_t(
      std::shared_ptr<const SliceTransform>(ashlar::NewFixedPrefixTransform(length)));
}

ashlar_slicetransform_t* ashlar_slicetransform_create_noop() {
  return new ashlar_slicetransform_t(
      std::shared_ptr<const SliceTransform>(ashlar::NewNoopTransform()));
}

void ashlar_slicetransform_destroy(ashlar_slicetransform_t* transform) {
  ashlar_slicetransform_t::Destroy(transform);
}

bool ashlar_compactionfilter_t::Filter(int level, const Slice& key, const Slice& existing_value,
                                       std::string* new_value, bool* value_changed) const {
  assert(new_value != nullptr && value_changed != nullptr);
  assert(filter != nullptr);
  char* changed_value = nullptr;
  size_t changed_length = 0;
  unsigned char changed = 0;
  const unsigned char drop =
      filter(program.state(), level, key.data(), key.size(), existing_value.data(),
             existing_value.size(), &changed_value, &changed_length, &changed);
  *value_changed = changed != 0;
  // The program keeps its own memory; the engine has a copy.
  if (changed != 0) {
    const Slice text = ashlar::capi::Text(changed_value, changed_length);
    new_value->assign(text.data(), text.size());
  }
  return drop != 0;
}

ashlar_compactionfilter_t* ashlar_compactionfilter_create(
    void* state, void (*destructor)(void*),
    unsigned char (*filter)(void*, int level, const char* key, size_t key_length,
                            const char* existing_value, size_t value_length, char** new_value,
                            size_t* new_value_length, unsigned char* value_changed),
    const char* (*name)(void*)) {
  return new ashlar_compactionfilter_t(state, destructor, filter, name);
}

void ashlar_compactionfilter_destroy(ashlar_compactionfilter_t* filter) { delete filter; }

void ashlar_compactionfilter_set_ignore_snapshots(ashlar_compactionfilter_t* filter,
                                                  unsigned char value) {
  assert(filter != nullptr);
  filter->ignore_snapshots = value != 0;
}

std::unique_ptr<CompactionFilter> ashlar_compactionfilterfactory_t::CreateCompactionFilter(
    const CompactionFilter::Context& context) {
  assert(create != nullptr);
  // Valid during the call only.
  ashlar_compactionfiltercontext_t handle{context};
  return std::unique_ptr<CompactionFilter>(create(program.state(), &handle));
}

ashlar_compactionfilterfactory_t* ashlar_compactionfilterfactory_create(
    void* state, void (*destructor)(void*),
    ashlar_compactionfilter_t* (*create_compaction_filter)(
        void*, ashlar_compactionfiltercontext_t* context),
    const char* (*name)(void*)) {
  return new ashlar_compactionfilterfactory_t(state, destructor, create_compaction_filter, name);
}

void ashlar_compactionfilterfactory_destroy(ashlar_compactionfilterfactory_t* factory) {
  ashlar_compactionfilterfactory_t::Destroy(factory);
}

unsigned char ashlar_compactionfiltercontext_is_full_compaction(
    ashlar_compactionfiltercontext_t* context) {
  return context->rep.is_full_compaction;
}

unsigned char ashlar_compactionfiltercontext_is_manual_compaction(
    ashlar_compactionfiltercontext_t* context) {
  return context->rep.is_manual_compaction;
}

void ashlar_walfilter_t::ColumnFamilyLogNumberMap(
    const std::map<uint32_t, uint64_t>& cf_lognumber_map,
    const std::map<std::string, uint32_t>& cf_name_id_map) {
  if (families == nullptr) return;
  // The maps become parallel arrays, which are valid during the call only: ids with the log numbers
  // of their families, and names with the ids that they belong to.
  std::vector<uint32_t> ids;
  std::vector<uint64_t> log_numbers;
  for (const auto& [id, log_number] : cf_lognumber_map) {
    ids.push_back(id);
    log_numbers.push_back(log_number);
  }
  std::vector<Slice> names;
  std::vector<uint32_t> ids_of_names;
  for (const auto& [family_name, id] : cf_name_id_map) {
    names.emplace_back(family_name);
    ids_of_names.push_back(id);
  }
  const Arrays arrays(names);
  families(program.state(), ids.data(), log_numbers.data(), ids.size(), arrays.data.data(),
           arrays.sizes.data(), ids_of_names.data(), ids_of_names.size());
}

ashlar::WalFilter::WalProcessingOption ashlar_walfilter_t::LogRecordFound(
    unsigned long long log_number, const std::string& log_file_name, const WriteBatch& batch,
    WriteBatch* new_batch, bool* batch_changed) {
  assert(new_batch != nullptr && batch_changed != nullptr);
  if (record == nullptr) return WalProcessingOption::kContinueProcessing;
  // A copy, because the handle contains a batch. The program may keep neither handle.
  const ashlar_writebatch_t found{batch};
  // The batch moves into the handle and back, so that the program changes the engine's batch
  // without a copy of it.
  ashlar_writebatch_t changed{std::move(*new_batch)};
  unsigned char is_changed = 0;
  const int result = record(program.state(), log_number, log_file_name.data(), log_file_name.size(),
                            &found, &changed, &is_changed);
  *new_batch = std::move(changed.rep);
  *batch_changed = is_changed != 0;
  return static_cast<WalProcessingOption>(result);
}

ashlar_walfilter_t* ashlar_walfilter_create(
    void* state, void (*destructor)(void*),
    ashlar_walfilter_column_family_log_number_map_cb column_family_log_number_map,
    ashlar_walfilter_log_record_found_cb log_record_found, const char* (*name)(void*)) {
  return new ashlar_walfilter_t(state, destructor, column_family_log_number_map, log_record_found,
                                name);
}

void ashlar_walfilter_destroy(ashlar_walfilter_t* filter) { delete filter; }
