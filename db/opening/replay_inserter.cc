// SPDX-License-Identifier: Apache-2.0
//
// Three classes: Insertion inserts batches on one thread, Workers owns the additional threads, and
// ReplayInserter chooses between the two.
//
// The thread that reads the log copies batches into chunks and puts these into a queue. The bytes
// in the queue and in progress are limited, so the reader waits if the other threads are slower.
#include "db/opening/replay_inserter.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <exception>
#include <new>
#include <utility>

#include "ashlar/env.h"
#include "db/column_family/column_family_data.h"
#include "db/read/point_read.h"
#include "db/write/in_place_put.h"
#include "db/write/write_batch_reader.h"
#include "env/start_thread.h"
#include "memtable/memtable.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Inserts batches, one after the other, for one thread.
class ReplayInserter::Insertion {
 public:
  Insertion(const std::vector<Target>& targets, const MergeTools& tools)
      : targets_(targets), tools_(tools) {}
  ~Insertion() { FinishFamily(); }

  // Inserts the entries of a batch, and calls `after(family)` behind each. A memtable learns the
  // number of its new entries when an entry of another family follows, and at the end.
  template <typename After>
  Status Insert(const ReplaySource& source, const Slice& batch, uint64_t offset,
                Numbering numbering, const After& after) {
    const Status status = InsertAll(source, batch, numbering, after);
    if (status.ok()) return status;
    return Status::CopyAppendMessage(status, "; in ", StrCat(source.path, ", offset ", offset));
  }

  // Adds the counters of the entries inserted so far to the memtable.
  void FinishFamily() {
    if (memtable_ != nullptr) memtable_->AddCounters(&hint_);
    memtable_ = nullptr;
    family_ = nullptr;
  }

 private:
  template <typename After>
  Status InsertAll(const ReplaySource& source, const Slice& batch, Numbering numbering,
                   const After& after) {
    WriteBatchReader reader(batch);
    SequenceNumber seqno = DecodeFixed64(batch.data());
    const uint32_t count = DecodeFixed32(batch.data() + 8);
    uint32_t counted = 0;
    WriteBatchRecord record;
    while (reader.Next(&record)) {
      if (!record.IsCounted()) {
        if (!source.allows_sections) RETURN_IF_ERROR(CheckMarker(record));
        continue;
      }
      counted++;
      record.DropWriteTime();
      RETURN_IF_ERROR(InsertRecord(source, record, seqno));
      if (numbering == Numbering::kByRecord) seqno++;
      if (family_ != nullptr) after(family_);
    }
    RETURN_IF_ERROR(reader.status());
    if (counted == count) return Status::OK();
    return Status::Corruption(
        StrCat("WriteBatch has wrong count: ", count, " in its header, ", counted, " records"));
  }

  static Status CheckMarker(const WriteBatchRecord& record) {
    const bool is_begin = record.type == kTypeBeginPrepareXID ||
                          record.type == kTypeBeginPersistedPrepareXID ||
                          record.type == kTypeBeginUnprepareXID;
    if (!is_begin) return Status::OK();
    return Status::NotSupported(
        "WAL contains prepared transactions: open it with TransactionDB::Open(), or with "
        "DBOptions::allow_2pc to keep them as they are");
  }

  // Inserts one record, or skips it: then family_ is null, because the family was dropped or has
  // flushed the record.
  Status InsertRecord(const ReplaySource& source, const WriteBatchRecord& record,
                      SequenceNumber seqno) {
    RETURN_IF_ERROR(Aim(source, record.family));
    if (family_ == nullptr) return Status::OK();
    // Merge operands are inserted as they are, so this works even if the family has no merge
    // operator.
    const bool is_known = record.type == kTypeValue || record.type == kTypeDeletion ||
                          record.type == kTypeSingleDeletion || record.type == kTypeMerge ||
                          record.type == kTypeRangeDeletion || record.type == kTypeWideColumnEntity;
    if (!is_known) {
      return Status::NotSupported(
          "the log holds values of a newer kind, which are not supported by this version");
    }
    const size_t stamp_bytes = memtable_->comparator().stamp_bytes();
    const bool lacks_stamp =
        record.key.size() < stamp_bytes ||
        (record.type == kTypeRangeDeletion && record.value.size() < stamp_bytes);
    if (lacks_stamp) {
      return Status::Corruption(StrCat("column family ", record.family,
                                       ": a key without room for its timestamp of ", stamp_bytes,
                                       " bytes"));
    }
    const Status status =
        memtable_->UpdatesInPlace() && IsPut(record)
            ? UpdateInPlace(record, seqno)
            : memtable_->Add(seqno, record.type, record.key, record.value, &hint_);
    if (!status.IsTryAgain()) return status;
    return Status::Corruption(StrCat("sequence number ", seqno, " occurs twice for one key"));
  }

