// SPDX-License-Identifier: Apache-2.0
//
// Ten digits are enough until the year 2286; so keys are in the order of time, and the two that say
// the format are behind all looks.
#include "db/jobs/stored_history.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "ashlar/iterator.h"
#include "ashlar/table.h"
#include "ashlar/write_batch.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kDigits = 10;
constexpr uint64_t kLastSecond = 9'999'999'999;
constexpr char kSeparator = '#';
// What the family is written in, and the oldest format whose readers understand that.
constexpr std::string_view kFormatKey = "__persistent_stats_format_version__";
constexpr std::string_view kCompatibleKey = "__persistent_stats_compatible_version__";
constexpr uint64_t kFormat = 1;

std::string KeyOf(uint64_t seconds, std::string_view counter) {
  assert(seconds <= kLastSecond);
  const std::string digits = std::to_string(seconds);
  return StrCat(std::string(kDigits - digits.size(), '0'), digits, std::string(1, kSeparator),
                counter);
}

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

ColumnFamilyOptions StoredHistoryOptions() {
  ColumnFamilyOptions options;
  options.write_buffer_size = 2 << 20;
  options.target_file_size_base = 2 << 20;
  options.max_bytes_for_level_base = 10 << 20;
  options.soft_pending_compaction_bytes_limit = 256 << 20;
  options.hard_pending_compaction_bytes_limit = 1 << 30;
  options.compression = kNoCompression;
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

Status StoredHistory::Prepare() {
  std::string compatible;
  const Status found = db_->Get(ReadOptions(), family_.get(), Slice(kCompatibleKey), &compatible);
  if (found.ok()) {
    const std::optional<uint64_t> format = ParseNumber(compatible);
    if (format.has_value() && *format <= kFormat) return Status::OK();
    return Status::NotSupported(StrCat("stored statistics: ", family_->GetName(),
                                       ": format expected at most ", kFormat, ", found ",
                                       compatible));
  }
  if (!found.IsNotFound()) return found;
  WriteBatch batch;
  RETURN_IF_ERROR(batch.Put(family_.get(), Slice(kFormatKey), std::to_string(kFormat)));
  RETURN_IF_ERROR(batch.Put(family_.get(), Slice(kCompatibleKey), std::to_string(kFormat)));
  return db_->Write(WriteOptions(), &batch);
}

Status StoredHistory::Add(uint64_t seconds, const StatisticsHistory::Counters& gains) {
  WriteBatch batch;
  for (const auto& [counter, gain] : gains) {
    RETURN_IF_ERROR(
        batch.Put(family_.get(), KeyOf(std::min(seconds, kLastSecond), counter),
                  std::to_string(gain)));
  }
  WriteOptions options;
  options.low_pri = true;
  options.no_slowdown = true;
  return db_->Write(options, &batch);
}

Result<std::vector<StatisticsHistory::Entry>> StoredHistory::Between(uint64_t begin,
                                                                     uint64_t end) const {
  std::vector<StatisticsHistory::Entry> entries;
  std::shared_ptr<StatisticsHistory::Counters> gains;  // of the last entry
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), family_.get()));
  for (it->Seek(KeyOf(std::min(begin, kLastSecond), "")); it->Valid(); it->Next()) {
    const std::string_view key(it->key().data(), it->key().size());
    if (key > kCompatibleKey || key == kCompatibleKey) break;
    const std::optional<uint64_t> seconds = ParseNumber(key.substr(0, kDigits));
    const std::optional<uint64_t> gain = ParseNumber(it->value().ToStringView());
    if (!seconds || !gain || key.size() <= kDigits || key[kDigits] != kSeparator) {
      return Status::Corruption(
          StrCat("stored statistics: ", family_->GetName(), ": expected <10 digits>#<counter> and ",
                 "a number, found ", EscapeBytes(it->key()), " and ", EscapeBytes(it->value())));
    }
    if (*seconds >= end) break;
    if (entries.empty() || entries.back().seconds != *seconds) {
      gains = std::make_shared<StatisticsHistory::Counters>();
      entries.push_back({.seconds = *seconds, .gains = gains});
    }
    gains->emplace(key.substr(kDigits + 1), *gain);
  }
  RETURN_IF_ERROR(it->status());
  return entries;
}

}  // namespace ashlar
