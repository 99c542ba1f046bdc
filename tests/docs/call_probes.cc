// SPDX-License-Identifier: Apache-2.0
//
// The members of DB that open, write, read and work in the background; fact_probes.cc has the rest.
// A probe of a call without a Status answers OK when the call returns something.
#include "tests/docs/call_probes.h"

#include <map>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/explain.h"
#include "ashlar/file_checksum.h"
#include "ashlar/iterator.h"
#include "ashlar/merge_operator.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/stats_history.h"
#include "ashlar/trace_reader_writer.h"
#include "ashlar/user_write_callback.h"
#include "ashlar/utilities/checkpoint.h"
#include "ashlar/wide_columns.h"
#include "ashlar/write_batch.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

Ground::Ground() {
  options.env = env.get();
  options.create_if_missing = true;
  options.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  EXPECT_OK(
      MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options.merge_operator));
  EXPECT_OK(DB::Open(options, "/db", &db));
  EXPECT_OK(db->CreateColumnFamily(options, "second", &second));
  EXPECT_OK(db->Put(WriteOptions(), "a", "1"));
  EXPECT_OK(db->Flush(FlushOptions()));
  family = db->DefaultColumnFamily();
}

Ground::~Ground() {
  if (second == nullptr) return;
  EXPECT_OK(db->DestroyColumnFamilyHandle(second));
}

Status Ground::OpenWith(const Options& changed) {
  std::unique_ptr<DB> other;
  return DB::Open(changed, "/other", &other);
}

namespace {

struct Families {
  std::vector<ColumnFamilyDescriptor> descriptors;
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;