  // The super version is used without a reference: no other thread knows the database yet.
  Status UpdateInPlace(const WriteBatchRecord& record, SequenceNumber seqno) {
    return PutInPlace(record, seqno, memtable_, &hint_, [&](std::optional<std::string>* value) {
      return ReadValueBefore(tools_, *family_->super_version(), record.key, seqno, value);
    });
  }

  // Makes the family with this ID the target of the next records. Corruption if the ID is above all
  // that the MANIFEST has assigned: then the MANIFEST is older than the log. A missing family with
  // a lower ID was dropped, or RocksDB has logged the batch before refusing it; its records are
  // skipped.
  Status Aim(const ReplaySource& source, uint32_t id) {
    const Target target = id < targets_.size() ? targets_[id] : Target();
    if (target.family == nullptr && id > source.max_family) {
      return Status::Corruption(StrCat("the log holds records of column family ", id,
                                       ", but the MANIFEST ends before one above ",
                                       source.max_family, " was added; restore the MANIFEST"));
    }
    ColumnFamilyData* family = target.family;
    if (family != nullptr && source.number < target.first_log) family = nullptr;
    MemTable* const memtable = family == nullptr ? nullptr : family->mem();
    if (memtable == memtable_) return Status::OK();
    FinishFamily();
    family_ = family;
    memtable_ = memtable;
    return Status::OK();
  }

  const std::vector<Target>& targets_;
  const MergeTools& tools_;
  ColumnFamilyData* family_ = nullptr;
  MemTable* memtable_ = nullptr;  // of family_; hint_ is for it
  InsertHint hint_;
};

// ---- Threads

// The additional threads and their queue. The functions are called by the thread that reads the
// log, except the private ones that say otherwise.
class ReplayInserter::Workers {
 public:
  Workers(const std::vector<Target>& targets, const MergeTools& tools)
      : targets_(targets), tools_(tools) {}
  ~Workers();

  // Returns false if the system has no more threads.
  bool Start(Env* env, size_t count);
  // Copies the batch into the chunk that is being filled. An error that is returned may be that of
  // an earlier batch.
  Status Keep(const std::shared_ptr<const ReplaySource>& source, const Slice& batch,
              uint64_t offset, Numbering numbering);
  bool HasFullChunk() const { return filling_.bytes.size() >= kChunkBytes; }
  // Puts the chunk into the queue, after waiting until there is room. Returns the first error so
  // far.
  Status Hand();
  // Waits until all batches are inserted. Returns the first error in the order of the log.
  Status Await();
  // Whether all chunks in the queue have been inserted.
  bool IsIdle() {
    MutexLock lock(&mutex_);
    return in_flight_bytes_ == 0;
  }

 private:
  struct Chunk {
    uint64_t index = 0;
    std::shared_ptr<const ReplaySource> source;
    std::string bytes;
    struct Batch {
      size_t begin;     // in bytes
      uint64_t offset;  // in the log
      Numbering numbering;
    };
    std::vector<Batch> batches;
  };

  void Run();
  bool Take(Chunk* chunk);
  Status InsertChunk(const Chunk& chunk);
  void Note(const Chunk& chunk, const Status& status, std::exception_ptr thrown);

  const std::vector<Target>& targets_;
  const MergeTools& tools_;
  Chunk filling_;  // used only by the calling thread

