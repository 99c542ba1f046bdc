// SPDX-License-Identifier: Apache-2.0
//
// The defaults that let a compaction filter implement only one of its forms, the one that has a
// name, and the "no such name" of plug-ins that have no built-in kinds.
#include "ashlar/compaction_filter.h"

#include "ashlar/convenience.h"
#include "ashlar/wal_filter.h"

namespace ashlar {

namespace {

Status UnknownName(const ConfigOptions& options, const char* what, const std::string& name) {
  if (name.empty() || name == "nullptr" || options.ignore_unsupported_options) return Status::OK();
  return Status::NotSupported(std::string(what) + ": unknown name; set it in code", name);
}

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
  static const RemoveEmptyValues remove_empty_values;  // nobody deletes what is made by name
  if (name == remove_empty_values.Name()) {
    *result = &remove_empty_values;
    return Status::OK();
  }
  if (name.empty() || name == "nullptr") *result = nullptr;
  return UnknownName(config_options, "compaction filter", name);
}
Status CompactionFilterFactory::CreateFromString(const ConfigOptions& config_options,
                                                 const std::string& name,
                                                 std::shared_ptr<CompactionFilterFactory>* result) {
  if (name.empty() || name == "nullptr") result->reset();
  return UnknownName(config_options, "compaction filter factory", name);
}
Status WalFilter::CreateFromString(const ConfigOptions& options, const std::string& value,
                                   WalFilter** result) {
  if (value.empty() || value == "nullptr") *result = nullptr;
  return UnknownName(options, "WAL filter", value);
}

Status WideColumnBlobResolver::ResolveColumns(const std::vector<size_t>& column_indices,
                                              std::vector<Slice>* resolved_values) {
  resolved_values->clear();
  for (const size_t index : column_indices) {
    Slice value;
    Status status = ResolveColumn(index, &value);
    if (!status.ok()) return status;
    resolved_values->push_back(value);
  }
  return Status::OK();
}

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
