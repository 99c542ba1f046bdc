// SPDX-License-Identifier: Apache-2.0
//
// Operations that follow the database while it is written: a secondary, which catches up through
// the files, and traces of calls.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/trace_reader_writer.h"
#include "ashlar/trace_record.h"
#include "ashlar/utilities/replayer.h"
#include "ashlar/write_batch.h"
#include "tools/db_stress/worker.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

// TryAgain is allowed: the database replaced files too fast. Returns whether it is open.
bool OpenSecondary(Shared* shared) {
  WatchedCopies& copies = shared->copies;
  StressedDb& db = *shared->db;
  DBOptions options;
  options.allow_2pc = db.transactions() == Transactions::kLocking;
  options.max_open_files = -1;
  std::vector<ColumnFamilyDescriptor> families = db.Descriptors();
  families.pop_back();  // a secondary does not see that it is created again
  const Status status = DB::OpenAsSecondary(options, db.path(), db.TemporaryPath("secondary"),
                                            families, &copies.secondary_handles, &copies.secondary);
  if (status.IsTryAgain()) return false;
  Require(status, "OpenAsSecondary");
  return true;
}

void CloseSecondary(WatchedCopies* copies) {
  if (copies->secondary == nullptr) return;
  for (ColumnFamilyHandle* handle : copies->secondary_handles) {
    Require(copies->secondary->DestroyColumnFamilyHandle(handle), "closing a secondary");
  }
  copies->secondary_handles.clear();
  Require(copies->secondary->Close(), "closing a secondary");
  copies->secondary.reset();
}

void CompareInSecondary(Shared* shared, const KeyId& first, const std::vector<KeyState>& before,
                        const std::vector<KeyState>& after, bool is_forward) {
  ReadOptions read;
  read.total_order_seek = true;
  const std::unique_ptr<Iterator> it(shared->copies.secondary->NewIterator(
      read, shared->copies.secondary_handles[static_cast<size_t>(first.family)]));
  CheckScan(it.get(), first, before, after, is_forward, "a scan of a secondary");
}

// The batches have keys of this program only.
class KeyChecker final : public WriteBatch::Handler {
 public:
  Status PutCF(uint32_t, const Slice& key, const Slice&) override { return Check(key); }
  Status PutEntityCF(uint32_t, const Slice& key, const Slice&) override { return Check(key); }
  Status DeleteCF(uint32_t, const Slice& key) override { return Check(key); }
  Status SingleDeleteCF(uint32_t, const Slice& key) override { return Check(key); }
  Status MergeCF(uint32_t, const Slice& key, const Slice&) override { return Check(key); }
  Status DeleteRangeCF(uint32_t, const Slice& begin, const Slice&) override { return Check(begin); }
  Status MarkBeginPrepare(bool) override { return Status::OK(); }
  Status MarkEndPrepare(const Slice&) override { return Status::OK(); }
  Status MarkCommit(const Slice&) override { return Status::OK(); }
  Status MarkRollback(const Slice&) override { return Status::OK(); }
  Status MarkNoop(bool) override { return Status::OK(); }

 private:
  static Status Check(const Slice& key) { return NumberOfKey(key).status(); }
};

// Every record must be readable, and the trace must end as it does after EndTrace(). The records
// are not executed: that would change the keys.
void ReadTrace(Shared* shared, const std::string& path) {
  std::unique_ptr<TraceReader> reader;
  Require(NewFileTraceReader(Env::Default(), EnvOptions(), path, &reader), "NewFileTraceReader");
  std::unique_ptr<Replayer> replayer;
  Require(shared->db->get()->NewDefaultReplayer({}, std::move(reader), &replayer),
          "NewDefaultReplayer");
  Require(replayer->Prepare(), "Replayer::Prepare");
  while (true) {
    std::unique_ptr<TraceRecord> record;
    const Status status = replayer->Next(&record);
    if (status.IsIncomplete()) break;
    Require(status, "Replayer::Next");
    if (record == nullptr) Fail("Replayer::Next: OK without a record");
    if (record->GetTraceType() != kTraceWrite) continue;
    const auto& write = static_cast<const WriteQueryTraceRecord&>(*record);
    const WriteBatch batch(write.GetWriteBatchRep().ToString());
    KeyChecker checker;
    Require(batch.Iterate(&checker), "a batch in a trace");
  }
}

