// SPDX-License-Identifier: Apache-2.0
//
// The class names and the options stand in OPTIONS files in the form that RocksDB writes.
#include "db/utilities/ttl/ttl_filter.h"

#include <cassert>

#include "ashlar/convenience.h"
#include "util/result.h"
#include "util/text/option_text.h"
#include "util/text/str_cat.h"

namespace ashlar {

TtlCompactionFilter::TtlCompactionFilter(std::shared_ptr<SystemClock> clock,
                                         std::shared_ptr<TtlSetting> ttl,
                                         const CompactionFilter* user_filter)
    : clock_(std::move(clock)), ttl_(std::move(ttl)), user_(user_filter) {
  assert(clock_ != nullptr && ttl_ != nullptr && user_ != nullptr);
}

// If the clock fails, nothing is too old.
TtlCompactionFilter::TtlCompactionFilter(std::shared_ptr<SystemClock> clock,
                                         std::shared_ptr<TtlSetting> ttl,
                                         std::unique_ptr<CompactionFilter> user_filter)
    : clock_(std::move(clock)),
      ttl_(std::move(ttl)),
      owned_(std::move(user_filter)),
      user_(owned_.get()) {
  assert(clock_ != nullptr && ttl_ != nullptr);
  int64_t now = 0;
  // A time of 0 is before every write.
  // Read once for the whole job, so all entries of a compaction are compared with the same time.
  now_ = clock_->GetCurrentTime(&now).ok() ? now : 0;
}

bool TtlCompactionFilter::IsInstanceOf(const std::string& id) const {
  return id == "Delete By TTL" || CompactionFilter::IsInstanceOf(id);
}

bool TtlCompactionFilter::IsTooOld(const Slice& stored) const {
  const int32_t ttl = ttl_->seconds.load(std::memory_order_relaxed);
  // 0 and negative numbers mean that values do not expire.
  if (ttl <= 0) return false;
  int64_t now = now_.value_or(0);
  // Without a time of the job the clock is read for each value: this filter lives as long as the
  // database.
  if (!now_.has_value() && !clock_->GetCurrentTime(&now).ok()) return false;
  return IsExpired(WriteTimeOf(stored), ttl, now);
}

template <typename Ask>
CompactionFilter::Decision TtlCompactionFilter::FilterStored(ValueType type, const Slice* stored,
                                                             std::string* new_value,
                                                             Ask&& ask) const {
  const bool has_columns = type == ValueType::kWideColumnEntity;
  // Columns have no place for a time, so they never expire.
  if (has_columns) return user_ == nullptr ? Decision::kKeep : ask(stored);
  assert(stored != nullptr);
  // The value was not written by a DBWithTTL, or is damaged. It is not for a filter to remove it.
  if (!HasWriteTime(*stored)) return Decision::kKeep;
  // Merge operands do not expire by themselves.
  if (type == ValueType::kValue && IsTooOld(*stored)) return Decision::kRemove;
  if (user_ == nullptr) return Decision::kKeep;
  const Slice value = WithoutWriteTime(*stored);
  const Decision decision = ask(&value);
  assert(new_value != nullptr || decision != Decision::kChangeValue);
  // A changed value keeps the time of the old one, because the change is not a write of the
  // program.
  if (decision == Decision::kChangeValue) AppendWriteTime(new_value, WriteTimeOf(*stored));
  // Readers would take the end of the default column for a time. PutEntity() is refused too.
  return decision == Decision::kChangeWideColumnEntity ? Decision::kIOError : decision;
}

// The user's filter sees values without times, in all forms of the call.
CompactionFilter::Decision TtlCompactionFilter::FilterV3(
    int level, const Slice& key, ValueType value_type, const Slice* existing_value,
    const WideColumns* existing_columns, std::string* new_value,
    std::vector<std::pair<std::string, std::string>>* new_columns, std::string* skip_until) const {
  return FilterStored(value_type, existing_value, new_value, [&](const Slice* value) {
    return user_->FilterV3(level, key, value_type, value, existing_columns, new_value, new_columns,
                           skip_until);
  });
}

CompactionFilter::Decision TtlCompactionFilter::FilterV4(
    int level, const Slice& key, ValueType value_type, const Slice* existing_value,
    const WideColumns* existing_columns, std::string* new_value,
    std::vector<std::pair<std::string, std::string>>* new_columns, std::string* skip_until,
    WideColumnBlobResolver* blob_resolver) const {
  return FilterStored(value_type, existing_value, new_value, [&](const Slice* value) {
    return user_->FilterV4(level, key, value_type, value, existing_columns, new_value, new_columns,
                           skip_until, blob_resolver);
  });
}

// The write time is in the value, so a blob cannot expire by its key alone.
CompactionFilter::Decision TtlCompactionFilter::FilterBlobByKey(int level, const Slice& key,
                                                                std::string* new_value,
                                                                std::string* skip_until) const {
  // Without the user's filter the value must be read, because its age decides.
  if (user_ == nullptr) return Decision::kUndetermined;
  const Decision decision = user_->FilterBlobByKey(level, key, new_value, skip_until);
  // Other decisions need the value, and are asked for again with it.
  const bool removes = decision == Decision::kRemove || decision == Decision::kPurge ||
                       decision == Decision::kRemoveAndSkipUntil || decision == Decision::kIOError;
  return removes ? decision : Decision::kUndetermined;
}

std::string TtlCompactionFilter::SerializeOptions(const ConfigOptions& config,
                                                  const std::string& /*prefix*/) const {
  return StrCat("ttl=", ttl_->seconds.load(std::memory_order_relaxed),
                ";user_filter=", user_ == nullptr ? "nullptr" : user_->ToString(config), ";");
}

TtlCompactionFilterFactory::TtlCompactionFilterFactory(
    std::shared_ptr<SystemClock> clock, std::shared_ptr<TtlSetting> ttl,
    std::shared_ptr<CompactionFilterFactory> user_factory)
    : clock_(std::move(clock)), ttl_(std::move(ttl)), user_(std::move(user_factory)) {
  assert(clock_ != nullptr && ttl_ != nullptr);
}

bool TtlCompactionFilterFactory::ShouldFilterTableFileCreation(
    TableFileCreationReason reason) const {
  return reason == TableFileCreationReason::kCompaction ||
         // Expiry happens in compactions only; for other reasons the user's factory is asked.
         (user_ != nullptr && user_->ShouldFilterTableFileCreation(reason));
}

// The user's factory may give no filter for this job; expiry works without one.
std::unique_ptr<CompactionFilter> TtlCompactionFilterFactory::CreateCompactionFilter(
    const CompactionFilter::Context& context) {
  std::unique_ptr<CompactionFilter> of_user;
  if (user_ != nullptr && user_->ShouldFilterTableFileCreation(context.reason)) {
    of_user = user_->CreateCompactionFilter(context);
  }
  return std::make_unique<TtlCompactionFilter>(clock_, ttl_, std::move(of_user));
}

Status TtlCompactionFilterFactory::ConfigureOptions(
    const ConfigOptions& config, const std::unordered_map<std::string, std::string>& options,
    std::unordered_map<std::string, std::string>* unused) {
  // Options of this class are taken out of the list; the base class handles the rest.
  auto rest = options;
  if (const auto given = rest.find("ttl"); given != rest.end()) {
    // 0 and negative numbers mean that values do not expire.
    int64_t ttl = 0;
    if (!ParseInt64Text(given->second, &ttl) || ttl > INT32_MAX || ttl < INT32_MIN) {
      return Status::InvalidArgument("TtlCompactionFilterFactory: bad ttl", given->second);
    }
    ttl_->seconds.store(static_cast<int32_t>(ttl), std::memory_order_relaxed);
    rest.erase(given);
  }
  if (const auto given = rest.find("user_filter_factory"); given != rest.end()) {
    RETURN_IF_ERROR(CompactionFilterFactory::CreateFromString(config, given->second, &user_));
    rest.erase(given);
  }
  return CompactionFilterFactory::ConfigureOptions(config, rest, unused);
}

std::string TtlCompactionFilterFactory::SerializeOptions(const ConfigOptions& config,
                                                         const std::string& /*prefix*/) const {
  return StrCat("user_filter_factory=", user_ == nullptr ? "nullptr" : user_->ToString(config),
                ";ttl=", ttl_->seconds.load(std::memory_order_relaxed), ";");
}

}  // namespace ashlar
