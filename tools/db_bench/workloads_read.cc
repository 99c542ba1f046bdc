// SPDX-License-Identifier: Apache-2.0
//
// Workloads that read: single keys, batches of keys, scans and seeks; and those in which one more
// thread writes, merges or scans meanwhile.
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/iterator.h"
#include "ashlar/snapshot.h"
#include "tools/db_bench/stamps.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
// The options of all reads of a benchmark, as the flags give them.
ReadOptions MakeReadOptions() {
  ReadOptions options;
  options.verify_checksums = FLAGS_verify_checksum;
  options.async_io = FLAGS_async_io;
  options.optimize_multiget_for_io = FLAGS_optimize_multiget_for_io;
  options.total_order_seek = FLAGS_total_order_seek;
  options.prefix_same_as_start = FLAGS_prefix_same_as_start;
  options.auto_prefix_mode = FLAGS_auto_prefix_mode;
  options.readahead_size = static_cast<size_t>(FLAGS_readahead_size);
  // A read rate of 0 means no limit.
  options.tailing = FLAGS_use_tailing_iterator;
  if (FLAGS_rate_limit_user_ops) options.rate_limiter_priority = Env::IO_USER;
  return options;
}

void AddFoundMessage(ThreadContext* thread, int64_t found, int64_t sought) {
  assert(thread != nullptr);
  thread->stats.AddMessage("(" + std::to_string(found) + " of " + std::to_string(sought) +
                           " found)\n");
}

namespace {

// Reads random keys among the first `range` keys.
void ReadAmong(ThreadContext* thread, uint64_t range, int key_size) {
  assert(thread != nullptr && range > 0);
  ReadOptions options = MakeReadOptions();
  ReadStamp stamp(&options);
  KeyBuffer key(ShapeOfKeys(key_size));
  PinnableSlice value;
  // `sought` counts calls, including those that find nothing.
  int64_t found = 0, sought = 0;
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    const uint64_t number = thread->random() % range;
    const Slice wanted = key.Set(number);
    thread->PaceReads(1);
    stamp.MoveToNow();
    // The value is released before the next read, because a pin of a block would keep it in the
    // cache.
    value.Reset();
    const Status status = thread->db->Get(options, thread->FamilyOf(number), wanted, &value);
    sought++;
    if (status.ok()) {
      found++;
      thread->stats.Finished(Operation::kRead, 1, wanted.size() + value.size());
    } else {
      // A missing key counts as a read without bytes.
      if (!status.IsNotFound()) RequireOk(status, "get");
      thread->stats.Finished(Operation::kRead, 1, 0);
    }
  }
  AddFoundMessage(thread, found, sought);
}

// Scans one family after the other.
void Scan(ThreadContext* thread, bool is_forward, int64_t limit = ReadCount()) {
  assert(thread != nullptr);
  ReadOptions options = MakeReadOptions();
  const ReadStamp stamp(&options);
  // The limit is shared by all families: it counts the entries of the whole scan.
  int64_t i = 0;
  for (ColumnFamilyHandle* const family : thread->families) {
    std::unique_ptr<Iterator> it(thread->db->NewIterator(options, family));
    is_forward ? it->SeekToFirst() : it->SeekToLast();
    for (; i < limit && it->Valid(); i++) {
      thread->stats.Finished(Operation::kRead, 1, it->key().size() + it->value().size());
      is_forward ? it->Next() : it->Prev();
    }
    // An iterator that has ended may have ended because of an error.
    RequireOk(it->status(), "iterate");
  }
}

// Moves the iterator by --seek_nexts entries and returns their bytes.
uint64_t WalkFrom(Iterator* it) {
  assert(it != nullptr);
  uint64_t bytes = 0;
  for (int i = 0; i < FLAGS_seek_nexts && it->Valid(); i++) {
    bytes += it->key().size() + it->value().size();
    FLAGS_reverse_iterator ? it->Prev() : it->Next();
  }
  return bytes;
}

