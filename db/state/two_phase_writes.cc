// SPDX-License-Identifier: Apache-2.0
//
// A hook of each commit keeps the list of undecided sections exact.
#include "db/state/two_phase_writes.h"

#include <cassert>

#include "ashlar/options.h"
#include "db/wal/wal_set.h"
#include "db/wal/wal_sink.h"
#include "db/write/two_phase_reader.h"
#include "util/keys/coding.h"
#include "util/result.h"

namespace ashlar {

// Keeps the list exact, then calls the caller's hook.
class TwoPhaseWrites::SectionHook final : public CommitHook {
 public:
  enum class Step : uint8_t { kPrepare, kDecision };
  SectionHook(Step step, PreparedLogs* prepared, UndecidedTable* undecided,
              PreparedSections sections, CommitHook* next)
      : step_(step), prepared_(prepared), undecided_(undecided), sections_(sections), next_(next) {
    assert(undecided != nullptr);
  }

  // The data is hidden before any reader can meet it.
  void OnLogged(const CommitPlace& place) override {
    PreparedSection* const section = sections_.first();
    if (step_ != Step::kPrepare || !section->is_written_before_commit()) return;
    section->set_entry(undecided_->Add(place.first_seqno, place.last_seqno));
  }
  void OnInserted(const CommitPlace& place) noexcept override {
    if (step_ == Step::kPrepare) {
      prepared_->Enter(sections_.first(), place.log, place.first_seqno);
    } else {
      // The decision is noted before its sequence number becomes visible, so that a reader which
      // sees this number also finds the decision.
      for (PreparedSection* const section : sections_.all()) {
        if (section->entry() != nullptr) UndecidedTable::Decide(section->entry(), place.last_seqno);
        prepared_->Leave(section);
      }
    }
    if (next_ != nullptr) next_->OnInserted(place);
  }
  void OnVisible(SequenceNumber first_seqno, SequenceNumber last_seqno) override {
    if (next_ != nullptr) next_->OnVisible(first_seqno, last_seqno);
  }
  void OnEnd(const Status& status) noexcept override {
    PreparedSection* const section = sections_.first();
    // The inserted data must be undone by a rollback, even if the sync has failed.
    const bool is_prepared = status.ok() || section->is_written_before_commit();
    if (step_ == Step::kPrepare) prepared_->Settle(section, is_prepared);
    if (next_ != nullptr) next_->OnEnd(status);
  }