  Mutex mutex_{LockRank::kLeaf};
  CondVar arrived_{&mutex_};  // signalled for a new chunk, and at the end
  CondVar done_{&mutex_};     // signalled when a chunk or a thread is finished
  std::deque<Chunk> queue_ GUARDED_BY(mutex_);
  size_t in_flight_bytes_ GUARDED_BY(mutex_) = 0;  // of chunks that are not inserted
  bool is_over_ GUARDED_BY(mutex_) = false;
  size_t running_ GUARDED_BY(mutex_) = 0;  // threads that have not ended
  // The first failed chunk in the order of the log, and its error. Chunks finish in any order, so a
  // later failure may be replaced by an earlier one.
  uint64_t failed_index_ GUARDED_BY(mutex_) = UINT64_MAX;
  Status failure_ GUARDED_BY(mutex_);
  std::exception_ptr thrown_ GUARDED_BY(mutex_);
};

bool ReplayInserter::Workers::Start(Env* env, size_t count) {
  assert(count > 0);
  {
    MutexLock lock(&mutex_);
    assert(running_ == 0);
    running_ = count;
  }
  const auto run = [](void* self) { static_cast<Workers*>(self)->Run(); };
  size_t started = 0;
  while (started < count && TryStartThread(env, run, this)) started++;
  MutexLock lock(&mutex_);
  running_ -= count - started;
  return started > 0;
}

// Discards the queue and waits for the threads. The chunks that they are inserting are finished.
ReplayInserter::Workers::~Workers() {
  MutexLock lock(&mutex_);
  is_over_ = true;
  for (const Chunk& chunk : queue_) in_flight_bytes_ -= chunk.bytes.size();
  queue_.clear();
  arrived_.SignalAll();
  while (running_ > 0) done_.Wait();
}

Status ReplayInserter::Workers::Keep(const std::shared_ptr<const ReplaySource>& source,
                                     const Slice& batch, uint64_t offset, Numbering numbering) {
  // A chunk belongs to a single log, whose path is part of error messages.
  if (filling_.source != source) {
    if (!filling_.batches.empty()) RETURN_IF_ERROR(Hand());
    filling_.source = source;
  }
  if (filling_.batches.empty()) filling_.bytes.reserve(kChunkBytes + batch.size());
  filling_.batches.push_back({filling_.bytes.size(), offset, numbering});
  filling_.bytes.append(batch.data(), batch.size());
  return Status::OK();
}

// Gives the chunk that was being filled to the workers. Waits while too many bytes are in flight,
// since they are copies in memory; a single chunk may exceed the limit. Returns the first error of
// any worker, after which the replay ends.
Status ReplayInserter::Workers::Hand() {
  assert(!filling_.batches.empty());
  const uint64_t next_index = filling_.index + 1;
  const std::shared_ptr<const ReplaySource> source = filling_.source;
  MutexLock lock(&mutex_);
  while (in_flight_bytes_ > 0 && in_flight_bytes_ + filling_.bytes.size() > kMaxInFlightBytes) {
    done_.Wait();
  }
  in_flight_bytes_ += filling_.bytes.size();
  queue_.push_back(std::exchange(filling_, Chunk()));
  filling_.index = next_index;
  filling_.source = source;
  arrived_.Signal();
  return failed_index_ == UINT64_MAX ? Status::OK() : failure_;
}

Status ReplayInserter::Workers::Await() {
  if (!filling_.batches.empty()) IgnoreError(Hand(), "what has failed by then is seen below");
  MutexLock lock(&mutex_);
  while (in_flight_bytes_ > 0) done_.Wait();
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  return failure_;
}

// The main function of an additional thread.
void ReplayInserter::Workers::Run() {
  for (Chunk chunk; Take(&chunk);) {
    Status status;
    std::exception_ptr thrown;
    try {
      status = InsertChunk(chunk);
    } catch (const std::bad_alloc&) {
      status = Status::MemoryLimit();
    } catch (...) {
      thrown = std::current_exception();  // of a program's comparator
      status = Status::Aborted();
    }
    Note(chunk, status, std::move(thrown));
  }
}

// Waits for a chunk. False at the end: after that the thread must not use this object, which may be
// destroyed.
bool ReplayInserter::Workers::Take(Chunk* chunk) {
  MutexLock lock(&mutex_);
  while (queue_.empty() && !is_over_) arrived_.Wait();
  if (queue_.empty()) {
    running_--;
    done_.SignalAll();
    return false;
  }
  *chunk = std::move(queue_.front());
  queue_.pop_front();
  return true;
}