// The bound of an iterator, --max_scan_distance keys from its target.
class ScanBound {
 public:
  explicit ScanBound(ReadOptions* options) : key_(ShapeOfKeys()) {
    assert(options != nullptr);
    // The options refer to `bound_`, so this object must outlive every iterator that is made with
    // them, and must not move.
    if (FLAGS_max_scan_distance <= 0) return;
    (FLAGS_reverse_iterator ? options->iterate_lower_bound : options->iterate_upper_bound) =
        &bound_;
  }
  void SetFor(uint64_t sought) {
    // The bound is set before each creation of an iterator, because it must not change while one
    // uses it.
    if (FLAGS_max_scan_distance <= 0) return;
    const auto distance = static_cast<uint64_t>(FLAGS_max_scan_distance);
    // A lower bound cannot go below key 0.
    bound_ =
        key_.Set(FLAGS_reverse_iterator ? sought - std::min(sought, distance) : sought + distance);
  }

 private:
  KeyBuffer key_;
  Slice bound_;
};

}  // namespace

void ReadSequential(ThreadContext* thread) { Scan(thread, /*is_forward=*/true); }

// Reads everything and ignores --reads, which is meant for the benchmarks that then use the warm
// cache.
void ReadToCache(ThreadContext* thread) { Scan(thread, /*is_forward=*/true, FLAGS_num); }

void ReadReverse(ThreadContext* thread) { Scan(thread, /*is_forward=*/false); }

void ReadRandom(ThreadContext* thread) {
  ReadAmong(thread, static_cast<uint64_t>(FLAGS_num), FLAGS_key_size);
}

// The keys have one more byte than those in the database: they are absent, but between existing
// keys.
void ReadMissing(ThreadContext* thread) {
  ReadAmong(thread, static_cast<uint64_t>(FLAGS_num), FLAGS_key_size + 1);
}

// Reads among the first hundredth of the keys.
void ReadHot(ThreadContext* thread) {
  ReadAmong(thread, static_cast<uint64_t>((FLAGS_num + 99) / 100), FLAGS_key_size);
}

// Seeks to random keys, and moves on from there if --seek_nexts asks for that.
void SeekRandom(ThreadContext* thread) {
  assert(thread != nullptr);
  ReadOptions options = MakeReadOptions();
  ScanBound bound(&options);
  ReadStamp stamp(&options);
  KeyBuffer key(ShapeOfKeys());
  int64_t found = 0, sought = 0;
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    const uint64_t number = thread->random() % static_cast<uint64_t>(FLAGS_num);
    // The bound follows the target, so each iteration needs an iterator of its own.
    thread->PaceReads(1);
    bound.SetFor(number);
    stamp.MoveToNow();
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
  assert(thread != nullptr);
  ReadOptions options = MakeReadOptions();
  const ReadStamp stamp(&options);
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    // The creation is what is measured; the iterator is not moved.
    const std::unique_ptr<Iterator> it(thread->db->NewIterator(options));
    RequireOk(it->status(), "iterate");
    thread->stats.Finished(Operation::kOther, 1, 0);
  }
}