  explicit Families(const Ground& g)
      : descriptors{{kDefaultColumnFamilyName, g.options}, {"second", g.options}} {}
  ~Families() {
    for (ColumnFamilyHandle* handle : handles) EXPECT_OK(db->DestroyColumnFamilyHandle(handle));
  }
};

class Silent final : public DB::AsyncCallback {
 public:
  void OnComplete(const PerfContext*, const IOStatsContext*) override { is_called = true; }
  bool is_called = false;
};

class NoHooks final : public UserWriteCallback {
 public:
  void OnWriteEnqueued() override {}
  void OnWalWriteFinish() override {}
};

Status CloseAnd(Ground& g, Status (*open)(const Ground& g, Families* families)) {
  EXPECT_OK(g.db->DestroyColumnFamilyHandle(std::exchange(g.second, nullptr)));
  EXPECT_OK(g.db->Close());
  g.db.reset();
  Families families(g);
  return open(g, &families);
}

Status GiveBack(const Ground& g, const Status& status, ColumnFamilyHandle* made) {
  EXPECT_EQ(status.ok(), made != nullptr);
  return made == nullptr ? status : g.db->DestroyColumnFamilyHandle(made);
}

Status IteratorStatus(std::unique_ptr<Iterator> it) {
  it->SeekToFirst();
  return it->status();
}

Status GetAsync(Ground& g) {
  Silent callback;
  std::string value;
  Status status;
  g.db->GetAsync(ReadOptions(), "a", &value, status, callback);
  EXPECT_TRUE(callback.is_called);
  return status;
}

Status MultiGetAsync(Ground& g) {
  Silent callback;
  ColumnFamilyHandle* families[] = {g.family};
  const Slice keys[] = {"a"};
  PinnableSlice value;
  Status status;
  g.db->MultiGetAsync(ReadOptions(), 1, families, keys, &value, &status, callback);
  EXPECT_TRUE(callback.is_called);
  return status;
}

Status CreateWithImport(Ground& g) {
  Checkpoint* checkpoint = nullptr;
  EXPECT_OK(Checkpoint::Create(g.db.get(), &checkpoint));
  ExportImportFilesMetaData* exported = nullptr;
  EXPECT_OK(checkpoint->ExportColumnFamily(g.family, "/export", &exported));
  delete checkpoint;
  ColumnFamilyHandle* made = nullptr;
  const Status status = g.db->CreateColumnFamilyWithImport(
      g.options, "third", ImportColumnFamilyOptions(), *exported, &made);
  delete exported;
  return GiveBack(g, status, made);
}

IngestExternalFileArg FileToIngest(Ground& g) {
  SstFileWriter writer(EnvOptions(), g.options);
  EXPECT_OK(writer.Open("/x.sst"));
  EXPECT_OK(writer.Put("k", "v"));
  EXPECT_OK(writer.Finish());
  IngestExternalFileArg arg;
  arg.column_family = g.family;
  arg.external_files = {"/x.sst"};
  return arg;
}

std::vector<std::unique_ptr<FileIngestionHandle>> Prepared(Ground& g) {
  std::vector<std::unique_ptr<FileIngestionHandle>> handles(1);
  EXPECT_OK(g.db->PrepareFileIngestion({FileToIngest(g)}, handles.data()));
  return handles;
}

Status GetMergeOperands(Ground& g) {
  PinnableSlice operands[2];
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = 2;
  int count = 0;
  return g.db->GetMergeOperands(ReadOptions(), g.family, "a", operands, &options, &count);
}

Status CompactFiles(Ground& g) {
  ColumnFamilyMetaData facts;
  g.db->GetColumnFamilyMetaData(&facts);
  std::vector<std::string> names;
  for (const LevelMetaData& level : facts.levels) {
    for (const SstFileMetaData& file : level.files) names.push_back(file.name);
  }
  return g.db->CompactFiles(CompactionOptions(), names, 1);
}

Status CreateFamilies(Ground& g) {
  std::vector<ColumnFamilyHandle*> made;
  Status status = g.db->CreateColumnFamilies(g.options, {"third", "fourth"}, &made);
  for (ColumnFamilyHandle* handle : made) EXPECT_OK(g.db->DestroyColumnFamilyHandle(handle));
  return status;
}

const Probe kOpening[] = {
    {"DB::Open", [](Ground& g) { return g.OpenWith(g.options); }},
    {"DB::OpenForReadOnly",
     [](Ground& g) {
       return CloseAnd(g, [](const Ground& ground, Families* f) {
         return DB::OpenForReadOnly(ground.options, "/db", f->descriptors, &f->handles, &f->db);
       });
     }},
    {"DB::OpenAsSecondary",
     [](Ground& g) {
       return CloseAnd(g, [](const Ground& ground, Families* f) {
         return DB::OpenAsSecondary(ground.options, "/db", "/secondary", f->descriptors,
                                    &f->handles, &f->db);
       });
     }},
    {"DB::OpenAsFollower",
     [](Ground& g) {
       return CloseAnd(g, [](const Ground& ground, Families* f) {
         return DB::OpenAsFollower(ground.options, "/follower", "/db", f->descriptors, &f->handles,
                                   &f->db);
       });
     }},
    {"DB::OpenAndCompact",
     [](Ground&) {
       std::string output;
       const Status status =
           DB::OpenAndCompact("/db", "/out", "", &output, CompactionServiceOptionsOverride());
       return status.IsCorruption() ? Status::OK() : status;  // that is no job, it says
     }},
    {"DB::OpenAndTrimHistory",
     [](Ground& g) {
       return CloseAnd(g, [](const Ground& ground, Families* f) {
         return DB::OpenAndTrimHistory(ground.options, "/db", f->descriptors, &f->handles, &f->db,
                                       "");
       });
     }},
    {"DB::ListColumnFamilies",
     [](Ground& g) {
       std::vector<std::string> names;
       return DB::ListColumnFamilies(g.options, "/db", &names);
     }},
    {"DB::Resume", [](Ground& g) { return g.db->Resume(); }},
    {"DB::Close",
     [](Ground& g) {
       EXPECT_OK(g.db->DestroyColumnFamilyHandle(std::exchange(g.second, nullptr)));
       return g.db->Close();
     }},
    {"DB::CreateColumnFamily",
     [](Ground& g) {
       ColumnFamilyHandle* made = nullptr;
       Status status = g.db->CreateColumnFamily(g.options, "third", &made);
       return GiveBack(g, status, made);
     }},
    {"DB::CreateColumnFamilies", &CreateFamilies},
    {"DB::DropColumnFamily", [](Ground& g) { return g.db->DropColumnFamily(g.second); }},
    {"DB::DropColumnFamilies", [](Ground& g) { return g.db->DropColumnFamilies({g.second}); }},
    {"DB::DestroyColumnFamilyHandle",
     [](Ground& g) { return g.db->DestroyColumnFamilyHandle(std::exchange(g.second, nullptr)); }},
    {"DB::CreateColumnFamilyWithImport", &CreateWithImport},
};

const Probe kWrites[] = {
    {"DB::Put", [](Ground& g) { return g.db->Put(WriteOptions(), "k", "v"); }},
    {"DB::PutEntity",
     [](Ground& g) {
       return g.db->PutEntity(WriteOptions(), g.family, "k", {{"column", "v"}});
     }},
    {"DB::Delete", [](Ground& g) { return g.db->Delete(WriteOptions(), "a"); }},
    {"DB::SingleDelete", [](Ground& g) { return g.db->SingleDelete(WriteOptions(), "a"); }},
    {"DB::DeleteRange", [](Ground& g) { return g.db->DeleteRange(WriteOptions(), "a", "b"); }},
    {"DB::Merge", [](Ground& g) { return g.db->Merge(WriteOptions(), "a", "2"); }},
    {"DB::Write",
     [](Ground& g) {
       WriteBatch batch;
       EXPECT_OK(batch.Put("k", "v"));
       return g.db->Write(WriteOptions(), &batch);
     }},
    {"DB::WriteWithCallback",
     [](Ground& g) {
       WriteBatch batch;
       NoHooks hooks;
       EXPECT_OK(batch.Put("k", "v"));
       return g.db->WriteWithCallback(WriteOptions(), &batch, &hooks);
     }},
    {"DB::IngestWriteBatchWithIndex",
     [](Ground& g) {
       WriteOptions options;
       options.disableWAL = true;
       return g.db->IngestWriteBatchWithIndex(
           options, std::make_shared<WriteBatchWithIndex>(BytewiseComparator(), 0,
                                                          /*overwrite_key=*/true));
     }},
    {"DB::IngestExternalFile",
     [](Ground& g) {
       return g.db->IngestExternalFile(FileToIngest(g).external_files, IngestExternalFileOptions());
     }},
    {"DB::IngestExternalFiles",
     [](Ground& g) { return g.db->IngestExternalFiles({FileToIngest(g)}); }},
    {"DB::PrepareFileIngestion",
     [](Ground& g) {
       std::unique_ptr<FileIngestionHandle> handle;
       return g.db->PrepareFileIngestion({FileToIngest(g)}, &handle);
     }},
    {"DB::CommitFileIngestionHandle",
     [](Ground& g) { return g.db->CommitFileIngestionHandle(std::move(Prepared(g)[0])); }},
    {"DB::CommitFileIngestionHandles",
     [](Ground& g) { return g.db->CommitFileIngestionHandles(Prepared(g)); }},
    {"DB::GetPreparedFileInfoForExternalSstIngestion",
     [](Ground& g) {
       std::shared_ptr<const PreparedFileInfo> info;
       EXPECT_OK(g.db->Put(WriteOptions(), g.family, "prepared", "v"));
       EXPECT_OK(g.db->Flush(FlushOptions(), g.family));
       std::vector<LiveFileMetaData> tables;
       g.db->GetLiveFilesMetaData(&tables);
       const std::string name = tables.empty() ? "" : tables[0].name;
       return g.db->GetPreparedFileInfoForExternalSstIngestion(name, &info);
     }},
    {"DB::FlushWAL", [](Ground& g) { return g.db->FlushWAL(/*sync=*/true); }},
    {"DB::SyncWAL", [](Ground& g) { return g.db->SyncWAL(); }},
    {"DB::LockWAL",
     [](Ground& g) {
       const Status status = g.db->LockWAL();
       EXPECT_OK(g.db->UnlockWAL());
       return status;
     }},
    {"DB::UnlockWAL",
     [](Ground& g) {
       EXPECT_OK(g.db->LockWAL());
       return g.db->UnlockWAL();
     }},
};

const Probe kReads[] = {
    {"DB::Get",
     [](Ground& g) {
       std::string value;
       return g.db->Get(ReadOptions(), "a", &value);
     }},
    {"DB::GetEntity",
     [](Ground& g) {
       PinnableWideColumns columns;
       return g.db->GetEntity(ReadOptions(), g.family, "a", &columns);
     }},
    {"DB::GetEntityLazy",
     [](Ground& g) { return g.db->GetEntityLazy(ReadOptions(), g.family, "a", nullptr); }},
    {"DB::GetMergeOperands", &GetMergeOperands},
    {"DB::MultiGet",
     [](Ground& g) {
       std::vector<std::string> values;
       return g.db->MultiGet(ReadOptions(), {Slice("a")}, &values)[0];
     }},
    {"DB::MultiGetEntity",
     [](Ground& g) {
       const Slice key = "a";
       PinnableWideColumns columns;
       Status status;
       g.db->MultiGetEntity(ReadOptions(), g.family, 1, &key, &columns, &status);
       return status;
     }},
    {"DB::MultiGetEntityLazy",
     [](Ground& g) {
       const Slice key = "a";
       Status status;
       g.db->MultiGetEntityLazy(ReadOptions(), g.family, 1, &key, nullptr, &status);
       return status;
     }},
    {"DB::KeyMayExist",
     [](Ground& g) {
       std::string value;
       return Found(g.db->KeyMayExist(ReadOptions(), "a", &value));
     }},
    {"DB::GetAsync", &GetAsync},
    {"DB::MultiGetAsync", &MultiGetAsync},
    {"DB::NewIterator",
     [](Ground& g) {
       return IteratorStatus(std::unique_ptr<Iterator>(g.db->NewIterator(ReadOptions())));
     }},
    {"DB::NewIterators",
     [](Ground& g) {
       std::vector<Iterator*> iterators;
       const Status status = g.db->NewIterators(ReadOptions(), {g.family, g.second}, &iterators);
       for (Iterator* it : iterators) delete it;
       return status;
     }},
    {"DB::NewCoalescingIterator",
     [](Ground& g) {
       return IteratorStatus(g.db->NewCoalescingIterator(ReadOptions(), {g.family, g.second}));
     }},
    {"DB::NewAttributeGroupIterator",
     [](Ground& g) {
       return g.db->NewAttributeGroupIterator(ReadOptions(), {g.family, g.second})->status();
     }},
    {"DB::NewMultiScan",
     [](Ground& g) {
       MultiScanArgs ranges(BytewiseComparator());
       ranges.insert(Slice("a"), Slice("b"));
       return Found(g.db->NewMultiScan(ReadOptions(), g.family, ranges) != nullptr);
     }},
    {"DB::GetSnapshot",
     [](Ground& g) {
       const Snapshot* snapshot = g.db->GetSnapshot();
       g.db->ReleaseSnapshot(snapshot);
       return Found(snapshot != nullptr);
     }},
    {"DB::ReleaseSnapshot",
     [](Ground& g) {
       g.db->ReleaseSnapshot(g.db->GetSnapshot());
       return Status::OK();
     }},
    {"DB::ExplainRead",
     [](Ground& g) {
       ReadExplanation explanation;
       return ExplainGet(g.db.get(), ReadOptions(), g.family, "a", &explanation);
     }},
    {"DB::GetUpdatesSince",
     [](Ground& g) {
       if (Status status = g.db->Put(WriteOptions(), "in", "the log"); !status.ok()) return status;
       std::unique_ptr<WalIterator> it;
       return g.db->GetUpdatesSince(g.db->GetLatestSequenceNumber(), &it);
     }},
};

const Probe kBackground[] = {
    {"DB::Flush", [](Ground& g) { return g.db->Flush(FlushOptions()); }},
    {"DB::CompactRange",
     [](Ground& g) { return g.db->CompactRange(CompactRangeOptions(), nullptr, nullptr); }},
    {"DB::CompactFiles", &CompactFiles},
    {"DB::SuggestCompactRange",
     [](Ground& g) { return g.db->SuggestCompactRange(g.family, nullptr, nullptr); }},
    {"DB::PromoteL0", [](Ground& g) { return g.db->PromoteL0(g.family, 1); }},
    {"DB::ClipColumnFamily", [](Ground& g) { return g.db->ClipColumnFamily(g.second, "a", "b"); }},
    {"DB::PauseBackgroundWork",
     [](Ground& g) {
       const Status status = g.db->PauseBackgroundWork();
       EXPECT_OK(g.db->ContinueBackgroundWork());
       return status;
     }},
    {"DB::ContinueBackgroundWork",
     [](Ground& g) {
       EXPECT_OK(g.db->PauseBackgroundWork());
       return g.db->ContinueBackgroundWork();
     }},
    {"DB::EnableAutoCompaction", [](Ground& g) { return g.db->EnableAutoCompaction({g.family}); }},
    {"DB::DisableManualCompaction",
     [](Ground& g) {
       g.db->DisableManualCompaction();
       return Found(g.db->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsIncomplete());
     }},
    {"DB::EnableManualCompaction",
     [](Ground& g) {
       g.db->DisableManualCompaction();
       g.db->EnableManualCompaction();
       return g.db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
     }},
    {"DB::AbortAllCompactions",
     [](Ground& g) {
       g.db->AbortAllCompactions();
       const Status aborted = g.db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
       g.db->ResumeAllCompactions();
       return Found(aborted.IsIncomplete());
     }},
    {"DB::ResumeAllCompactions",
     [](Ground& g) {
       g.db->AbortAllCompactions();
       g.db->ResumeAllCompactions();
       return g.db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
     }},
    {"DB::AbortCompactions",
     [](Ground& g) {
       g.db->AbortCompactions(g.family);
       const Status aborted = g.db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
       g.db->ResumeCompactions(g.family);
       return Found(aborted.IsIncomplete());
     }},
    {"DB::ResumeCompactions",
     [](Ground& g) {
       g.db->AbortCompactions(g.family);
       g.db->ResumeCompactions(g.family);
       return g.db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
     }},
    {"DB::WaitForCompact", [](Ground& g) { return g.db->WaitForCompact(WaitForCompactOptions()); }},
    {"DB::TryCatchUpWithPrimary",
     [](Ground& g) {
       std::unique_ptr<DB> secondary;
       const Status status = DB::OpenAsSecondary(g.options, "/db", "/secondary", &secondary);
       return status.ok() ? secondary->TryCatchUpWithPrimary() : status;
     }},
};

std::vector<Probe> AllDbProbes() {
  std::vector<Probe> all;
  for (const std::span<const Probe> part :
       {std::span<const Probe>(kOpening), std::span<const Probe>(kWrites),
        std::span<const Probe>(kReads), std::span<const Probe>(kBackground), OptionProbes(),
        FactProbes(), FileProbes()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

std::span<const Probe> DbProbes() {
  static const std::vector<Probe> all = AllDbProbes();
  return all;
}

}  // namespace ashlar
