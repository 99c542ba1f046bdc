// SPDX-License-Identifier: Apache-2.0
//
// SeqnoTimes knows approximately when sequence numbers were written. It is a list of samples: a
// sample (seqno, seconds) says that at this time all numbers up to this one had been written.
//
// A table carries the samples that concern its own numbers in the property rocksdb.seqno.time.map;
// docs/formats/block_based_table.md, section 8.2. So a compaction learns the times from its inputs,
// and nothing else has to survive a restart.
//
// Missing samples are harmless: a number of which nothing is known counts as young. So samples may
// always be dropped. Threads: like a standard container.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"

namespace ashlar {

struct ColumnFamilyOptions;

// How long a family keeps the times of its writes, in seconds; 0: it does not.
uint64_t SecondsOfKeptTimes(const ColumnFamilyOptions& options);

class SeqnoTimes {
 public:
  struct Sample {
    SequenceNumber seqno = 0;
    uint64_t seconds = 0;  // since 1970
    bool operator==(const Sample&) const = default;
  };

  // Adds a sample that was taken after all others. It is ignored if it says nothing: entries with
  // the number 0 have lost their number, the time 0 is unknown, and a number that is there already
  // had been written at the earlier time.
  void Add(SequenceNumber seqno, uint64_t seconds);
  // Adds the samples of another list. If two samples contradict each other, the later time counts.
  void Merge(const SeqnoTimes& other);
  // Adds the samples of an encoded list. Corruption, with the offset in it, if it is not one; then
  // nothing is added.
  Status MergeEncoded(const Slice& encoded);

  // The largest number that had certainly been written at this time; 0 if none is known.
  SequenceNumber LastWrittenBy(uint64_t seconds) const;
  // The first number that is perhaps younger than `age_seconds`.
  SequenceNumber FirstYoung(uint64_t now_seconds, uint64_t age_seconds) const {
    return age_seconds >= now_seconds ? 1 : LastWrittenBy(now_seconds - age_seconds) + 1;
  }

  // Drops what is not needed to answer questions about times from `seconds` on.
  void ForgetBefore(uint64_t seconds);
  // Drops samples until at most this many are left, which are about equally far apart. At least 2.
  void Thin(size_t max_samples);

  // The property of a table with the numbers [smallest, largest]; empty if nothing is known about
  // them. Has at most kMaxSamplesOfTable samples.
  std::string EncodeFor(SequenceNumber smallest, SequenceNumber largest) const;

  bool empty() const { return samples_.empty(); }
  const std::vector<Sample>& samples() const { return samples_; }
  std::string DebugString() const;

  // As many as RocksDB writes into a table: the age of data is then known to about a hundredth of
  // the period for which it is kept.
  static constexpr size_t kMaxSamplesOfTable = 100;

 private:
  // Both strictly ascending.
  std::vector<Sample> samples_;
};

}  // namespace ashlar