// Reads each key once, so that later reads find it in the row cache.
void ReadToRowCache(ThreadContext* thread) {
  // Without the cache the benchmark would measure something else than its name says.
  assert(thread != nullptr);
  if (FLAGS_row_cache_size <= 0) {
    RequireOk(Status::InvalidArgument("needs --row_cache_size"), "readtorowcache");
  }
  const ReadOptions options = MakeReadOptions();
  KeyBuffer key(ShapeOfKeys());
  // With --use_existing_keys the keys come from an iterator, because those in the database need not
  // be the numbers 0 to --num.
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

namespace {

// The arrays of one thread for MultiGet, reused for every batch.
// The slices of keys point into the buffers, which therefore live as long as the batch.
class Batch {
 public:
  explicit Batch(size_t size)
      : buffers_(size, KeyBuffer(ShapeOfKeys())),
        families_(size),
        keys_(size),
        pinned_(size),
        statuses_(size) {}

  size_t size() const { return keys_.size(); }
  void Choose(ThreadContext* thread);
  void Read(DB* db, const ReadOptions& options);
  // Compares the results of Read() with those of single reads at the same snapshot.
  void ReadAndCheck(DB* db, ReadOptions options);

  const Slice& key(size_t i) const { return keys_[i]; }
  const Status& status(size_t i) const { return statuses_[i]; }
  Slice value(size_t i) const {
    return FLAGS_multiread_batched ? Slice(pinned_[i]) : Slice(copied_[i]);
  }

 private:
  std::vector<KeyBuffer> buffers_;
  std::vector<ColumnFamilyHandle*> families_;  // of the keys
  std::vector<Slice> keys_;
  std::vector<PinnableSlice> pinned_;  // with --multiread_batched
  std::vector<std::string> copied_;    // without
  std::vector<Status> statuses_;
};

// With a stride, the first key is chosen so that the whole batch is in the range of keys, if
// possible.
void Batch::Choose(ThreadContext* thread) {
  assert(thread != nullptr);
  Random* const random = &thread->random;
  const auto count = static_cast<uint64_t>(FLAGS_num);
  const auto stride = static_cast<uint64_t>(FLAGS_multiread_stride);
  // `span` is the distance between the first and the last key of the batch.
  const uint64_t span = stride * (size() - 1);
  const uint64_t first = (*random)() % (stride != 0 && span < count ? count - span : count);
  for (size_t i = 0; i < size(); i++) {
    // Without a stride every key is drawn anew, except that the first one has been drawn already.
    const uint64_t next = stride != 0 ? first + i * stride : i == 0 ? first : (*random)();
    families_[i] = thread->FamilyOf(next % count);
    keys_[i] = buffers_[i].Set(next % count);
  }
}

// Both forms of MultiGet: the older one copies values into strings, the batched one pins them.
void Batch::Read(DB* db, const ReadOptions& options) {
  assert(db != nullptr);
  if (!FLAGS_multiread_batched) {
    statuses_ = db->MultiGet(options, families_, keys_, &copied_);
    return;
  }
  // Pins of the batch before are released, so that they do not keep blocks in the cache.
  for (PinnableSlice& value : pinned_) value.Reset();
  if (FLAGS_num_column_families > 1) {
    return db->MultiGet(options, size(), families_.data(), keys_.data(), pinned_.data(),
                        statuses_.data());
  }
  // With a single family the form with one handle is called, as programs do.
  db->MultiGet(options, families_[0], size(), keys_.data(), pinned_.data(), statuses_.data());
}

// Compares the result of MultiGet with that of a Get for each key, at the same snapshot.
void Batch::ReadAndCheck(DB* db, ReadOptions options) {
  ManagedSnapshot snapshot(db);  // another thread may write meanwhile
  assert(db != nullptr);
  options.snapshot = snapshot.snapshot();
  Read(db, options);
  std::string single;
  for (size_t i = 0; i < size(); i++) {
    const Status expected = db->Get(options, families_[i], keys_[i], &single);
    const bool is_same = expected == statuses_[i] && (!expected.ok() || value(i) == Slice(single));
    // A value is compared only if the key was found; otherwise the statuses alone must agree.
    if (is_same) continue;
    RequireOk(Status::Corruption("MultiGet differs from Get of key " + keys_[i].ToString(true),
                                 statuses_[i].ToString() + " and " + expected.ToString()),
              "--multiread_check");
  }
}

}  // namespace

// Reads batches of random keys by MultiGet(). A batch counts as --batch_size operations, also if
// keys are missing, which is no error: the message at the end tells how many were found.
void MultiReadRandom(ThreadContext* thread) {
  assert(thread != nullptr);
  ReadOptions options = MakeReadOptions();
  ReadStamp stamp(&options);
  Batch batch(static_cast<size_t>(FLAGS_batch_size));
  int64_t found = 0, sought = 0;
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(FLAGS_batch_size)) {
    // The pace counts keys, not calls.
    thread->PaceReads(batch.size());
    batch.Choose(thread);
    stamp.MoveToNow();
    FLAGS_multiread_check ? batch.ReadAndCheck(thread->db, options)
                          : batch.Read(thread->db, options);
    uint64_t bytes = 0;
    for (size_t i = 0; i < batch.size(); i++) {
      const Status& status = batch.status(i);
      if (!status.IsNotFound()) RequireOk(status, "multiget");
      if (!status.ok()) continue;
      found++;
      bytes += batch.key(i).size() + batch.value(i).size();
    }
    sought += FLAGS_batch_size;
    thread->stats.Finished(Operation::kRead, static_cast<uint64_t>(FLAGS_batch_size), bytes);
  }
  AddFoundMessage(thread, found, sought);
}

