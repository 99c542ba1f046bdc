// SPDX-License-Identifier: Apache-2.0
//
// Keys begin with ten digits of seconds, which suffice until the year 2286. So the order of keys is
// the order of time, and the two keys with the format version come after all samples.
#include "db/report/stored_history.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "ashlar/iterator.h"
#include "ashlar/table.h"
#include "ashlar/write_batch.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kDigits = 10;
constexpr uint64_t kLastSecond = 9'999'999'999;
constexpr char kSeparator = '#';
// The format of the family, and the oldest format whose readers understand it.
constexpr std::string_view kFormatKey = "__persistent_stats_format_version__";
constexpr std::string_view kCompatibleKey = "__persistent_stats_compatible_version__";
constexpr uint64_t kFormat = 1;

// The key of a counter in the sample of that second.
std::string KeyOf(uint64_t seconds, std::string_view counter) {
  assert(seconds <= kLastSecond);
  const std::string digits = std::to_string(seconds);
  return StrCat(std::string(kDigits - digits.size(), '0'), digits, std::string(1, kSeparator),
                counter);
}

// No value if the text is not a number, or if the number is too large.
std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Options of a write that returns Incomplete instead of waiting.
WriteOptions NeverWaiting() {
  WriteOptions options;
  options.low_pri = true;
  options.no_slowdown = true;
  return options;
}

// Shows one sample at a time, as a copy; `it_` is positioned behind the keys of this sample.
class StoredIterator final : public StatsHistoryIterator {
 public:
  StoredIterator(std::unique_ptr<Iterator> it, uint64_t begin, uint64_t end)
      : it_(std::move(it)), end_(end) {
    assert(it_ != nullptr);
    it_->Seek(KeyOf(std::min(begin, kLastSecond), ""));
    Next();
  }

  bool Valid() const override { return is_valid_; }
  // Collects the entries of the next sample: all keys with the same second.
  void Next() override {
    is_valid_ = false;
    gains_.clear();
    for (; status_.ok() && it_->Valid(); it_->Next()) {
      const std::string_view key(it_->key().data(), it_->key().size());
      // The format keys follow all samples.
      if (key == kCompatibleKey) break;
      uint64_t seconds = 0;
      status_ = Take(key, &seconds);
      // The iterator stays at the first entry of the next sample.
      if (!status_.ok() || seconds >= end_ || (is_valid_ && seconds != seconds_)) break;
      gains_[std::string(key.substr(kDigits + 1))] = gain_;
      seconds_ = seconds;
      is_valid_ = true;
    }
    status_.UpdateIfOk(it_->status());
    if (!status_.ok()) is_valid_ = false;
  }
  uint64_t GetStatsTime() const override { return seconds_; }
  const StatisticsHistory::Counters& GetStatsMap() const override { return gains_; }
  Status status() const override { return status_; }

 private:
  // Parses the entry at `it_`.
  Status Take(std::string_view key, uint64_t* seconds) {
    const std::optional<uint64_t> time = ParseNumber(key.substr(0, kDigits));
    const std::optional<uint64_t> gain = ParseNumber(it_->value().ToStringView());
    if (!time || !gain || key.size() <= kDigits || key[kDigits] != kSeparator) {
      return Status::Corruption(
          StrCat("stored statistics: expected <10 digits>#<counter> and a "
                 "number, found ",
                 EscapeBytes(it_->key()), " and ", EscapeBytes(it_->value())));
    }
    *seconds = *time;
    gain_ = *gain;
    return Status::OK();
  }

  const std::unique_ptr<Iterator> it_;
  const uint64_t end_;  // exclusive
  bool is_valid_ = false;
  uint64_t seconds_ = 0;  // of the present sample
  uint64_t gain_ = 0;     // of the entry that was parsed last
  StatisticsHistory::Counters gains_;
  Status status_;
};

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

Status StoredHistory::Prepare(bool may_write) {
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), family_.get()));
  it->Seek(Slice(kCompatibleKey));
  RETURN_IF_ERROR(it->status());
  // The key exists: an older release or RocksDB may have written it.
  if (it->Valid() && it->key() == Slice(kCompatibleKey)) {
    const std::optional<uint64_t> format = ParseNumber(it->value().ToStringView());
    if (format.has_value() && *format <= kFormat) return Status::OK();
    return Status::NotSupported(StrCat("stored statistics: ", family_->GetName(),
                                       ": format expected at most ", kFormat, ", found ",
                                       EscapeBytes(it->value())));
  }
  // A read-only instance only reads what is there.
  if (!may_write) return Status::OK();
  // One batch, so that a crash leaves both keys or none.
  WriteBatch batch;
  RETURN_IF_ERROR(batch.Put(family_.get(), Slice(kFormatKey), std::to_string(kFormat)));
  RETURN_IF_ERROR(batch.Put(family_.get(), Slice(kCompatibleKey), std::to_string(kFormat)));
  return db_->Write(NeverWaiting(), &batch);
}

Status StoredHistory::Add(uint64_t seconds, const StatisticsHistory::Counters& gains) {
  // One batch, so that a sample is stored completely or not at all.
  WriteBatch batch;
  for (const auto& [counter, gain] : gains) {
    RETURN_IF_ERROR(batch.Put(family_.get(), KeyOf(std::min(seconds, kLastSecond), counter),
                              std::to_string(gain)));
  }
  return db_->Write(NeverWaiting(), &batch);
}

std::unique_ptr<StatsHistoryIterator> StoredHistory::Between(uint64_t begin, uint64_t end) const {
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), family_.get()));
  return std::make_unique<StoredIterator>(std::move(it), begin, end);
}

}  // namespace ashlar