// Runs on a worker, without a lock. A batch ends where the next one begins.
Status ReplayInserter::Workers::InsertChunk(const Chunk& chunk) {
  assert(!chunk.batches.empty());
  Insertion insertion(targets_, tools_);
  for (size_t i = 0; i < chunk.batches.size(); i++) {
    const auto [begin, offset, numbering] = chunk.batches[i];
    const size_t end =
        i + 1 < chunk.batches.size() ? chunk.batches[i + 1].begin : chunk.bytes.size();
    const Slice batch(chunk.bytes.data() + begin, end - begin);
    RETURN_IF_ERROR(
        insertion.Insert(*chunk.source, batch, offset, numbering, [](ColumnFamilyData*) {}));
  }
  return Status::OK();
}

void ReplayInserter::Workers::Note(const Chunk& chunk, const Status& status,
                                   std::exception_ptr thrown) {
  MutexLock lock(&mutex_);
  assert(in_flight_bytes_ >= chunk.bytes.size());
  in_flight_bytes_ -= chunk.bytes.size();
  if (!status.ok() && chunk.index < failed_index_) {
    failed_index_ = chunk.index;
    failure_ = status;
    thrown_ = std::move(thrown);
  }
  done_.Signal();
}

// ---- The public class

ReplayInserter::ReplayInserter(FamilySet* families, Env* env, size_t threads,
                               const MergeTools& tools, SwitchFunction switch_memtable)
    : tools_(tools), switch_(std::move(switch_memtable)) {
  assert(families != nullptr);
  for (ColumnFamilyData* family : families->All()) {
    if (family->id() >= targets_.size()) targets_.resize(family->id() + 1);
    targets_[family->id()] = {family, family->versions()->log_number};
  }
  if (threads == 0) return;
  workers_ = std::make_unique<Workers>(targets_, tools_);
  if (!workers_->Start(env, threads)) workers_.reset();
}

ReplayInserter::~ReplayInserter() = default;

void ReplayInserter::SetSource(const ReplaySource& source) {
  source_ = std::make_shared<const ReplaySource>(source);
}

Status ReplayInserter::Add(const Slice& batch, uint64_t offset, Numbering numbering) {
  assert(source_ != nullptr && batch.size() >= kWriteBatchHeaderBytes);
  if (workers_ != nullptr && batch.size() >= kMaxInFlightBytes) {
    // A batch this large is not copied; this thread inserts it while the others work.
    {
      Insertion insertion(targets_, tools_);
      RETURN_IF_ERROR(
          insertion.Insert(*source_, batch, offset, numbering, [](ColumnFamilyData*) {}));
    }
    return SwitchFullMemTables();
  }
  if (workers_ != nullptr) {
    RETURN_IF_ERROR(workers_->Keep(source_, batch, offset, numbering));
    if (!workers_->HasFullChunk()) return Status::OK();
    RETURN_IF_ERROR(workers_->Hand());
    return SwitchFullMemTables();
  }
  Insertion insertion(targets_, tools_);
  const auto switch_if_full = [&](ColumnFamilyData* family) {
    if (family->mem()->ApproximateMemoryUsage() < family->write_buffer_bytes()) return;
    // The counters must be in the old memtable before it is sealed.
    insertion.FinishFamily();
    switch_(family, source_->number);
  };
  return insertion.Insert(*source_, batch, offset, numbering, switch_if_full);
}

// Seals the memtables that are full. Nothing is flushed yet: until all logs are read, an error must
// leave the files as they are.
Status ReplayInserter::SwitchFullMemTables() {
  const auto is_full = [](const Target& target) {
    return target.family != nullptr &&
           target.family->mem()->ApproximateMemoryUsage() >= target.family->write_buffer_bytes();
  };
  if (std::none_of(targets_.begin(), targets_.end(), is_full)) return Status::OK();
  RETURN_IF_ERROR(workers_->Await());
  assert(workers_->IsIdle());  // no thread may insert into a sealed memtable
  for (const Target& target : targets_) {
    if (is_full(target)) switch_(target.family, source_->number);
  }
  return Status::OK();
}

Status ReplayInserter::Finish() { return workers_ == nullptr ? Status::OK() : workers_->Await(); }

}  // namespace ashlar
