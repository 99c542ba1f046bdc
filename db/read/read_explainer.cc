// SPDX-License-Identifier: Apache-2.0
//
// Explains a read place by place. For a lookup, the answer of a place is the change that the place
// makes to the lookup. The runs of an iterator move back and forth. Each run is at one place at a
// time, and its part of the answer follows from the entries that it shows and leaves behind.
#include "db/read/read_explainer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/iterator.h"
#include "ashlar/system_clock.h"
#include "db/read/super_version.h"
#include "memtable/memtable.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

using Place = ExplainedPlace;

uint64_t Now() { return SystemClock::Default()->NowNanos(); }
double Micros(uint64_t nanos) { return static_cast<double>(nanos) / 1000; }

// The answer of the filters of a place, which is seen by how the lookup's counters have grown.
Place::Filter CountedAnswer(const PointLookup::Counters& before,
                            const PointLookup::Counters& after) {
  const auto rejected = [](const PointLookup::Counters& c) {
    return c.filter_useful + c.prefix_filter_useful + c.memtable_filter_useful;
  };
  const auto let_through = [](const PointLookup::Counters& c) {
    return c.filter_positive + c.prefix_filter_positive + c.memtable_filter_positive;
  };
  if (rejected(after) != rejected(before)) return Place::Filter::kRejected;
  return let_through(after) != let_through(before) ? Place::Filter::kLetThrough
                                                   : Place::Filter::kNotAsked;
}

// The part of the answer that a place has given. `is_covered`: a range tombstone of the place
// covers the key.
Place::Found FoundBy(const PointLookup& lookup, size_t operand_count, bool is_covered) {
  switch (lookup.outcome()) {
    case PointLookup::Outcome::kFound: return Place::Found::kValue;
    case PointLookup::Outcome::kDeleted:
      if (lookup.seqno() == lookup.covering_seqno()) break;
      return Place::Found::kTombstone;
    case PointLookup::Outcome::kFailed: return Place::Found::kFailure;
    case PointLookup::Outcome::kUndecided: break;
  }
  if (is_covered) return Place::Found::kRangeTombstone;
  return operand_count != 0 ? Place::Found::kMergeOperands : Place::Found::kNothing;
}

ExplainedBlock Explained(const ReadTrace::Block& block) {
  return {.kind = static_cast<ExplainedBlock::Kind>(block.kind),
          .origin = static_cast<ExplainedBlock::Origin>(block.origin),
          .offset = block.offset,
          .bytes = block.bytes,
          .micros = Micros(block.nanos)};
}
static_assert(static_cast<int>(ExplainedBlock::Kind::kFilter) ==
              static_cast<int>(ReadTrace::BlockKind::kFilter));
static_assert(static_cast<int>(ExplainedBlock::Origin::kFile) ==
              static_cast<int>(ReadTrace::Origin::kFile));

}  // namespace

// Takes over the perf context of the thread for the duration of the read; the destructor restores
// it.
ReadExplainer::ReadExplainer(ReadExplanation* explanation, size_t stamp_bytes)
    : explanation_(explanation),
      stamp_bytes_(stamp_bytes),
      level_before_(GetPerfLevel()),
      context_before_(*get_perf_context()),
      start_nanos_(Now()),
      nanos_(start_nanos_) {
  assert(explanation != nullptr);
  assert(explanation->places.empty());
  SetPerfLevel(kEnableTimeExceptForMutex);
  get_perf_context()->Reset();
}

ReadExplainer::~ReadExplainer() {
  explanation_->micros = Micros(Now() - start_nanos_);
  explanation_->merge_micros = Micros(get_perf_context()->merge_operator_time_nanos);
  *get_perf_context() = context_before_;
  SetPerfLevel(level_before_);
}

// Charges time and bytes since the last call to the current place.
void ReadExplainer::Charge() {
  const uint64_t now = Now();
  const uint64_t bytes_read = get_perf_context()->block_read_byte;
  if (current_ != kNoPlace) {
    place().micros += Micros(now - nanos_);
    place().bytes_read += bytes_read - bytes_read_;
  }
  nanos_ = now;
  bytes_read_ = bytes_read;
}

void ReadExplainer::StartPlace(ExplainedPlace started) {
  explanation_->places.push_back(std::move(started));
  current_ = explanation_->places.size() - 1;
}

