// SPDX-License-Identifier: Apache-2.0
//
// The property rocksdb.seqno.time.map: whatever the bytes are, decoding gives Corruption or an
// ascending list, which a table can carry on.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "db/output/seqno_times.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

void Require(bool is_so) {
  if (!is_so) std::abort();
}

void DecodeAny(const Slice& bytes) {
  SeqnoTimes times;
  times.Add(7, 1000);
  const Status status = times.MergeEncoded(bytes);
  if (!status.ok()) {
    Require(status.IsCorruption());
    Require(times.samples().size() == 1);
    return;
  }
  const auto& samples = times.samples();
  Require(!samples.empty());
  for (size_t i = 1; i < samples.size(); i++) {
    Require(samples[i - 1].seqno < samples[i].seqno);
    Require(samples[i - 1].seconds < samples[i].seconds);
  }
  const std::string encoded = times.EncodeFor(0, kMaxSequenceNumber);
  SeqnoTimes again;
  Require(again.MergeEncoded(encoded).ok());
  Require(again.samples().size() <= SeqnoTimes::kMaxSamplesOfTable);
  Require(again.samples().front() == samples.front());
  Require(again.samples().back() == samples.back());
  if (samples.size() <= SeqnoTimes::kMaxSamplesOfTable) Require(again.samples() == samples);
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ashlar::DecodeAny({reinterpret_cast<const char*>(data), size});
  return 0;
}
