// SPDX-License-Identifier: Apache-2.0
//
// timeseries: thread 0 writes points of many series, the others read whole series or delete old
// points. A key consists of the number of a series and a time, which is the number of points
// written before.
#include <atomic>
#include <cassert>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/compaction_filter.h"
#include "ashlar/iterator.h"
#include "tools/db_bench/workloads.h"

DEFINE_int32(key_id_range, 100000, "number of series of timeseries");
DEFINE_uint64(time_range, 100000,
              "number of the newest points of timeseries, over all series, that are not old");
DEFINE_string(expire_style, "none",
              "how old points of timeseries are removed: none, compaction_filter or delete");
DEFINE_int32(num_deletion_threads, 1,
             "number of threads that delete old points with --expire_style=delete");

namespace ashlar {
namespace bench {
namespace {

// A key has the series and the time, both in big-endian order: so the points of a series are
// neighbours, in the order of their times.
constexpr size_t kSeriesBytes = 8, kPointBytes = 16;

// The current time: written by thread 0, read by all threads and by the compaction filter. No other
// data depends on its order.
std::atomic<uint64_t> points_written{0};

uint64_t OldestTime() {
  const uint64_t now = points_written.load(std::memory_order_relaxed);
  return now > FLAGS_time_range ? now - FLAGS_time_range : 0;
}

void PutBigEndian(uint64_t number, std::string* text) {
  assert(text != nullptr);
  for (int shift = 56; shift >= 0; shift -= 8) text->push_back(static_cast<char>(number >> shift));
}

uint64_t BigEndianAt(const char* bytes) {
  uint64_t number = 0;
  for (int i = 0; i < 8; i++) number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return number;
}

// The series comes first, so all points of a series are neighbours, in the order of time.
std::string PointKey(uint64_t series, uint64_t time) {
  std::string key;
  PutBigEndian(series, &key);
  PutBigEndian(time, &key);
  if (key.size() < static_cast<size_t>(FLAGS_key_size)) {
    key.append(static_cast<size_t>(FLAGS_key_size) - key.size(), '0');
  }
  return key;
}

bool IsOld(const Slice& key) {
  return key.size() >= kPointBytes && BigEndianAt(key.data() + kSeriesBytes) < OldestTime();
}

// Drops old points whenever a compaction meets them. Thread-safe, as it reads one atomic only.
class OldPoints final : public CompactionFilter {
 public:
  const char* Name() const override { return "db_bench.OldPoints"; }
  bool Filter(int, const Slice& key, const Slice&, std::string*, bool*) const override {
    return IsOld(key);
  }
};

void WritePoints(ThreadContext* thread) {
  assert(thread != nullptr);
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  ValueSource values(thread->random(), FLAGS_compression_ratio, FLAGS_value_size);
  Duration duration(FLAGS_duration, WriteCount());
  while (!duration.Done(1)) {
    const uint64_t time = points_written.fetch_add(1, std::memory_order_relaxed);
    const uint64_t series = thread->random() % static_cast<uint64_t>(FLAGS_key_id_range);
    const std::string key = PointKey(series, time);
    const Slice value = values.Next();
    thread->PaceWrites(key.size() + value.size());
    RequireOk(thread->db->Put(options, key, value), "put");
    thread->stats.Finished(Operation::kWrite, 1, key.size() + value.size());
  }
  // The writes are reported on a line of their own, and not in the sum of the readers if there are
  // any.
  Stats written;
  thread->stats.Stop();
  written.Merge(thread->stats);
  written.PrintResult("timeseries write");
  if (FLAGS_threads > 1) thread->stats.Exclude();
}

// Visits all points of one series or, if `deletes`, its old points, which are deleted. Returns
// their number.
uint64_t VisitSeries(ThreadContext* thread, uint64_t series, bool deletes, uint64_t* bytes) {
  assert(thread != nullptr);
  assert(bytes != nullptr);
  const std::unique_ptr<Iterator> it(thread->db->NewIterator(MakeReadOptions()));
  uint64_t count = 0;
  for (it->Seek(PointKey(series, deletes ? 0 : OldestTime())); it->Valid(); it->Next()) {
    const Slice key = it->key();
    if (key.size() < kPointBytes || BigEndianAt(key.data()) != series) break;
    if (deletes && !IsOld(key)) break;
    *bytes += key.size() + it->value().size();
    count++;
    if (deletes) RequireOk(thread->db->Delete(MakeWriteOptions(FLAGS_sync), key), "delete");
  }
  RequireOk(it->status(), "iterate");
  return count;
}

}  // namespace

// How old points disappear: not at all, by deletions, or by a compaction filter. False for an
// unknown style.
bool SetExpiry(Options* options) {
  // Static, because the options do not own the filter.
  static const OldPoints filter;
  if (FLAGS_expire_style == "compaction_filter") options->compaction_filter = &filter;
  return FLAGS_expire_style == "none" || FLAGS_expire_style == "delete" ||
         FLAGS_expire_style == "compaction_filter";
}

// Thread 0 writes; of the others some delete old points if the style asks for that, and the rest
// reads.
void TimeSeries(ThreadContext* thread) {
  assert(thread != nullptr);
  if (thread->index == 0) return WritePoints(thread);
  const bool deletes =
      FLAGS_expire_style == "delete" && thread->index <= FLAGS_num_deletion_threads;
  int64_t found = 0, visits = 0;
  Duration duration(FLAGS_duration, ReadCount());
  for (; !duration.Done(1); visits++) {
    if (!deletes) thread->PaceReads(1);
    uint64_t bytes = 0;
    const uint64_t series = thread->random() % static_cast<uint64_t>(FLAGS_key_id_range);
    const uint64_t points = VisitSeries(thread, series, deletes, &bytes);
    found += points > 0;
    thread->stats.Finished(deletes ? Operation::kDelete : Operation::kRead, 1, bytes);
  }
  AddFoundMessage(thread, found, visits);
}

}  // namespace bench
}  // namespace ashlar