void ReadExplainer::EnterMemTable(const MemTablePlace& memtable) {
  Charge();
  NoteLookup();
  StartPlace(
      {.kind = memtable.is_immutable ? Place::Kind::kImmutableMemTable : Place::Kind::kMemTable,
       .number = memtable.id});
}

// A lookup enters a table a second time when it continues outside of the epoch. Both visits are one
// place of the explanation.
void ReadExplainer::EnterTable(const Table& table) {
  assert(table.level >= 0);
  Charge();
  Place entered{.kind = Place::Kind::kTable,
                .number = table.number.value(),
                .level = table.level,
                .smallest_key = table.smallest.ToString(),
                .largest_key = table.largest.ToString(),
                .file_bytes = table.file_bytes,
                .was_opened = !table.is_open};
  const bool is_anew = lookup_ != nullptr && current_ != kNoPlace &&
                       place().kind == Place::Kind::kTable &&
                       place().number == table.number.value();
  if (is_anew) {
    entered.micros = place().micros;
    entered.bytes_read = place().bytes_read;
    place() = std::move(entered);
    return;
  }
  NoteLookup();
  StartPlace(std::move(entered));
  if (!runs_.empty()) runs_[run_].place = current_;
}

void ReadExplainer::OnRowFound() { place().was_in_row_cache = true; }

void ReadExplainer::OnBlock(const Block& block) { place().blocks.push_back(Explained(block)); }

// A merge may ask for several parts of one tombstone. They are noted once.
void ReadExplainer::OnTombstone(const Tombstone& tombstone) {
  if (current_ == kNoPlace) return;  // the run is at its end
  std::vector<ExplainedTombstone>& known = place().tombstones;
  if (!known.empty() && known.back().seqno == tombstone.seqno &&
      known.back().end == tombstone.end) {
    return;
  }
  known.push_back({.begin = tombstone.begin.ToString(),
                   .end = tombstone.end.ToString(),
                   .seqno = tombstone.seqno});
}

void ReadExplainer::OnFilter(bool let_through, bool is_of_prefixes) {
  place().filter = let_through ? Place::Filter::kLetThrough : Place::Filter::kRejected;
  place().is_prefix_filter = is_of_prefixes;
}

// Lookups.

void ReadExplainer::BeginLookup(const PointLookup& lookup) {
  assert(lookup_ == nullptr);
  lookup_ = &lookup;
  explanation_->seqno = lookup.key().snapshot();
}

void ReadExplainer::EndLookup([[maybe_unused]] const PointLookup& lookup) {
  assert(lookup_ == &lookup);
  Charge();
  NoteLookup();
  explanation_->merge_operands = operand_count_;
  current_ = kNoPlace;
  lookup_ = nullptr;
}

// Notes the answer of the place that the lookup leaves.
void ReadExplainer::NoteLookup() {
  if (lookup_ == nullptr || current_ == kNoPlace) return;
  const size_t operand_count = lookup_->mark().operand_count;
  const bool is_covered = lookup_->covering_seqno() != covering_seqno_;
  Place& left = place();
  left.merge_operands = operand_count - operand_count_;
  left.found = FoundBy(*lookup_, left.merge_operands, is_covered);
  if (left.found == Place::Found::kRangeTombstone) {
    left.seqno = lookup_->covering_seqno();
  } else if (left.found != Place::Found::kNothing) {
    left.seqno = lookup_->seqno();
  }
  if (is_covered && left.tombstones.empty()) {
    left.tombstones.push_back({.seqno = lookup_->covering_seqno()});
  }
  left.filter = CountedAnswer(counters_, lookup_->counters);
  counters_ = lookup_->counters;
  operand_count_ = operand_count;
  covering_seqno_ = lookup_->covering_seqno();
}

// Iterators.

// The first run belongs to a new merging iterator, so the explanation starts again.
void ReadExplainer::AddRun(size_t run, const MemTablePlace* memtable) {
  if (run == 0) {
    runs_.clear();
    explanation_->places.clear();
    current_ = kNoPlace;
  }
  assert(run == runs_.size());
  runs_.emplace_back();
  if (memtable != nullptr) runs_.back().memtable = *memtable;
}

