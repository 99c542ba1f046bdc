// SPDX-License-Identifier: Apache-2.0
//
// multireadrandom: --batch_size keys in each MultiGet.
#include <string>
#include <vector>

#include "ashlar/snapshot.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
namespace {

// The arrays of one thread, used again for every batch.
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
  // Compares all that Read() gets with single reads of the same moment.
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

// With a stride the batch lies whole among the keys, if there are as many.
void Batch::Choose(ThreadContext* thread) {
  Random* const random = &thread->random;
  const auto count = static_cast<uint64_t>(FLAGS_num);
  const auto stride = static_cast<uint64_t>(FLAGS_multiread_stride);
  const uint64_t span = stride * (size() - 1);
  const uint64_t first = (*random)() % (stride != 0 && span < count ? count - span : count);
  for (size_t i = 0; i < size(); i++) {
    const uint64_t next = stride != 0 ? first + i * stride : i == 0 ? first : (*random)();
    families_[i] = thread->FamilyOf(next % count);
    keys_[i] = buffers_[i].Set(next % count);
  }
}

void Batch::Read(DB* db, const ReadOptions& options) {
  if (!FLAGS_multiread_batched) {
    statuses_ = db->MultiGet(options, families_, keys_, &copied_);
    return;
  }
  for (PinnableSlice& value : pinned_) value.Reset();
  if (FLAGS_num_column_families > 1) {
    return db->MultiGet(options, size(), families_.data(), keys_.data(), pinned_.data(),
                        statuses_.data());
  }
  db->MultiGet(options, families_[0], size(), keys_.data(), pinned_.data(), statuses_.data());
}

// Somebody may write beside it.
void Batch::ReadAndCheck(DB* db, ReadOptions options) {
  ManagedSnapshot moment(db);
  options.snapshot = moment.snapshot();
  Read(db, options);
  std::string single;
  for (size_t i = 0; i < size(); i++) {
    const Status expected = db->Get(options, families_[i], keys_[i], &single);
    const bool is_same = expected == statuses_[i] && (!expected.ok() || value(i) == Slice(single));
    if (is_same) continue;
    RequireOk(Status::Corruption("MultiGet differs from Get of key " + keys_[i].ToString(true),
                                 statuses_[i].ToString() + " and " + expected.ToString()),
              "--multiread_check");
  }
}

}  // namespace

void MultiReadRandom(ThreadContext* thread) {
  const ReadOptions options = MakeReadOptions();
  Batch batch(static_cast<size_t>(FLAGS_batch_size));
  int64_t found = 0, sought = 0;
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(FLAGS_batch_size)) {
    thread->PaceReads(batch.size());
    batch.Choose(thread);
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

}  // namespace bench
}  // namespace ashlar
