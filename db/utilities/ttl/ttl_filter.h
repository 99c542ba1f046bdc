// SPDX-License-Identifier: Apache-2.0
//
// Compaction filters that remove expired values. They wrap a filter or a factory of the user, which
// sees values without their times.
//
// Values without a valid time are kept and not shown to the user's filter. Entities of wide
// columns, which have no time, and merge operands do not expire; the user's filter sees both.
//
// Threads: as for CompactionFilter.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/compaction_filter.h"
#include "db/utilities/ttl/write_time.h"

namespace ashlar {

class TtlCompactionFilter final : public CompactionFilter {
 public:
  // Wraps a filter of the user, which outlives this one. The clock is read for each value.
  TtlCompactionFilter(std::shared_ptr<SystemClock> clock, std::shared_ptr<TtlSetting> ttl,
                      const CompactionFilter* user_filter);
  // For one flush or compaction. `user_filter` may be null. The clock is read once: values that
  // expire later are removed by a later compaction.
  TtlCompactionFilter(std::shared_ptr<SystemClock> clock, std::shared_ptr<TtlSetting> ttl,
                      std::unique_ptr<CompactionFilter> user_filter);

  static const char* kClassName() { return "TtlCompactionFilter"; }
  const char* Name() const override { return kClassName(); }
  bool IsInstanceOf(const std::string& id) const override;
  const Customizable* Inner() const override { return user_; }
  const CompactionFilter* user_filter() const { return user_; }

  Decision FilterV3(int level, const Slice& key, ValueType value_type, const Slice* existing_value,
                    const WideColumns* existing_columns, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string* skip_until) const override;
  Decision FilterV4(int level, const Slice& key, ValueType value_type, const Slice* existing_value,
                    const WideColumns* existing_columns, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string* skip_until, WideColumnBlobResolver* blob_resolver) const override;
  bool SupportsFilterV4() const override { return user_ != nullptr && user_->SupportsFilterV4(); }
  // The time is in the value, so the value is needed unless the user's filter removes the key.
  Decision FilterBlobByKey(int level, const Slice& key, std::string* new_value,
                           std::string* skip_until) const override;
  bool IgnoreSnapshots() const override { return user_ == nullptr || user_->IgnoreSnapshots(); }

 protected:
  std::string SerializeOptions(const ConfigOptions& config,
                               const std::string& prefix) const override;

 private:
  // Whether a stored value has expired at now_. The setting may change between two values.
  bool IsTooOld(const Slice& stored) const;
  // Calls `ask` with the value as the user's filter shall see it, and gives a changed value the
  // time of the old one.
  template <typename Ask>
  Decision FilterStored(ValueType type, const Slice* stored, std::string* new_value,
                        Ask&& ask) const;

  const std::shared_ptr<SystemClock> clock_;
  const std::shared_ptr<TtlSetting> ttl_;
  const std::unique_ptr<CompactionFilter> owned_;  // the user's filter, or null
  const CompactionFilter* const user_;             // null: none
  std::optional<int64_t> now_;                     // empty: the clock is read for each value
};

class TtlCompactionFilterFactory final : public CompactionFilterFactory {
 public:
  // `user_factory` may be null. Texts set it and the TTL by the options "user_filter_factory" and
  // "ttl".
  TtlCompactionFilterFactory(std::shared_ptr<SystemClock> clock, std::shared_ptr<TtlSetting> ttl,
                             std::shared_ptr<CompactionFilterFactory> user_factory);

  static const char* kClassName() { return "TtlCompactionFilterFactory"; }
  const char* Name() const override { return kClassName(); }
  const Customizable* Inner() const override { return user_.get(); }
  const std::shared_ptr<CompactionFilterFactory>& user_factory() const { return user_; }

  // Compactions always; other jobs if the user's factory filters them.
  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override;
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override;

 protected:
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& options,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string SerializeOptions(const ConfigOptions& config,
                               const std::string& prefix) const override;

 private:
  const std::shared_ptr<SystemClock> clock_;
  const std::shared_ptr<TtlSetting> ttl_;
  std::shared_ptr<CompactionFilterFactory> user_;  // null: none
};

}  // namespace ashlar