void ReadExplainer::EnterRun(size_t run) {
  assert(run < runs_.size());
  Charge();
  run_ = run;
  Run& entered = runs_[run];
  entered.has_moved = true;
  current_ = entered.place;
  if (current_ != kNoPlace || !entered.memtable.has_value()) return;
  EnterMemTable(*entered.memtable);
  entered.place = current_;
}

void ReadExplainer::OnEntryShown(const Slice& internal_key) {
  assert(run_ < runs_.size());
  runs_[run_].shown = internal_key.ToString();
}

// The run leaves an entry behind. The entry counts as skipped, unless it may be part of the answer;
// such entries are counted by kind.
void ReadExplainer::OnEntryLeft(const Slice& internal_key) {
  assert(run_ < runs_.size());
  Run& run = runs_[run_];
  run.shown.clear();
  const uint64_t trailer = ExtractTrailer(internal_key);
  if (TrailerSeqno(trailer) > explanation_->seqno) {
    ++place().entries_skipped;
    return;
  }
  const Slice user_key = WithoutStamp(ExtractUserKey(internal_key));
  if (user_key != Slice(run.left_key)) {
    place().entries_skipped += run.left();
    run.left_key = user_key.ToString();
    run.left_values = run.left_operands = run.left_deletes = 0;
    run.left_seqno = run.left_base_seqno = 0;
  }
  NoteLeft(&run, internal_key);
}

// Counts a further version of left_key. Going backward it is newer than the versions before it, and
// hides them unless it is a merge operand.
void ReadExplainer::NoteLeft(Run* run, const Slice& internal_key) {
  assert(run != nullptr);
  const uint64_t trailer = ExtractTrailer(internal_key);
  const ValueType type = TrailerType(trailer);
  const SequenceNumber seqno = TrailerSeqno(trailer);
  if (type != kTypeMerge && is_backward()) {
    place().entries_skipped += run->left();
    run->left_values = run->left_operands = run->left_deletes = 0;
  }
  run->left_seqno = std::max(run->left_seqno, seqno);
  if (type != kTypeMerge) run->left_base_seqno = std::max(run->left_base_seqno, seqno);
  switch (type) {
    case kTypeMerge: ++run->left_operands; break;
    case kTypeDeletion:
    case kTypeDeletionWithTimestamp:
    case kTypeSingleDeletion: ++run->left_deletes; break;
    default: ++run->left_values;
  }
}

// Fills in what is known only when the iterator stands: its status, its entry, and which runs
// contributed to that entry.
void ReadExplainer::EndSeek(const Iterator& iterator) {
  has_answer_ = explanation_->is_valid = iterator.Valid();
  if (iterator.Valid()) explanation_->found_key = iterator.key().ToString();
  answer_key_ = answer_stored_ = explanation_->found_key;
  NoteEnd(iterator);
}

// A lookup has no position of its own, so the fields about it stay empty.
void ReadExplainer::EndStampedRead(const Iterator& iterator, const Slice* stored) {
  has_answer_ = stored != nullptr;
  if (stored != nullptr) {
    answer_stored_ = stored->ToString();
    answer_key_ = WithoutStamp(*stored).ToString();
  }
  NoteEnd(iterator);
  ReadExplanation& explanation = *explanation_;
  if (explanation.read != ExplainedRead::kGet) {
    explanation.is_valid = iterator.Valid();
    if (iterator.Valid()) explanation.found_key = answer_key_;
  } else if (explanation.status.ok() && !iterator.Valid()) {
    explanation.status = Status::NotFound();
  }
}

void ReadExplainer::NoteEnd(const Iterator& iterator) {
  Charge();
  ReadExplanation& explanation = *explanation_;
  explanation.status = iterator.status();
  explanation.merge_operands = get_perf_context()->internal_merge_count;
  explanation.run_count = runs_.size();
  if (iterator.Valid()) explanation.value_bytes = iterator.value().size();
  if (!explanation.status.ok() && current_ != kNoPlace) place().found = Place::Found::kFailure;
  const bool is_folded = explanation.merge_operands != 0;
  for (const Run& run : runs_) {
    explanation.runs_hidden += run.has_moved ? 0 : 1;
    if (run.place == kNoPlace) continue;
    is_backward() ? NoteAnswerBackwards(run, is_folded) : NoteAnswer(run, is_folded);
  }
  current_ = kNoPlace;
}

