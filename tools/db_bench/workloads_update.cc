// SPDX-License-Identifier: Apache-2.0
//
// Workloads that read and write the same keys, and fillseekseq, which seeks the keys that it has
// written.
#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ashlar/iterator.h"
#include "tools/db_bench/stamps.h"
#include "tools/db_bench/workloads.h"

DEFINE_int32(readwritepercent, 90, "percent of reads in readrandomwriterandom");
DEFINE_int64(numdistinct, 1000, "number of keys of randomreplacekeys");
DEFINE_bool(use_single_deletes, true, "randomreplacekeys deletes with SingleDelete()");
DEFINE_double(stddev, 2000.0,
              "standard deviation of the key numbers that randomreplacekeys chooses");

namespace ashlar {
namespace bench {
namespace {

// Reads a random key, lets `change` modify its value, which is empty if there was none, and writes
// it. Returns whether the key existed.
template <typename Change>
bool UpdateOne(ThreadContext* thread, KeyBuffer* key, std::string* value, Change change) {
  assert(thread != nullptr && key != nullptr && value != nullptr);
  const Slice target = key->Set(thread->random() % static_cast<uint64_t>(FLAGS_num));
  ReadOptions options = MakeReadOptions();
  const ReadStamp stamp(&options);
  const Status status = thread->db->Get(options, target, value);
  if (!status.IsNotFound()) RequireOk(status, "get");
  if (!status.ok()) value->clear();
  // Both the old and the new pair count, because both are transferred.
  uint64_t bytes = status.ok() ? target.size() + value->size() : 0;
  change(value);
  thread->PaceWrites(target.size() + value->size());
  RequireOk(PutStamped(thread->db, MakeWriteOptions(FLAGS_sync), thread->db->DefaultColumnFamily(),
                       target, *value),
            "put");
  bytes += target.size() + value->size();
  thread->stats.Finished(Operation::kUpdate, 1, bytes);
  return status.ok();
}

// Reads a random key, changes its value, and writes it back.
template <typename Change>
void UpdateMany(ThreadContext* thread, Change change) {
  assert(thread != nullptr);
  KeyBuffer key(ShapeOfKeys());
  std::string value;
  int64_t found = 0, updates = 0;
  Duration duration(FLAGS_duration, ReadOrWriteCount());
  for (; !duration.Done(1); updates++) found += UpdateOne(thread, &key, &value, change);
  thread->stats.AddMessage("( updates:" + std::to_string(updates) +
                           " found:" + std::to_string(found) + ")");
}

// Seeks key number `from`, then steps to the --seek_nexts keys after it, and ends the process if
// one of them is missing. Returns the number of keys visited.
uint64_t SeekAndWalk(Iterator* it, KeyBuffer* key, uint64_t from, uint64_t count) {
  assert(it != nullptr && key != nullptr && from < count);
  // An error of the iterator is reported before a missing key, which could be its consequence.
  const auto check = [&](uint64_t number) {
    RequireOk(it->status(), "iterate");
    if (it->Valid() && it->key() == key->Set(number)) return;
    RequireOk(Status::Corruption("key " + std::to_string(number) + " is missing"), "fillseekseq");
  };
  it->Seek(key->Set(from));
  check(from);
  uint64_t steps = 0;
  const auto max_steps = static_cast<uint64_t>(FLAGS_seek_nexts);
  // Stops at the last key, because there is none to step to.
  for (; steps < max_steps && from + steps + 1 < count; steps++) {
    it->Next();
    check(from + steps + 1);
  }
  return steps + 1;
}

// Ends the process if the flags delete keys, or give keys another order than their numbers.
void RequireAllKeysInOrder() {
  Status status;
  if (FLAGS_writes_per_range_tombstone > 0 && FLAGS_max_num_range_tombstones > 0) {
    status = Status::InvalidArgument(
        "--writes_per_range_tombstone deletes keys that the benchmark seeks");
  } else if (FLAGS_keys_per_prefix > 0 && FLAGS_seek_nexts > 0) {
    status =
        Status::InvalidArgument("with --keys_per_prefix Next() does not reach the next number");
  }
  RequireOk(status, "fillseekseq");
}

// The number of keys that FillSequential() writes, beginning with the first. It writes whole
// batches, and starts again at the first key after the last one.
uint64_t SequentialKeyCount() {
  const int64_t written = WriteCount() / FLAGS_batch_size * FLAGS_batch_size;
  return static_cast<uint64_t>(std::min(written, FLAGS_num));
}

}  // namespace

void UpdateRandom(ThreadContext* thread) {
  assert(thread != nullptr);
  ValueSource values(thread->random(), FLAGS_compression_ratio, FLAGS_value_size);
  UpdateMany(thread, [&](std::string* value) { *value = values.Next().ToString(); });
}

void XorUpdateRandom(ThreadContext* thread) {
  assert(thread != nullptr);
  ValueSource values(thread->random(), FLAGS_compression_ratio, FLAGS_value_size);
  UpdateMany(thread, [&](std::string* value) {
    const Slice operand = values.Next();
    // A new key has an empty value, which becomes zeros here.
    value->resize(operand.size());
    for (size_t i = 0; i < operand.size(); i++) (*value)[i] ^= operand[i];
  });
}

// Each update appends a blank and another value.
void AppendRandom(ThreadContext* thread) {
  assert(thread != nullptr);
  ValueSource values(thread->random(), FLAGS_compression_ratio, FLAGS_value_size);
  UpdateMany(thread, [&](std::string* value) {
    if (!value->empty()) value->push_back(' ');
    const Slice more = values.Next();
    value->append(more.data(), more.size());
  });
}

void ReadRandomWriteRandom(ThreadContext* thread) {
  assert(thread != nullptr);
  ColumnFamilyHandle* const family = thread->db->DefaultColumnFamily();
  ReadOptions read_options = MakeReadOptions();
  ReadStamp stamp(&read_options);
  const WriteOptions write_options = MakeWriteOptions(FLAGS_sync);
  ValueSource values(thread->random(), FLAGS_compression_ratio, FLAGS_value_size);
  KeyBuffer key(ShapeOfKeys());
  std::string value;
  int64_t reads = 0, writes = 0, found = 0;
  Duration duration(FLAGS_duration, ReadOrWriteCount());
  while (!duration.Done(1)) {
    const Slice target = key.Set(thread->random() % static_cast<uint64_t>(FLAGS_num));
    // The first --readwritepercent of every hundred operations are reads.
    // Counted over both kinds, so the share is exact after each hundred operations.
    if ((reads + writes) % 100 < FLAGS_readwritepercent) {
      thread->PaceReads(1);
      stamp.MoveToNow();
      const Status status = thread->db->Get(read_options, target, &value);
      if (!status.IsNotFound()) RequireOk(status, "get");
      reads++;
      found += status.ok();
      thread->stats.Finished(Operation::kRead, 1, 0);
      continue;
    }
    const Slice next = values.Next();
    thread->PaceWrites(target.size() + next.size());
    RequireOk(PutStamped(thread->db, write_options, family, target, next), "put");
    writes++;
    thread->stats.Finished(Operation::kWrite, 1, 0);
  }
  thread->stats.AddMessage(
      "( reads:" + std::to_string(reads) + " writes:" + std::to_string(writes) +
      " total:" + std::to_string(reads + writes) + " found:" + std::to_string(found) + ")");
}

// Each key ends in a generation: a replacement deletes one generation and writes the next. Every
// thread has its own keys, because SingleDelete() allows only one put before it.
void RandomReplaceKeys(ThreadContext* thread) {
  assert(thread != nullptr);
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  ValueSource values(thread->random(), FLAGS_compression_ratio, FLAGS_value_size);
  const auto count = static_cast<size_t>(FLAGS_numdistinct);
  // The generation that exists of each key.
  std::vector<uint64_t> generations(count, 0);
  std::normal_distribution<double> distance(0, FLAGS_stddev);
  KeyBuffer key(ShapeOfKeys());
  const auto key_of = [&](size_t number) {
    // The number of the thread, the number of the key and its generation form one number, so no two
    // threads share a key.
    return key.Set((static_cast<uint64_t>(thread->index) * count + number) << 24 |
                   (generations[number] & 0xffffff));
  };
  for (size_t i = 0; i < count; i++) {
    RequireOk(thread->db->Put(options, key_of(i), values.Next()), "put");
  }
  // All first generations are in tables before the measurement begins.
  RequireOk(thread->db->Flush(FlushOptions()), "flush");
  RestartStats(thread);
  Duration duration(FLAGS_duration, FLAGS_num);
  while (!duration.Done(1)) {
    const auto drawn = static_cast<int64_t>(distance(thread->random));
    // Numbers near 0 are drawn most often, so some keys are replaced much more often than others.
    const size_t number = static_cast<size_t>(std::abs(drawn)) % count;
    const Slice former = key_of(number);
    RequireOk(FLAGS_use_single_deletes ? thread->db->SingleDelete(options, former)
                                       : thread->db->Delete(options, former),
              "delete");
    generations[number]++;
    RequireOk(thread->db->Put(options, key_of(number), values.Next()), "put");
    thread->stats.Finished(Operation::kOther, 1, 0);
  }
  thread->stats.AddMessage("use single deletes: " + std::to_string(FLAGS_use_single_deletes) +
                           ", standard deviation: " + std::to_string(FLAGS_stddev));
}

// Only the seeks are part of the result, not the writes before them.
void FillSeekSequential(ThreadContext* thread) {
  assert(thread != nullptr);
  RequireAllKeysInOrder();
  FillSequential(thread);
  RestartStats(thread);
  const std::unique_ptr<Iterator> it(thread->db->NewIterator(MakeReadOptions()));
  KeyBuffer key(ShapeOfKeys());
  const uint64_t count = SequentialKeyCount();
  for (uint64_t i = 0; i < count;) {
    const uint64_t seen = SeekAndWalk(it.get(), &key, i, count);
    thread->stats.Finished(Operation::kSeek, seen, 0);
    assert(seen > 0);
    i += seen;
  }
}

}  // namespace bench
}  // namespace ashlar
