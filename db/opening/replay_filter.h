// SPDX-License-Identifier: Apache-2.0
//
// ReplayFilter asks the program's WalFilter about each batch that is replayed, and checks its
// answers.
//
// The program's code runs without the DB mutex, which is safe because no other thread knows the
// database yet. An answer that is not valid fails the opening. Threads: the one that opens.
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
    kStop,     // this batch and all later ones are left out
    kDamaged,  // the batch is treated as a damaged record
  };

  // `filter` may be null: then every batch is applied. The caller of all functions holds `mutex`.
  ReplayFilter(WalFilter* filter, DbMutex* mutex) : filter_(filter), mutex_(mutex) {}

  // To be called before the first batch.
  void TellFamilies(const FamilySet& families) REQUIRES(db_mutex);
  // *batch may be replaced by another one with the same sequence number, which is valid until the
  // next call. NotSupported if the replacement has more updates, or if the answer is unknown.
  Result<Verdict> Ask(FileNumber log_number, const std::string& path, Slice* batch)
      REQUIRES(db_mutex);

  // The number of batches that were left out or replaced.
  uint64_t changed_batches() const { return changed_batches_; }
  // The name that the program has given its filter, for use in messages.
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