// Notes the part of a run in the entry that the iterator shows. The run is at that entry or, if
// merge operands were folded, it has left the versions of the entry behind.
void ReadExplainer::NoteAnswer(const Run& run, bool is_folded) {
  Place& last = explanation_->places[run.place];
  if (is_folded && HasLeftFoundKey(run)) {
    const uint64_t base = run.left_values != 0 ? 1 : 0;
    last.merge_operands = run.left_operands;
    last.entries_skipped += run.left() - run.left_operands - base;
    last.found = base != 0 ? Place::Found::kValue : Place::Found::kMergeOperands;
    return;
  }
  last.entries_skipped += run.left();
  if (!last.tombstones.empty() && last.found == Place::Found::kNothing) {
    last.found = Place::Found::kRangeTombstone;
    last.seqno = last.tombstones.back().seqno;
  }
  if (!has_answer_ || is_folded || run.shown.empty()) return;
  if (ExtractUserKey(run.shown) != Slice(answer_stored_)) return;
  // Runs come newest first: the first one that has the key shows it.
  for (const Run& newer : runs_) {
    if (&newer == &run) break;
    const bool has_it = newer.place != kNoPlace && !newer.shown.empty() &&
                        ExtractUserKey(newer.shown) == Slice(answer_stored_);
    if (has_it) return;
  }
  const bool is_tombstone = IsPointTombstoneOfAnyFamily(TrailerType(ExtractTrailer(run.shown)));
  last.found = is_tombstone ? Place::Found::kTombstone : Place::Found::kValue;
  last.seqno = TrailerSeqno(ExtractTrailer(run.shown));
}

// The same for a backward move, after which all runs have left the entry behind. The value, or the
// value below the merge operands, is the newest version in any run that is not an operand. It hides
// the versions of older runs.
void ReadExplainer::NoteAnswerBackwards(const Run& run, bool is_folded) {
  Place& last = explanation_->places[run.place];
  SequenceNumber base_seqno = 0;
  for (const Run& other : runs_) {
    if (HasLeftFoundKey(other)) base_seqno = std::max(base_seqno, other.left_base_seqno);
  }
  const bool has_base =
      HasLeftFoundKey(run) && run.left_values != 0 && run.left_base_seqno == base_seqno;
  const bool has_operands =
      HasLeftFoundKey(run) && is_folded && run.left_operands != 0 && run.left_seqno >= base_seqno;
  last.entries_skipped += run.left() - (has_base ? 1 : 0) - (has_operands ? run.left_operands : 0);
  if (has_operands) {
    last.merge_operands = run.left_operands;
    last.found = has_base ? Place::Found::kValue : Place::Found::kMergeOperands;
  } else if (has_base) {
    last.found = Place::Found::kValue;
    if (!is_folded) last.seqno = base_seqno;
  } else if (!last.tombstones.empty() && last.found == Place::Found::kNothing) {
    last.found = Place::Found::kRangeTombstone;
    last.seqno = last.tombstones.back().seqno;
  }
}

namespace {

// Null: the memtable has left the super version in the meantime.
const MemTable* FindMemTable(const SuperVersion& super_version, uint64_t id) {
  if (super_version.mem()->id() == id) return super_version.mem();
  for (const MemTable* immutable : super_version.immutables()) {
    if (immutable->id() == id) return immutable;
  }
  return nullptr;
}

}  // namespace

void FindMemTableTombstones(const SuperVersion& super_version, ReadExplanation* explanation) {
  assert(explanation != nullptr);
  for (Place& place : explanation->places) {
    if (place.kind == Place::Kind::kTable || place.tombstones.empty()) continue;
    const MemTable* const memtable = FindMemTable(super_version, place.number);
    const auto list = memtable == nullptr ? nullptr : memtable->Tombstones();
    if (list == nullptr) continue;
    const size_t index = list->Find(explanation->key);
    if (index == list->size() || !list->BeginsAtOrBefore(index, explanation->key)) continue;
    place.tombstones.front().begin = list->fragment(index).begin.ToString();
    place.tombstones.front().end = list->fragment(index).end.ToString();
  }
}

}  // namespace ashlar
