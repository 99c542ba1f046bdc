// SPDX-License-Identifier: Apache-2.0
//
// Workloads that read, and the whole-database compaction, which is timed as one operation.
#include <cstdio>
#include <memory>
#include <string>

#include "ashlar/iterator.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
namespace {

ReadOptions MakeReadOptions() {
  ReadOptions options;
  options.verify_checksums = FLAGS_verify_checksum;
  return options;
}

void AddFoundMessage(ThreadContext* thread, int64_t found, int64_t sought) {
  thread->stats.AddMessage("(" + std::to_string(found) + " of " + std::to_string(sought) +
                           " found)\n");
}

// Random reads among the first `range` keys.
void ReadAmong(ThreadContext* thread, uint64_t range, int key_size) {
  const ReadOptions options = MakeReadOptions();
  KeyBuffer key(key_size);
  PinnableSlice value;
  int64_t found = 0, sought = 0;
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    const Slice wanted = key.Set(thread->random() % range);
    value.Reset();
    const Status status =
        thread->db->Get(options, thread->db->DefaultColumnFamily(), wanted, &value);
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

void Scan(ThreadContext* thread, bool is_forward, int64_t limit = ReadCount()) {
  std::unique_ptr<Iterator> it(thread->db->NewIterator(MakeReadOptions()));
  is_forward ? it->SeekToFirst() : it->SeekToLast();
  for (int64_t i = 0; i < limit && it->Valid(); i++) {
    thread->stats.Finished(Operation::kRead, 1, it->key().size() + it->value().size());
    is_forward ? it->Next() : it->Prev();
  }
  RequireOk(it->status(), "iterate");
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
  const ReadOptions options = MakeReadOptions();
  KeyBuffer key(FLAGS_key_size);
  int64_t found = 0, sought = 0;
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    std::unique_ptr<Iterator> it(thread->db->NewIterator(options));
    const Slice wanted = key.Set(thread->random() % static_cast<uint64_t>(FLAGS_num));
    it->Seek(wanted);
    sought++;
    if (it->Valid() && it->key() == wanted) found++;
    const uint64_t bytes = WalkFrom(it.get());
    RequireOk(it->status(), "iterate");
    thread->stats.Finished(Operation::kSeek, 1, bytes);
  }
  AddFoundMessage(thread, found, sought);
}

// Thread 0 writes; the others read.
void ReadWhileWriting(ThreadContext* thread) {
  if (thread->index == 0) return WriteWhileReading(thread);
  ReadRandom(thread);
  thread->threads_reading->fetch_sub(1, std::memory_order_relaxed);
}

void CompactAll(ThreadContext* thread) {
  RequireOk(thread->db->CompactRange(CompactRangeOptions(), nullptr, nullptr), "compact");
  thread->stats.Finished(Operation::kOther, 1, 0);
}

}  // namespace bench
}  // namespace ashlar
