// SPDX-License-Identifier: Apache-2.0
//
// Properties and counters of an iterator. Counts are kept in members at first, because this is
// cheap. They go to the thread's perf context at the next seek or at the end, or after each move if
// moves are measured; they go to the statistics at the end.
#include <cassert>

#include "db/read/db_iterator.h"
#include "db/read/iterator_properties.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"

namespace ashlar {

Status DBIterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop != nullptr && prop_name == kAddressProperty) return GetAddress(prop);
  if (prop != nullptr && prop_name == "rocksdb.iterator.internal-key") {
    if (!valid_) return Status::InvalidArgument("iterator is not valid");
    *prop = key().ToString();
    return Status::OK();
  }
  return GetPropertyOverView(view_, valid_, prop_name, prop);
}

// Measures one move. The move itself is done by a nested call of Next(): there is no separate
// function for it, so that a move without measurements needs no extra call. is_measured_ is false
// during the nested call, which ends the recursion.
void DBIterator::NextMeasured() {
  const CpuTimer cpu(&PerfContextBase::iter_next_cpu_nanos);
  const PerfTimer timer(&PerfContextBase::find_next_user_entry_time);
  is_measured_ = false;
  const std::string last = options_.tailing ? key().ToString() : std::string();
  Next();
  if (options_.tailing && !valid_) LookBehind(last);
  is_measured_ = true;
  ReportSteps();
  CountStep(&nexts_);
}

void DBIterator::PrevMeasured() {
  const CpuTimer cpu(&PerfContextBase::iter_prev_cpu_nanos);
  is_measured_ = false;
  Prev();
  is_measured_ = true;
  ReportSteps();
  CountStep(&prevs_);
}

// Going backwards, a value or an operand is taken before it is known to be overwritten. So it
// counts as skipped when the version that replaces it is met, which is at `internal_key`.
// Tombstones and versions above the snapshot have counted when they were met. `is_value`: there is
// a value below the operands.
bool DBIterator::CountReplaced(const Slice& internal_key, bool is_value) {
  AddPerfCount(&PerfContextBase::internal_key_skipped_count);
  const uint64_t trailer = ExtractTrailer(internal_key);
  if (!IsVisible(TrailerSeqno(trailer)) || TrailerType(trailer) == kTypeMerge) return true;
  skipped_ += operands_.count() + (is_value ? 1 : 0);
  return IsWithinSkipLimit();
}

// Counts a seek that was made in place of many single steps.
void DBIterator::CountReseek() {
  if (statistics_ != nullptr) reseeks_++;
}

// Counts a finished move, and the bytes of the entry on which it ended.
void DBIterator::CountStep(Steps* steps) {
  assert(steps != nullptr);
  assert(is_measured_);
  steps->made++;
  skipped_sum_ += skipped_;
  if (!valid_) return;
  steps->found++;
  const size_t bytes = key().size() + value().size();
  bytes_shown_ += bytes;
  AddPerfCount(&PerfContextBase::iter_read_bytes, bytes);
}

void DBIterator::ReportSteps() {
  AddPerfCount(&PerfContextBase::iter_next_count, nexts_to_report_);
  AddPerfCount(&PerfContextBase::iter_prev_count, prevs_to_report_);
  nexts_to_report_ = prevs_to_report_ = 0;
}

// Called once, by the destructor.
void DBIterator::ReportCounts() const {
  assert(statistics_ != nullptr);
  const auto report = [this](Tickers ticker, uint64_t count) {
    if (count > 0) statistics_->recordTick(ticker, count);
  };
  report(NO_ITERATOR_DELETED, 1);
  report(NUMBER_DB_SEEK, seeks_.made);
  report(NUMBER_DB_SEEK_FOUND, seeks_.found);
  report(NUMBER_DB_NEXT, nexts_.made);
  report(NUMBER_DB_NEXT_FOUND, nexts_.found);
  report(NUMBER_DB_PREV, prevs_.made);
  report(NUMBER_DB_PREV_FOUND, prevs_.found);
  report(ITER_BYTES_READ, bytes_shown_);
  report(NUMBER_OF_RESEEKS_IN_ITERATION, reseeks_);
  report(NUMBER_ITER_SKIP, skipped_sum_);
}

}  // namespace ashlar
