// SPDX-License-Identifier: Apache-2.0
//
// Three things: the defaults by which a compaction filter need override only one of the Filter
// functions; the one filter that can be created by name; and the error for plug-ins that cannot be
// created by name. An empty name means "none". With ignore_unsupported_options the caller keeps the
// object that it has.
#include "ashlar/compaction_filter.h"

#include <cassert>

#include "ashlar/convenience.h"
#include "ashlar/wal_filter.h"
#include "util/interfaces/registered_objects.h"

namespace ashlar {

namespace {

Status UnknownName(const ConfigOptions& options, const char* what, const std::string& name) {
  if (name.empty() || name == "nullptr" || options.ignore_unsupported_options) return Status::OK();
  return Status::NotSupported(std::string(what) + ": unknown name; set it in code", name);
}

// The filter has no state, so one object serves all databases.
class RemoveEmptyValues final : public CompactionFilter {
 public:
  const char* Name() const override { return "RemoveEmptyValueCompactionFilter"; }
  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& existing_value,
              std::string* /*new_value*/, bool* /*value_changed*/) const override {
    return existing_value.empty();
  }
};

}  // namespace

Status CompactionFilter::CreateFromString(const ConfigOptions& config_options,
                                          const std::string& name,
                                          const CompactionFilter** result) {
  Status registered;
  CompactionFilter* own = nullptr;
  // A program may have registered its factory for the const class or for the other one.
  if (FindRegistered<const CompactionFilter>(config_options, name, result, &registered)) {
    return registered;
  }
  if (FindRegistered<CompactionFilter>(config_options, name, &own, &registered)) {
    if (registered.ok()) *result = own;
    return registered;
  }
  // A filter that was created by name is never deleted. Its factory owns it, or this static object.
  static const RemoveEmptyValues remove_empty_values;
  if (name == remove_empty_values.Name()) {
    *result = &remove_empty_values;
    return Status::OK();
  }
  if (name.empty() || name == "nullptr") *result = nullptr;
  return UnknownName(config_options, "compaction filter", name);
}
// Unlike a filter, a factory is owned by the caller.
Status CompactionFilterFactory::CreateFromString(const ConfigOptions& config_options,
                                                 const std::string& name,
                                                 std::shared_ptr<CompactionFilterFactory>* result) {
  Status registered;
  if (MakeRegistered<CompactionFilterFactory>(config_options, name, result, &registered))
    return registered;
  if (name.empty() || name == "nullptr") result->reset();
  return UnknownName(config_options, "compaction filter factory", name);
}
Status WalFilter::CreateFromString(const ConfigOptions& options, const std::string& value,
                                   WalFilter** result) {
  Status registered;
  if (FindRegistered<WalFilter>(options, value, result, &registered)) return registered;
  if (value.empty() || value == "nullptr") *result = nullptr;
  return UnknownName(options, "WAL filter", value);
}

// Resolves the columns one after the other. The first error ends the call.
Status WideColumnBlobResolver::ResolveColumns(const std::vector<size_t>& column_indices,
                                              std::vector<Slice>* resolved_values) {
  assert(resolved_values != nullptr);
  resolved_values->clear();
  for (const size_t index : column_indices) {
    Slice value;
    Status status = ResolveColumn(index, &value);
    if (!status.ok()) return status;
    resolved_values->push_back(value);
  }
  return Status::OK();
}

// Calls the older Filter functions for values and operands. Blob references and other kinds are
// kept, because the older functions could not distinguish them from values.
CompactionFilter::Decision CompactionFilter::FilterV2(int level, const Slice& key,
                                                      ValueType value_type,
                                                      const Slice& existing_value,
                                                      std::string* new_value,
                                                      std::string* /*skip_until*/) const {
  if (value_type == kMergeOperand) {
    return FilterMergeOperand(level, key, existing_value) ? Decision::kRemove : Decision::kKeep;
  }
  if (value_type != kValue) return Decision::kKeep;
  bool value_changed = false;
  if (Filter(level, key, existing_value, new_value, &value_changed)) return Decision::kRemove;
  return value_changed ? Decision::kChangeValue : Decision::kKeep;
}

CompactionFilter::Decision CompactionFilter::FilterV3(
    int level, const Slice& key, ValueType value_type, const Slice* existing_value,
    const WideColumns* /*existing_columns*/, std::string* new_value,
    std::vector<std::pair<std::string, std::string>>* /*new_columns*/,
    std::string* skip_until) const {
  if (value_type == kWideColumnEntity) return Decision::kKeep;
  assert(existing_value != nullptr);
  return FilterV2(level, key, value_type, *existing_value, new_value, skip_until);
}

CompactionFilter::Decision CompactionFilter::FilterV4(
    int level, const Slice& key, ValueType value_type, const Slice* existing_value,
    const WideColumns* existing_columns, std::string* new_value,
    std::vector<std::pair<std::string, std::string>>* new_columns, std::string* skip_until,
    WideColumnBlobResolver* /*blob_resolver*/) const {
  return FilterV3(level, key, value_type, existing_value, existing_columns, new_value, new_columns,
                  skip_until);
}

}  // namespace ashlar
