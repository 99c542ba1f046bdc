// SPDX-License-Identifier: Apache-2.0
//
// Workloads that read.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "ashlar/iterator.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
ReadOptions MakeReadOptions() {
  ReadOptions options;
  options.verify_checksums = FLAGS_verify_checksum;
  options.async_io = FLAGS_async_io;
  options.optimize_multiget_for_io = FLAGS_optimize_multiget_for_io;
  options.total_order_seek = FLAGS_total_order_seek;
  options.prefix_same_as_start = FLAGS_prefix_same_as_start;
  options.auto_prefix_mode = FLAGS_auto_prefix_mode;
  options.readahead_size = static_cast<size_t>(FLAGS_readahead_size);
  options.tailing = FLAGS_use_tailing_iterator;
  if (FLAGS_rate_limit_user_ops) options.rate_limiter_priority = Env::IO_USER;
  return options;
}

void AddFoundMessage(ThreadContext* thread, int64_t found, int64_t sought) {
  thread->stats.AddMessage("(" + std::to_string(found) + " of " + std::to_string(sought) +
                           " found)\n");
}

namespace {

// Random reads among the first `range` keys.
void ReadAmong(ThreadContext* thread, uint64_t range, int key_size) {
  const ReadOptions options = MakeReadOptions();
  KeyBuffer key(ShapeOfKeys(key_size));
  PinnableSlice value;
  int64_t found = 0, sought = 0;
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    const uint64_t number = thread->random() % range;
    const Slice wanted = key.Set(number);
    thread->PaceReads(1);
    value.Reset();
    const Status status = thread->db->Get(options, thread->FamilyOf(number), wanted, &value);
    sought++;
    if (status.ok()) {
      found++;
      thread->stats.Finished(Operation::kRead, 1, wanted.size() + value.size());
    } else {
      if (!status.IsNotFound()) RequireOk(status, "get");
      thread->stats.Finished(Operation::kRead, 1, 0);
    }
  }
  AddFoundMessage(thread, found, sought);
}

// Of one family after the other.
void Scan(ThreadContext* thread, bool is_forward, int64_t limit = ReadCount()) {
  int64_t i = 0;
  for (ColumnFamilyHandle* const family : thread->families) {
    std::unique_ptr<Iterator> it(thread->db->NewIterator(MakeReadOptions(), family));
    is_forward ? it->SeekToFirst() : it->SeekToLast();
    for (; i < limit && it->Valid(); i++) {
      thread->stats.Finished(Operation::kRead, 1, it->key().size() + it->value().size());
      is_forward ? it->Next() : it->Prev();
    }
    RequireOk(it->status(), "iterate");
  }
}

// Bytes of the --seek_nexts entries from where the iterator stands.
uint64_t WalkFrom(Iterator* it) {
  uint64_t bytes = 0;
  for (int i = 0; i < FLAGS_seek_nexts && it->Valid(); i++) {
    bytes += it->key().size() + it->value().size();
    FLAGS_reverse_iterator ? it->Prev() : it->Next();
  }
  return bytes;
}

// One bound of an iterator, --max_scan_distance keys from where it seeks.
class ScanBound {
 public:
  explicit ScanBound(ReadOptions* options) : key_(ShapeOfKeys()) {
    if (FLAGS_max_scan_distance <= 0) return;
    (FLAGS_reverse_iterator ? options->iterate_lower_bound : options->iterate_upper_bound) =
        &bound_;
  }
  void SetFor(uint64_t sought) {
    if (FLAGS_max_scan_distance <= 0) return;
    const auto distance = static_cast<uint64_t>(FLAGS_max_scan_distance);
    bound_ =
        key_.Set(FLAGS_reverse_iterator ? sought - std::min(sought, distance) : sought + distance);
  }

 private:
  KeyBuffer key_;
  Slice bound_;
};

}  // namespace

void ReadSequential(ThreadContext* thread) { Scan(thread, /*is_forward=*/true); }

// Everything, whatever --reads says of the benchmarks after it: they want a warm cache.
void ReadToCache(ThreadContext* thread) { Scan(thread, /*is_forward=*/true, FLAGS_num); }

void ReadReverse(ThreadContext* thread) { Scan(thread, /*is_forward=*/false); }

void ReadRandom(ThreadContext* thread) {
  ReadAmong(thread, static_cast<uint64_t>(FLAGS_num), FLAGS_key_size);
}

// Keys one byte longer than all that are stored: absent, but between those that are there.
void ReadMissing(ThreadContext* thread) {
  ReadAmong(thread, static_cast<uint64_t>(FLAGS_num), FLAGS_key_size + 1);
}

void ReadHot(ThreadContext* thread) {
  ReadAmong(thread, static_cast<uint64_t>((FLAGS_num + 99) / 100), FLAGS_key_size);
}

void SeekRandom(ThreadContext* thread) {
  ReadOptions options = MakeReadOptions();
  ScanBound bound(&options);
  KeyBuffer key(ShapeOfKeys());
  int64_t found = 0, sought = 0;
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    const uint64_t number = thread->random() % static_cast<uint64_t>(FLAGS_num);
    thread->PaceReads(1);
    bound.SetFor(number);
    std::unique_ptr<Iterator> it(thread->db->NewIterator(options, thread->FamilyOf(number)));
    const Slice wanted = key.Set(number);
    it->Seek(wanted);
    sought++;
    if (it->Valid() && it->key() == wanted) found++;
    const uint64_t bytes = WalkFrom(it.get());
    RequireOk(it->status(), "iterate");
    thread->stats.Finished(Operation::kSeek, 1, bytes);
  }
  AddFoundMessage(thread, found, sought);
}

void NewIteratorOnly(ThreadContext* thread) {
  const ReadOptions options = MakeReadOptions();
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    const std::unique_ptr<Iterator> it(thread->db->NewIterator(options));
    RequireOk(it->status(), "iterate");
    thread->stats.Finished(Operation::kOther, 1, 0);
  }
}

// Each key once, so that the reads after it find them in the row cache.
void ReadToRowCache(ThreadContext* thread) {
  if (FLAGS_row_cache_size <= 0) {
    RequireOk(Status::InvalidArgument("it fills the cache of --row_cache_size"), "readtorowcache");
  }
  const ReadOptions options = MakeReadOptions();
  KeyBuffer key(ShapeOfKeys());
  std::unique_ptr<Iterator> existing;
  if (FLAGS_use_existing_keys) {
    existing.reset(thread->db->NewIterator(options));
    existing->SeekToFirst();
  }
  PinnableSlice value;
  int64_t found = 0, sought = 0;
  const auto is_at_end = [&] {
    return existing != nullptr ? !existing->Valid() : sought == FLAGS_num;
  };
  for (; !is_at_end(); sought++) {
    const Slice wanted =
        existing != nullptr ? existing->key() : key.Set(static_cast<uint64_t>(sought));
    value.Reset();
    const Status status =
        thread->db->Get(options, thread->db->DefaultColumnFamily(), wanted, &value);
    if (!status.IsNotFound()) RequireOk(status, "get");
    if (status.ok()) found++;
    thread->stats.Finished(Operation::kRead, 1, status.ok() ? wanted.size() + value.size() : 0);
    if (existing != nullptr) existing->Next();
  }
  if (existing != nullptr) RequireOk(existing->status(), "iterate");
  AddFoundMessage(thread, found, sought);
}

}  // namespace bench
}  // namespace ashlar
