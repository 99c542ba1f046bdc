// SPDX-License-Identifier: Apache-2.0
//
// FindKept() is the whole stream: it goes on until an entry has passed every stage.
#include "db/output/entry_stream.h"

#include <utility>

namespace ashlar {

EntryStream::EntryStream(const EntryStreamOptions& options, SortedRuns runs)
    : options_(options),
      runs_(options.comparator, std::move(runs)),
      tombstones_(options_.tombstones, options_.snapshots),
      retention_(*options.comparator, options.snapshots, options.below, options.is_bottommost),
      next_progress_(options.on_progress ? 0 : UINT64_MAX) {
  assert(options.entries_a_step > 0);
}

void EntryStream::SeekToFirst() {
  assert(counts_.read == 0);
  if (options_.begin.has_value()) {
    runs_.Seek(MakeInternalKey(*options_.begin, kMaxSequenceNumber, kValueTypeForSeek));
  } else {
    runs_.SeekToFirst();
  }
  FindKept();
}

void EntryStream::End(const Status& status) {
  is_valid_ = false;
  status_ = status;
}

bool EntryStream::ReportProgress() {
  next_progress_ = counts_.read + options_.entries_a_step;
  const Status status = options_.on_progress(counts_.read);
  if (!status.ok()) End(status);
  return status.ok();
}

void EntryStream::FindKept() {
  for (; runs_.Valid(); runs_.Next()) {
    key_ = runs_.key();
    const Slice user_key = ExtractUserKey(key_);
    if (IsPastEnd(user_key)) break;
    if (counts_.read == next_progress_ && !ReportProgress()) return;
    counts_.read++;
    const uint64_t trailer = ExtractTrailer(key_);
    const ValueType type = TrailerType(trailer);
    if (!IsPointEntryType(type)) [[unlikely]] {
      return End(Status::Corruption("input of a flush or compaction: unknown kind of entry",
                                    DescribeInternalKey(key_, /*hex=*/true)));
    }
    if (tombstones_.Hides(user_key, TrailerSeqno(trailer))) {
      counts_.covered++;
      continue;
    }
    const VersionRetention::Verdict verdict =
        retention_.Decide(user_key, TrailerSeqno(trailer), type);
    if (retention_.is_new_key()) has_kept_of_key_ = false;
    if (verdict == VersionRetention::Verdict::kDrop) {
      const bool is_hidden = retention_.drop_reason() == VersionRetention::DropReason::kHidden;
      (is_hidden ? counts_.hidden : counts_.tombstones)++;
      continue;
    }
    if (verdict == VersionRetention::Verdict::kKeepWithoutSeqno) {
      rewritten_key_.clear();
      AppendInternalKey(&rewritten_key_, user_key, PackTrailer(0, type));
      key_ = rewritten_key_;
    }
    value_ = runs_.value();
    is_first_of_key_ = !std::exchange(has_kept_of_key_, true);
    is_valid_ = true;
    return;
  }
  End(Status::OK());
  if (options_.on_progress) ReportProgress();
}

}  // namespace ashlar
