// SPDX-License-Identifier: Apache-2.0
//
// ReadExplainer turns the notifications of one read into an explanation.
//
// It lives around the read, on the same thread. Its constructor replaces the thread's perf level
// and perf context, and its destructor restores them. The cost of a place is the difference in the
// clock, in the perf context and in the counters of the lookup between entering and leaving the
// place.
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
#include "util/keys/internal_key.h"

namespace ashlar {

class Iterator;
class SuperVersion;

class ReadExplainer final : public ReadTrace {
 public:
  // `explanation` has no places yet, and outlives this object. `stamp_bytes`: the size of the
  // timestamps of the family's keys.
  explicit ReadExplainer(ReadExplanation* explanation, size_t stamp_bytes = 0);
  ~ReadExplainer() override;
  ReadExplainer(const ReadExplainer&) = delete;
  ReadExplainer& operator=(const ReadExplainer&) = delete;

  void EnterMemTable(const MemTablePlace& place) override;
  void EnterTable(const Table& table) override;
  void OnRowFound() override;
  void OnBlock(const Block& block) override;
  void OnTombstone(const Tombstone& tombstone) override;
  void OnFilter(bool let_through, bool is_of_prefixes) override;
  void BeginLookup(const PointLookup& lookup) override;
  void EndLookup(const PointLookup& lookup) override;
  void AddRun(size_t run, const MemTablePlace* memtable) override;
  void EnterRun(size_t run) override;
  void OnEntryShown(const Slice& internal_key) override;
  void OnEntryLeft(const Slice& internal_key) override;

  // Called after a seek: notes the position of the iterator.
  void EndSeek(const Iterator& iterator);
  // The same for a read of a family with timestamps, a lookup too. `stored`: the key of the version
  // that was found, a value or a tombstone, with its timestamp; null: none was.
  void EndStampedRead(const Iterator& iterator, const Slice* stored);

 private:
  static constexpr size_t kNoPlace = SIZE_MAX;
  // A run of an iterator.
  struct Run {
    std::optional<MemTablePlace> memtable;
    size_t place = kNoPlace;  // index of its current or last place
    bool has_moved = false;
    std::string shown;  // internal key of the entry it stands on; empty: none
    // The user key of the last visible entry that the run has left. The counts are of its versions;
    // going backward, only of the versions from the newest one on that is no operand.
    std::string left_key;
    uint64_t left_values = 0;
    uint64_t left_operands = 0;
    uint64_t left_deletes = 0;
    SequenceNumber left_seqno = 0;       // of the newest of these versions
    SequenceNumber left_base_seqno = 0;  // of the newest that is no operand; 0: there is none

    uint64_t left() const { return left_values + left_operands + left_deletes; }
  };

  // The current place.
  ExplainedPlace& place() {
    assert(current_ < explanation_->places.size());
    return explanation_->places[current_];
  }
  void StartPlace(ExplainedPlace place);
  // Adds time and bytes since the last call to the current place.
  void Charge();
  // Writes the changes that the current place made to the lookup into that place.
  void NoteLookup();
  void NoteLeft(Run* run, const Slice& internal_key);
  void NoteAnswer(const Run& run, bool is_folded);
  void NoteAnswerBackwards(const Run& run, bool is_folded);
  // Whether the run has passed versions of the key that the iterator shows.
  bool HasLeftFoundKey(const Run& run) const {
    return has_answer_ && run.left() != 0 && run.left_key == answer_key_;
  }
  // With timestamps a backward seek ends with a forward seek to the newest version of its key.
  bool is_backward() const {
    return explanation_->read == ExplainedRead::kSeekForPrev && stamp_bytes_ == 0;
  }
  // Without a timestamp.
  Slice WithoutStamp(Slice stored) const {
    stored.remove_suffix(stored.size() < stamp_bytes_ ? 0 : stamp_bytes_);
    return stored;
  }
  void NoteEnd(const Iterator& iterator);

  ReadExplanation* const explanation_;
  const size_t stamp_bytes_;
  const PerfLevel level_before_;
  const PerfContext context_before_;
  const uint64_t start_nanos_;
  uint64_t nanos_;           // time of the last Charge()
  uint64_t bytes_read_ = 0;  // in the perf context at the last Charge()

  size_t current_ = kNoPlace;  // index of the place where the read is
  // For lookups: the lookup, and its state when the current place was entered.
  const PointLookup* lookup_ = nullptr;
  PointLookup::Counters counters_;
  size_t operand_count_ = 0;
  SequenceNumber covering_seqno_ = 0;
  // The next members are used only when a seek is explained.
  std::vector<Run> runs_;
  size_t run_ = 0;  // index of the run that moved last
  bool has_answer_ = false;
  std::string answer_key_;     // the user key of which the iterator has found a version
  std::string answer_stored_;  // the key of that version
};

// Called after a Get, outside of epochs: fills in the keys of tombstones in memtables, because a
// lookup learns only their sequence numbers. They stay empty for a memtable that is not in
// `super_version`.
void FindMemTableTombstones(const SuperVersion& super_version, ReadExplanation* explanation);

}  // namespace ashlar
