// SPDX-License-Identifier: Apache-2.0
//
// ReadExplainer turns what one read reports of itself into an explanation.
//
// It lives around the read, on the same thread, whose perf level and context are as before when it
// is gone. What a place cost is the difference that it made to the clock, to the perf context and
// to the counters of the lookup.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/explain.h"
#include "ashlar/perf_context.h"
#include "table/iterator/point_lookup.h"
#include "table/iterator/read_trace.h"

namespace ashlar {

class Iterator;
class SuperVersion;

class ReadExplainer final : public ReadTrace {
 public:
  // The explanation is new and outlives it.
  explicit ReadExplainer(ReadExplanation* explanation);
  ~ReadExplainer() override;
  ReadExplainer(const ReadExplainer&) = delete;
  ReadExplainer& operator=(const ReadExplainer&) = delete;

  void EnterMemTable(const MemTablePlace& place) override;
  void EnterTable(const Table& table) override;
  void OnRowFound() override;
  void OnBlock(const Block& block) override;
  void OnTombstone(const Tombstone& tombstone) override;
  void OnPrefixFilter(bool let_through) override;
  void BeginLookup(const PointLookup& lookup) override;
  void EndLookup(const PointLookup& lookup) override;
  void AddRun(size_t run, const MemTablePlace* memtable) override;
  void EnterRun(size_t run) override;
  void OnEntryShown(const Slice& internal_key) override;
  void OnEntryLeft(const Slice& internal_key) override;

  // After a seek.
  void EndSeek(const Iterator& iterator);

 private:
  static constexpr size_t kNoPlace = SIZE_MAX;
  // A run of an iterator.
  struct Run {
    std::optional<MemTablePlace> memtable;
    size_t place = kNoPlace;  // where it is, or was when it came to its end
    bool has_moved = false;
    std::string shown;  // internal key of the entry it stands on; empty: none
    // Of the entries it has left, those of the last user key that the reader may see; backwards
    // those from the newest one that is no operand on.
    std::string left_key;
    uint64_t left_values = 0;
    uint64_t left_operands = 0;
    uint64_t left_deletes = 0;
    SequenceNumber left_seqno = 0;       // of the newest of them
    SequenceNumber left_base_seqno = 0;  // of the newest that is no operand; 0 also for none

    uint64_t left() const { return left_values + left_operands + left_deletes; }
  };

  ExplainedPlace& place() {
    assert(current_ < explanation_->places.size());
    return explanation_->places[current_];
  }
  void StartPlace(ExplainedPlace place);
  // Adds time and bytes since the last call to the current place.
  void Charge();
  void NoteLookup();
  void NoteLeft(Run* run, const Slice& internal_key);
  void NoteAnswer(const Run& run, bool is_folded);
  void NoteAnswerBackwards(const Run& run, bool is_folded);
  bool HasLeftFoundKey(const Run& run) const {
    return explanation_->is_valid && run.left() != 0 && run.left_key == explanation_->found_key;
  }
  bool is_backward() const { return explanation_->read == ExplainedRead::kSeekForPrev; }

  ReadExplanation* const explanation_;
  const PerfLevel level_before_;
  const PerfContext context_before_;
  const uint64_t start_nanos_;
  uint64_t nanos_;  // as of the last Charge(), as is the next
  uint64_t bytes_read_ = 0;

  size_t current_ = kNoPlace;  // index of the place that the read is in
  // Of a lookup, as the place before left it.
  const PointLookup* lookup_ = nullptr;
  PointLookup::Counters counters_;
  size_t operand_count_ = 0;
  SequenceNumber covering_seqno_ = 0;
  // Of a seek.
  std::vector<Run> runs_;
  size_t run_ = 0;  // that moves
};

// After a Get, outside of epochs: the keys of the tombstones of memtables, of which a lookup is
// told the sequence number alone. Of a memtable that is not in `super_version` it stays so.
void FindMemTableTombstones(const SuperVersion& super_version, ReadExplanation* explanation);

}  // namespace ashlar
