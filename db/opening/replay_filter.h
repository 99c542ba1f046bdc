// SPDX-License-Identifier: Apache-2.0
//
// ReplayFilter asks a program's WalFilter about each batch that is replayed, and checks what it
// answers.
//
// The program's code runs without the DB mutex: nobody else knows the database yet. What it asks
// for can be wrong, and is then an error that fails the open. Threads: the one that opens.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/wal_filter.h"
#include "ashlar/write_batch.h"
#include "db/column_family/family_set.h"
#include "util/keys/file_number.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

class ReplayFilter {
 public:
  enum class Verdict : uint8_t {
    kApply,
    kSkip,     // this batch is left out
    kStop,     // this one and all that follow
    kDamaged,  // it is what the recovery mode makes of a damaged record
  };

  // Of a program's filter, which may be null: then every batch is applied. `mutex` is held by the
  // caller of all functions.
  ReplayFilter(WalFilter* filter, DbMutex* mutex) : filter_(filter), mutex_(mutex) {}

  // Before the first batch.
  void TellFamilies(const FamilySet& families) REQUIRES(db_mutex);
  // *batch may be exchanged for another one with the same sequence number, which lives until the
  // next call. NotSupported if that has more updates, or the answer is none that is known.
  Result<Verdict> Ask(FileNumber log_number, const std::string& path, Slice* batch)
      REQUIRES(db_mutex);

  // Batches that were not applied as they are in the logs.
  uint64_t changed_batches() const { return changed_batches_; }
  // For messages.
  std::string Name() const { return filter_ == nullptr ? "" : filter_->Name(); }

 private:
  Result<Verdict> JudgeAnswer(WalFilter::WalProcessingOption answer, bool is_changed, Slice* batch);
  Status TakeReplacement(Slice* batch);

  WalFilter* const filter_;
  DbMutex* const mutex_;
  WriteBatch replacement_;
  uint64_t changed_batches_ = 0;
};

}  // namespace ashlar