void EndTrace(Shared* shared) {
  Require(shared->db->get()->EndTrace(), "EndTrace");
  shared->copies.is_tracing = false;
  ReadTrace(shared, shared->db->TemporaryPath("trace"));
}

}  // namespace

// Whatever had ended before the secondary began to catch up is visible in it afterwards.
void CheckSecondary(Worker* worker) {
  WatchedCopies& copies = worker->shared->copies;
  const std::unique_lock turn(copies.secondary_mutex, std::try_to_lock);
  if (!turn.owns_lock()) return;
  const KeyId first{worker->StableFamily(), 0};
  if (worker->random.OneIn(8)) CloseSecondary(&copies);
  const std::vector<KeyState> before = worker->LoadRange(first, worker->space().keys);
  if (copies.secondary == nullptr) {
    if (!OpenSecondary(worker->shared)) return;
  } else {
    const Status status = copies.secondary->TryCatchUpWithPrimary();
    if (status.IsTryAgain()) return;
    Require(status, "TryCatchUpWithPrimary");
  }
  const std::vector<KeyState> after = worker->LoadRange(first, worker->space().keys);
  CompareInSecondary(worker->shared, first, before, after, worker->random.OneIn(2));
}

void StartOrCheckTrace(Worker* worker) {
  WatchedCopies& copies = worker->shared->copies;
  const std::unique_lock turn(copies.trace_mutex, std::try_to_lock);
  if (!turn.owns_lock()) return;
  if (copies.is_tracing) return EndTrace(worker->shared);
  TraceOptions options;
  options.sampling_frequency = 1 + worker->random.Uniform(3);
  options.filter = worker->random.Uniform(2) == 0 ? 0 : worker->random.Uniform(32);
  options.preserve_write_order = worker->random.OneIn(2);
  if (worker->random.OneIn(4)) options.max_trace_file_size = 100'000;
  std::unique_ptr<TraceWriter> writer;
  Require(NewFileTraceWriter(Env::Default(), EnvOptions(), worker->db().TemporaryPath("trace"),
                             &writer),
          "NewFileTraceWriter");
  Require(worker->db()->StartTrace(options, std::move(writer)), "StartTrace");
  copies.is_tracing = true;
}

// Nobody writes, so the states before and after catching up are the same.
void EndCopies(Shared* shared) {
  if (shared->copies.is_tracing) EndTrace(shared);
  if (shared->settings->tests_secondary) {
    if (shared->copies.secondary == nullptr && !OpenSecondary(shared)) {
      Fail("OpenAsSecondary: TryAgain, although nobody writes");
    }
    Require(shared->copies.secondary->TryCatchUpWithPrimary(), "TryCatchUpWithPrimary");
    for (int family = 0; family < shared->db->volatile_family(); family++) {
      const KeyId first{family, 0};
      std::vector<KeyState> states;
      for (uint64_t i = 0; i < shared->space.keys; i++) {
        states.push_back(shared->expected->Load({family, i}));
      }
      CompareInSecondary(shared, first, states, states, /*is_forward=*/true);
    }
  }
  CloseSecondary(&shared->copies);
  for (const char* name : {"secondary", "backups", "trace"}) {
    std::error_code error;
    std::filesystem::remove_all(shared->db->TemporaryPath(name), error);
    if (error) Fail(StrCat("removing ", shared->db->TemporaryPath(name), ": ", error.message()));
  }
}

}  // namespace ashlar::stress
