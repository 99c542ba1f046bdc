// SPDX-License-Identifier: Apache-2.0
//
// The encoding: the number of samples, then for each one the differences of its number and of its
// time to those of the sample before; all as varints.
#include "db/output/seqno_times.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "ashlar/options.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Sample = SeqnoTimes::Sample;

bool HasSmallerSeqno(const Sample& a, const Sample& b) { return a.seqno < b.seqno; }
bool PrecedesInMerge(const Sample& a, const Sample& b) {
  return a.seqno != b.seqno ? a.seqno < b.seqno : a.seconds < b.seconds;
}

Status Damaged(const Slice& encoded, const Slice& rest, const char* expected) {
  return Status::Corruption(StrCat("times of sequence numbers: byte ", encoded.size() - rest.size(),
                                   " of ", encoded.size(), ": expected ", expected));
}

// Reads one more sample behind `*last`.
Status GetSample(const Slice& encoded, Slice* rest, Sample* last) {
  uint64_t seqno_step = 0, seconds_step = 0;
  const Slice before = *rest;
  if (!GetVarint64(rest, &seqno_step) || !GetVarint64(rest, &seconds_step)) {
    return Damaged(encoded, before, "two varints");
  }
  if (seqno_step > kMaxSequenceNumber - last->seqno) {
    return Damaged(encoded, before, "a sequence number of at most 56 bits");
  }
  if (seconds_step > UINT64_MAX - last->seconds) {
    return Damaged(encoded, before, "a time of at most 64 bits");
  }
  last->seqno += seqno_step;
  last->seconds += seconds_step;
  return Status::OK();
}

}  // namespace

// A clock that was set back gives a greater number an earlier time. Data is better taken for too
// young than for too old, so the later time then counts for both.
void SeqnoTimes::Add(SequenceNumber seqno, uint64_t seconds) {
  assert(seqno <= kMaxSequenceNumber);
  if (seqno == 0 || seconds == 0) return;
  if (samples_.empty()) {
    samples_.push_back({seqno, seconds});
    return;
  }
  Sample& last = samples_.back();
  if (seqno <= last.seqno) return;
  if (seconds <= last.seconds) {
    last.seqno = seqno;
  } else {
    samples_.push_back({seqno, seconds});
  }
}

uint64_t SecondsOfKeptTimes(const ColumnFamilyOptions& options) {
  return std::max(options.preserve_internal_time_seconds, options.preclude_last_level_data_seconds);
}

void SeqnoTimes::Merge(const SeqnoTimes& other) {
  std::vector<Sample> all;
  all.reserve(samples_.size() + other.samples_.size());
  std::merge(samples_.begin(), samples_.end(), other.samples_.begin(), other.samples_.end(),
             std::back_inserter(all), PrecedesInMerge);
  samples_.clear();
  for (const Sample& sample : all) Add(sample.seqno, sample.seconds);
}

// A count that the bytes cannot hold is found before memory is reserved for it.
Status SeqnoTimes::MergeEncoded(const Slice& encoded) {
  if (encoded.empty()) return Status::OK();
  Slice rest = encoded;
  uint64_t count = 0;
  if (!GetVarint64(&rest, &count)) return Damaged(encoded, encoded, "the number of samples");
  if (count > rest.size() / 2) return Damaged(encoded, rest, "two bytes or more for each sample");
  SeqnoTimes decoded;
  decoded.samples_.reserve(count);
  Sample last;
  for (uint64_t i = 0; i < count; i++) {
    RETURN_IF_ERROR(GetSample(encoded, &rest, &last));
    decoded.Add(last.seqno, last.seconds);
  }
  if (!rest.empty()) return Damaged(encoded, rest, "the end");
  Merge(decoded);
  return Status::OK();
}

SequenceNumber SeqnoTimes::LastWrittenBy(uint64_t seconds) const {
  const auto later = std::upper_bound(
      samples_.begin(), samples_.end(), seconds,
      [](uint64_t wanted, const Sample& sample) { return wanted < sample.seconds; });
  return later == samples_.begin() ? 0 : std::prev(later)->seqno;
}

// The last sample up to that time answers the questions about it, so it stays.
void SeqnoTimes::ForgetBefore(uint64_t seconds) {
  const auto later = std::upper_bound(
      samples_.begin(), samples_.end(), seconds,
      [](uint64_t wanted, const Sample& sample) { return wanted < sample.seconds; });
  if (later != samples_.begin()) samples_.erase(samples_.begin(), std::prev(later));
}

// Keeps the first sample, then each one that is `gap` behind the last one kept, and the last one.
// Because the gap is larger than the span divided by max_samples - 1, these are not too many.
void SeqnoTimes::Thin(size_t max_samples) {
  assert(max_samples >= 2);
  if (samples_.size() <= max_samples) return;
  const uint64_t gap = (samples_.back().seconds - samples_.front().seconds) / (max_samples - 1) + 1;
  std::vector<Sample> kept{samples_.front()};
  for (size_t i = 1; i < samples_.size(); i++) {
    const bool is_last = i + 1 == samples_.size();
    if (is_last || samples_[i].seconds - kept.back().seconds >= gap) kept.push_back(samples_[i]);
  }
  assert(kept.size() <= max_samples);
  samples_ = std::move(kept);
}

// From the last sample before the smallest number, which says when it cannot have been written yet,
// to the first one at or behind the largest, which says when all had been written.
std::string SeqnoTimes::EncodeFor(SequenceNumber smallest, SequenceNumber largest) const {
  assert(smallest <= largest);
  std::string encoded;
  if (largest == 0 || samples_.empty()) return encoded;
  auto begin =
      std::lower_bound(samples_.begin(), samples_.end(), Sample{smallest, 0}, HasSmallerSeqno);
  if (begin != samples_.begin()) --begin;
  auto end =
      std::lower_bound(samples_.begin(), samples_.end(), Sample{largest, 0}, HasSmallerSeqno);
  if (end != samples_.end()) ++end;
  assert(begin < end);
  SeqnoTimes chosen;
  chosen.samples_.assign(begin, end);
  chosen.Thin(kMaxSamplesOfTable);
  PutVarint64(&encoded, chosen.samples_.size());
  Sample before;
  for (const Sample& sample : chosen.samples_) {
    PutVarint64Varint64(&encoded, sample.seqno - before.seqno, sample.seconds - before.seconds);
    before = sample;
  }
  return encoded;
}

std::string SeqnoTimes::DebugString() const {
  std::string text;
  for (const Sample& sample : samples_) {
    StrAppend(&text, text.empty() ? "" : ", ", sample.seqno, " by ", sample.seconds);
  }
  return text;
}

}  // namespace ashlar
