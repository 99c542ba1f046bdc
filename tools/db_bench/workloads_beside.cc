// SPDX-License-Identifier: Apache-2.0
//
// Workloads of which thread 0 does one thing for as long as the others do another. A thread that
// writes is not part of the result; one that scans is.
#include <memory>

#include "ashlar/iterator.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
namespace {

void RunBeside(ThreadContext* thread, void (*beside)(ThreadContext*),
               void (*measured)(ThreadContext*)) {
  if (thread->index == 0) return beside(thread);
  measured(thread);
  thread->threads_reading->fetch_sub(1, std::memory_order_relaxed);
}

// Calls write(family, key, value) for random keys until nobody reads any more.
template <typename Write>
void WriteUntilReadersEnd(ThreadContext* thread, Write write) {
  thread->stats.Exclude();
  ValueSource values(thread->random(), FLAGS_compression_ratio, FLAGS_value_size);
  KeyBuffer key(ShapeOfKeys());
  while (thread->threads_reading->load(std::memory_order_relaxed) > 0) {
    const uint64_t number = thread->random() % static_cast<uint64_t>(FLAGS_num);
    const Slice value = values.Next();
    thread->PaceWrites(static_cast<uint64_t>(FLAGS_key_size) + value.size());
    RequireOk(write(thread->FamilyOf(number), key.Set(number), value), "write");
    thread->stats.Finished(Operation::kWrite, 1, 0);
  }
}

void Overwrite(ThreadContext* thread) {
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  WriteUntilReadersEnd(thread, [&](auto* family, const Slice& key, const Slice& value) {
    return thread->db->Put(options, family, key, value);
  });
}

void Merge(ThreadContext* thread) {
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  WriteUntilReadersEnd(thread, [&](auto* family, const Slice& key, const Slice& operand) {
    return thread->db->Merge(options, family, key, operand);
  });
}

// As many steps as the others read keys; from the first key again after the last one.
void ScanRoundAndRound(ThreadContext* thread) {
  const std::unique_ptr<Iterator> it(thread->db->NewIterator(MakeReadOptions()));
  it->SeekToFirst();
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    it->Valid() ? it->Next() : it->SeekToFirst();
    RequireOk(it->status(), "iterate");
    thread->stats.Finished(Operation::kSeek, 1, 0);
  }
}

}  // namespace

void ReadWhileWriting(ThreadContext* thread) { RunBeside(thread, Overwrite, ReadRandom); }

void MultiReadWhileWriting(ThreadContext* thread) { RunBeside(thread, Overwrite, MultiReadRandom); }

void ReadWhileMerging(ThreadContext* thread) { RunBeside(thread, Merge, ReadRandom); }

void ReadWhileScanning(ThreadContext* thread) { RunBeside(thread, ScanRoundAndRound, ReadRandom); }

void SeekWhileWriting(ThreadContext* thread) { RunBeside(thread, Overwrite, SeekRandom); }

void SeekWhileMerging(ThreadContext* thread) { RunBeside(thread, Merge, SeekRandom); }

void NewIteratorWhileWriting(ThreadContext* thread) {
  RunBeside(thread, Overwrite, NewIteratorOnly);
}

}  // namespace bench
}  // namespace ashlar