 private:
  const Step step_;
  PreparedLogs* const prepared_;
  UndecidedTable* const undecided_;
  const PreparedSections sections_;  // of a prepare one
  CommitHook* const next_;
};

using State = PreparedSection::State;

Status TwoPhaseWrites::Prepare(const WriteOptions& options, PreparedSection* section,
                               CommitHook* hook) {
  assert(section != nullptr);
  assert(section->state() == State::kNotLogged);
  SectionHook entering(SectionHook::Step::kPrepare, prepared_, undecided_, section, hook);
  if (!section->is_written_before_commit()) {
    return pipeline_->Commit({.options = &options,
                              .logged = section->batch(),
                              .allows_markers = true,
                              .hook = &entering});
  }
  const std::vector<size_t> begins = SubBatchesOf(*section->batch());
  const SubBatches sub_batches{.begins = begins, .numbers = begins.size() + 1};
  WriteBatch* const inserted[] = {section->batch()};
  const Status status = pipeline_->Commit({.options = &options,
                                           .logged = section->batch(),
                                           .inserted = inserted,
                                           .allows_markers = true,
                                           .sub_batches = &sub_batches,
                                           .hook = &entering});
  undecided_->RetireReplaced();
  return status;
}

std::vector<size_t> TwoPhaseWrites::SubBatchesOf(const WriteBatch& batch) const {
  if (WriteBatchInternal::Count(batch) < 2) return {};
  const Slice contents = WriteBatchInternal::Contents(batch);
  return FindSubBatches(contents, kWriteBatchHeaderBytes, contents.size(), comparator_of_);
}

// The logs of the sections stay until the compensations are in tables: without the marker and
// without the sections the data would count as committed.
Status TwoPhaseWrites::DecideWritten(const WriteOptions& options, const CommitRecords& records,
                                     PreparedSections sections, CommitHook* hook,
                                     CommitRecorder* recorder) {
  WriteBatch* const marker = records.marker;
  assert(marker != nullptr);
  const std::vector<size_t> begins = SubBatchesOf(*marker);
  const size_t marker_numbers = records.ends_before_with_noop ? 1 : 0;
  const SubBatches sub_batches{.begins = begins, .numbers = begins.size() + 1 + marker_numbers};
  WriteBatch* const inserted[] = {marker};
  const size_t inserted_count = WriteBatchInternal::Count(*marker) == 0 ? 0 : 1;
  SectionHook leaving(SectionHook::Step::kDecision, prepared_, undecided_, sections, hook);
  return pipeline_->Commit({.options = &options,
                            .logged = marker,
                            .inserted = {inserted, inserted_count},
                            .allows_markers = true,
                            .prepared_log = sections.first()->log_in_place(),
                            .sub_batches = &sub_batches,
                            .hook = &leaving,
                            .recorder = recorder});
}

Status TwoPhaseWrites::Commit(const WriteOptions& options, const CommitRecords& records,
                              PreparedSections sections, CommitHook* hook,
                              CommitRecorder* recorder) {
  WriteBatch* const marker = records.marker;
  PreparedSection* const section = sections.first();
  assert(section->state() == State::kUndecided);
  assert(marker->HasCommit());
  if (section->is_written_before_commit()) {
    assert(records.after == nullptr);
    return DecideWritten(options, records, sections, hook, recorder);
  }
  assert(sections.all().size() == 1);
  WriteBatch* const all[] = {records.before, section->batch(), records.after};
  const std::span<WriteBatch* const> inserted(all, records.after == nullptr ? 2 : 3);
  SectionHook leaving(SectionHook::Step::kDecision, prepared_, undecided_, section, hook);
  return pipeline_->Commit({.options = &options,
                            .logged = marker,
                            .inserted = inserted,
                            .allows_markers = true,
                            .prepared_log = section->log_in_place(),
                            .hook = &leaving,
                            .recorder = recorder});
}

Status TwoPhaseWrites::Rollback(const WriteOptions& options, WriteBatch* marker,
                                PreparedSections sections, CommitHook* hook) {
  assert(marker != nullptr);
  PreparedSection* const section = sections.first();
  assert(section->state() == State::kUndecided);
  assert(marker->HasRollback());
  if (section->is_written_before_commit()) {
    return DecideWritten(options, marker, sections, hook, /*recorder=*/nullptr);
  }
  assert(sections.all().size() == 1);
  SectionHook leaving(SectionHook::Step::kDecision, prepared_, undecided_, section, hook);
  return pipeline_->Commit(
      {.options = &options, .logged = marker, .allows_markers = true, .hook = &leaving});
}

// Writes all undecided sections to the current log, so that the older logs need not be kept for
// them. The sections move to that log only after the sync: a crash before it still finds them in
// the older logs, a crash after it finds them in both, marked so that they count once.
Status LogSectionsAgain(PreparedLogs* prepared, WalSet* wals, SequenceNumber next_seqno) {
  assert(prepared != nullptr);
  const std::vector<PreparedLogs::Logged> sections = prepared->CopyAll();
  if (sections.empty()) return Status::OK();
  const std::shared_ptr<WalSink> log = wals->current();
  for (const PreparedLogs::Logged& section : sections) {
    std::string record;
    PutFixed64(&record, section.is_written_before_commit ? section.first_seqno : next_seqno);
    PutFixed32(&record, section.count);
    record.append(LoggedAgainRecord());
    record.append(section.records);
    RETURN_IF_ERROR(log->Append(record));
  }
  RETURN_IF_ERROR(wals->SyncAll());
  prepared->MoveTo(log->log_number());
  return Status::OK();
}

}  // namespace ashlar