namespace {

// Runs `other` in thread 0 and `measured` in all other threads. A writing thread is not part of the
// result, a scanning one is.
void RunWith(ThreadContext* thread, void (*other)(ThreadContext*),
             void (*measured)(ThreadContext*)) {
  assert(thread != nullptr && other != nullptr && measured != nullptr);
  if (thread->index == 0) return other(thread);
  measured(thread);
  assert(thread->threads_reading != nullptr);
  // The last reader ends the writer.
  // Relaxed is enough: the number orders nothing else, and the writer may make one more write.
  thread->threads_reading->fetch_sub(1, std::memory_order_relaxed);
}

// Calls write(family, key, value) for random keys until all readers have ended.
template <typename Write>
void WriteUntilReadersEnd(ThreadContext* thread, Write write) {
  assert(thread != nullptr);
  // The writer runs as long as the readers do, so its number of operations says nothing.
  thread->stats.Exclude();
  ValueSource values(thread->random(), FLAGS_compression_ratio, FLAGS_value_size);
  KeyBuffer key(ShapeOfKeys());
  assert(thread->threads_reading != nullptr);
  while (thread->threads_reading->load(std::memory_order_relaxed) > 0) {
    const uint64_t number = thread->random() % static_cast<uint64_t>(FLAGS_num);
    const Slice value = values.Next();
    thread->PaceWrites(static_cast<uint64_t>(FLAGS_key_size) + value.size());
    RequireOk(write(thread->FamilyOf(number), key.Set(number), value), "write");
    thread->stats.Finished(Operation::kWrite, 1, 0);
  }
}

void Overwrite(ThreadContext* thread) {
  assert(thread != nullptr);
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  WriteUntilReadersEnd(thread, [&](auto* family, const Slice& key, const Slice& value) {
    return PutStamped(thread->db, options, family, key, value);
  });
}

void Merge(ThreadContext* thread) {
  assert(thread != nullptr);
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  WriteUntilReadersEnd(thread, [&](auto* family, const Slice& key, const Slice& operand) {
    return thread->db->Merge(options, family, key, operand);
  });
}

// Makes as many steps as the other threads read keys; starts again at the first key after the last
// one.
void ScanRepeatedly(ThreadContext* thread) {
  assert(thread != nullptr);
  ReadOptions options = MakeReadOptions();
  const ReadStamp stamp(&options);
  const std::unique_ptr<Iterator> it(thread->db->NewIterator(options));
  it->SeekToFirst();
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    // The same iterator all the time, so it also shows what an old iterator costs the readers.
    it->Valid() ? it->Next() : it->SeekToFirst();
    RequireOk(it->status(), "iterate");
    thread->stats.Finished(Operation::kSeek, 1, 0);
  }
}

}  // namespace

void ReadWhileWriting(ThreadContext* thread) { RunWith(thread, Overwrite, ReadRandom); }

void MultiReadWhileWriting(ThreadContext* thread) { RunWith(thread, Overwrite, MultiReadRandom); }

void ReadWhileMerging(ThreadContext* thread) { RunWith(thread, Merge, ReadRandom); }

void ReadWhileScanning(ThreadContext* thread) { RunWith(thread, ScanRepeatedly, ReadRandom); }

void SeekWhileWriting(ThreadContext* thread) { RunWith(thread, Overwrite, SeekRandom); }

void SeekWhileMerging(ThreadContext* thread) { RunWith(thread, Merge, SeekRandom); }

void NewIteratorWhileWriting(ThreadContext* thread) { RunWith(thread, Overwrite, NewIteratorOnly); }

}  // namespace bench
}  // namespace ashlar
