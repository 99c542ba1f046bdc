// SPDX-License-Identifier: Apache-2.0
//
// Each call checks its Status through Expect(), which reports the line of the test.
#include "tests/support/test_db.h"

#include <algorithm>

#include "env/env_adaptors.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

bool Expect(const Status& status, const char* call, CallSite at) {
  if (!status.ok()) {
    ADD_FAILURE_AT(at.file(), at.line()) << call << " returned " << status.ToString();
  }
  return status.ok();
}

Options CreatingOptions() {
  Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  return options;
}

}  // namespace

TestDb::TestDb(TestFiles files) : options_(CreatingOptions()) {
  if (files == TestFiles::kSim) {
    UseSim(SimFS::Create());
  } else {
    memory_ = std::make_shared<MemoryFileSystem>();
    UseFiles(memory_);
  }
}

TestDb::TestDb(const std::shared_ptr<FileSystem>& files, const Options& options)
    : options_(options) {
  UseFiles(files);
}

TestDb::~TestDb() { Drop(); }

void TestDb::UseFiles(const std::shared_ptr<FileSystem>& files) {
  UseFiles(files, SystemClock::Default());
}

void TestDb::UseFiles(const std::shared_ptr<FileSystem>& files,
                      const std::shared_ptr<SystemClock>& clock) {
  UseEnv(NewCompositeEnvOver(Env::Default(), files, clock));
}

void TestDb::UseEnv(std::unique_ptr<Env> env) {
  Drop();
  env_ = std::move(env);
  options_.env = env_.get();
}

void TestDb::UseSim(const std::shared_ptr<SimFS>& sim) {
  sim_ = sim;
  memory_ = std::shared_ptr<MemoryFileSystem>(sim_, sim_->memory());
  UseFiles(sim_);
}

void TestDb::Kill() {
  Drop();
  UseSim(CrashImage(CrashPolicy::kAll));
}

void TestDb::Open(CallSite at) {
  Close(at);
  Expect(TryOpen(), "Open", at);
}

void TestDb::Open(const std::vector<std::string>& families, CallSite at) {
  Close(at);
  Expect(TryOpen(families), "Open", at);
}

void TestDb::OpenWith(const std::vector<ColumnFamilyDescriptor>& families, CallSite at) {
  Close(at);
  Expect(OpenFamilies(families, /*is_read_only=*/false), "Open", at);
}

void TestDb::OpenAll(CallSite at) {
  Close(at);
  Expect(TryOpenAll(), "Open", at);
}

void TestDb::OpenReadOnly(CallSite at) {
  Close(at);
  Expect(TryOpenReadOnly(), "OpenForReadOnly", at);
}

void TestDb::Reopen(CallSite at) {
  Close(at);
  Expect(OpenFamilies(names_, /*is_read_only=*/false), "Open", at);
}

Status TestDb::TryOpen() { return TryOpen(std::vector<std::string>()); }

Status TestDb::TryOpen(const std::vector<std::string>& families) {
  return OpenFamilies(families, /*is_read_only=*/false);
}

Status TestDb::TryOpenAll() {
  std::vector<std::string> names;
  Status status = DB::ListColumnFamilies(DBOptions(options_), dir_, &names);
  if (!status.ok()) {
    // A directory without a database becomes a new one; any other error shows when it is opened.
    if (!env_->FileExists(dir_ + "/CURRENT").IsNotFound()) return status;
    names = {kDefaultColumnFamilyName};
  }
  return TryOpen(names);
}

Status TestDb::TryOpenReadOnly() { return OpenFamilies(names_, /*is_read_only=*/true); }

Status TestDb::OpenFamilies(const std::vector<std::string>& families, bool is_read_only) {
  if (!families.empty()) {
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : families) {
      descriptors.emplace_back(name, ColumnFamilyOptions(options_));
    }
    return OpenFamilies(descriptors, is_read_only);
  }
  Drop();
  names_.clear();
  return is_read_only ? DB::OpenForReadOnly(options_, dir_, &db_) : DB::Open(options_, dir_, &db_);
}

Status TestDb::OpenFamilies(const std::vector<ColumnFamilyDescriptor>& families,
                            bool is_read_only) {
  Drop();
  names_.clear();
  for (const ColumnFamilyDescriptor& family : families) names_.push_back(family.name);
  return is_read_only ? DB::OpenForReadOnly(options_, dir_, families, &handles_, &db_)
                      : DB::Open(options_, dir_, families, &handles_, &db_);
}

void TestDb::Close(CallSite at) {
  if (db_ == nullptr) return;
  DestroyHandles(at);
  Expect(db_->Close(), "Close", at);
  db_.reset();
}

void TestDb::Drop() {
  for (ColumnFamilyHandle* handle : handles_) {
    IgnoreError(db_->DestroyColumnFamilyHandle(handle), "the test has ended or expects errors");
  }
  handles_.clear();
  db_.reset();
}

ColumnFamilyHandle* TestDb::CreateFamily(const std::string& name, CallSite at) {
  return CreateFamily(name, ColumnFamilyOptions(options_), at);
}

ColumnFamilyHandle* TestDb::CreateFamily(const std::string& name,
                                         const ColumnFamilyOptions& options, CallSite at) {
  ColumnFamilyHandle* handle = nullptr;
  if (!Expect(db_->CreateColumnFamily(options, name, &handle), "CreateColumnFamily", at)) {
    return nullptr;
  }
  handles_.push_back(handle);
  if (names_.empty()) names_ = {kDefaultColumnFamilyName};
  names_.push_back(name);
  return handle;
}

void TestDb::DestroyHandles(CallSite at) {
  for (ColumnFamilyHandle* handle : handles_) {
    Expect(db_->DestroyColumnFamilyHandle(handle), "DestroyColumnFamilyHandle", at);
  }
  handles_.clear();
}

ColumnFamilyHandle* TestDb::Family(const std::string& name, CallSite at) {
  for (ColumnFamilyHandle* handle : handles_) {
    if (handle->GetName() == name) return handle;
  }
  if (name == kDefaultColumnFamilyName) return db_->DefaultColumnFamily();
  ADD_FAILURE_AT(at.file(), at.line()) << "no family " << name << " is open";
  return nullptr;
}

void TestDb::Put(const Slice& key, const Slice& value, CallSite at) {
  Expect(db_->Put(WriteOptions(), key, value), "Put", at);
}

void TestDb::Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value, CallSite at) {
  Expect(db_->Put(WriteOptions(), family, key, value), "Put", at);
}

void TestDb::Merge(const Slice& key, const Slice& operand, CallSite at) {
  Expect(db_->Merge(WriteOptions(), key, operand), "Merge", at);
}

void TestDb::Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& operand,
                   CallSite at) {
  Expect(db_->Merge(WriteOptions(), family, key, operand), "Merge", at);
}

void TestDb::Delete(const Slice& key, CallSite at) {
  Expect(db_->Delete(WriteOptions(), key), "Delete", at);
}

void TestDb::Delete(ColumnFamilyHandle* family, const Slice& key, CallSite at) {
  Expect(db_->Delete(WriteOptions(), family, key), "Delete", at);
}

void TestDb::DeleteRange(const Slice& begin, const Slice& end, CallSite at) {
  DeleteRange(db_->DefaultColumnFamily(), begin, end, at);
}

void TestDb::DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end,
                         CallSite at) {
  Expect(db_->DeleteRange(WriteOptions(), family, begin, end), "DeleteRange", at);
}

void TestDb::Write(WriteBatch* batch, CallSite at) {
  Expect(db_->Write(WriteOptions(), batch), "Write", at);
}

WriteOptions TestDb::Synced() {
  WriteOptions options;
  options.sync = true;
  return options;
}

WriteOptions TestDb::Unlogged() {
  WriteOptions options;
  options.disableWAL = true;
  return options;
}

void TestDb::Fill(int count, size_t value_bytes, CallSite at) {
  for (int i = 0; i < count; i++) Put(Key(i), std::string(value_bytes, 'v'), at);
}

std::string TestDb::Key(int i) { return "key" + std::to_string(100000 + i); }

void TestDb::Flush(CallSite at) { Flush(nullptr, at); }

void TestDb::Flush(ColumnFamilyHandle* family, CallSite at) {
  if (family == nullptr) family = db_->DefaultColumnFamily();
  Expect(db_->Flush(FlushOptions(), family), "Flush", at);
}

void TestDb::Flush(const std::vector<ColumnFamilyHandle*>& families, CallSite at) {
  Expect(db_->Flush(FlushOptions(), families), "Flush", at);
}

void TestDb::Compact(CallSite at) { Compact(CompactRangeOptions(), at); }

void TestDb::Compact(ColumnFamilyHandle* family, CallSite at) {
  if (family == nullptr) family = db_->DefaultColumnFamily();
  Expect(db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr), "CompactRange", at);
}

void TestDb::Compact(const CompactRangeOptions& options, CallSite at) {
  Expect(db_->CompactRange(options, nullptr, nullptr), "CompactRange", at);
}

void TestDb::CompactAndRewrite(CallSite at) {
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  Compact(options, at);
}

void TestDb::WaitForJobs(CallSite at) {
  Expect(db_->WaitForCompact(WaitForCompactOptions()), "WaitForCompact", at);
}

std::string TestDb::Get(const Slice& key, const ReadOptions& read, ColumnFamilyHandle* family) {
  if (family == nullptr) family = db_->DefaultColumnFamily();
  std::string value;
  const Status status = db_->Get(read, family, key, &value);
  return status.ok() ? value : status.IsNotFound() ? "(none)" : status.ToString();
}

std::string TestDb::Scan(const ReadOptions& read, ColumnFamilyHandle* family, CallSite at) {
  if (family == nullptr) family = db_->DefaultColumnFamily();
  const std::unique_ptr<Iterator> it(db_->NewIterator(read, family));
  std::string text;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (read.allow_unprepared_value && !it->PrepareValue()) break;
    text += (text.empty() ? "" : " ") + RowAt(*it);
  }
  Expect(it->status(), "the iterator", at);
  return text;
}

std::string TestDb::ScanBackwards(const ReadOptions& read, ColumnFamilyHandle* family,
                                  CallSite at) {
  if (family == nullptr) family = db_->DefaultColumnFamily();
  const std::unique_ptr<Iterator> it(db_->NewIterator(read, family));
  std::string text;
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    if (read.allow_unprepared_value && !it->PrepareValue()) break;
    text += (text.empty() ? "" : " ") + RowAt(*it);
  }
  Expect(it->status(), "the iterator", at);
  return text;
}

std::string TestDb::Keys(const ReadOptions& read, CallSite at) {
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  std::string text;
  for (it->SeekToFirst(); it->Valid(); it->Next()) text += it->key().ToString();
  Expect(it->status(), "the iterator", at);
  return text;
}

Rows TestDb::ReadRows(const ReadOptions& read, ColumnFamilyHandle* family, CallSite at) {
  if (family == nullptr) family = db_->DefaultColumnFamily();
  const std::unique_ptr<Iterator> it(db_->NewIterator(read, family));
  Rows rows;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const bool is_new = rows.emplace(it->key().ToString(), it->value().ToString()).second;
    if (!is_new) ADD_FAILURE_AT(at.file(), at.line()) << it->key().ToString() << " comes twice";
  }
  Expect(it->status(), "the iterator", at);
  return rows;
}

Contents TestDb::ReadAll(CallSite at) {
  Contents contents;
  Expect(TryReadAll(&contents), "reading all rows", at);
  return contents;
}

Status TestDb::TryReadAll(Contents* contents) {
  std::vector<ColumnFamilyHandle*> families = handles_;
  if (families.empty()) families.push_back(db_->DefaultColumnFamily());
  return ReadAllFamilies(db_.get(), families, contents);
}

ReadOptions TestDb::AsOf(const Snapshot* snapshot) {
  ReadOptions read;
  read.snapshot = snapshot;
  return read;
}

std::string TestDb::Levels(ColumnFamilyHandle* family) {
  if (family == nullptr) family = db_->DefaultColumnFamily();
  ColumnFamilyMetaData facts;
  db_->GetColumnFamilyMetaData(family, &facts);
  std::string text;
  for (const LevelMetaData& level : facts.levels) {
    text += (text.empty() ? "" : ",") + std::to_string(level.files.size());
  }
  return text;
}

std::string TestDb::Tree() {
  ColumnFamilyMetaData facts;
  db_->GetColumnFamilyMetaData(&facts);
  std::string text;
  for (const LevelMetaData& level : facts.levels) {
    if (!level.files.empty()) StrAppend(&text, text.empty() ? "" : " ", "L", level.level);
    for (const SstFileMetaData& file : level.files) {
      StrAppend(&text, " ", file.smallestkey, "-", file.largestkey);
    }
  }
  return text;
}

int TestDb::TableCount(int level, ColumnFamilyHandle* family) {
  if (family == nullptr) family = db_->DefaultColumnFamily();
  ColumnFamilyMetaData facts;
  db_->GetColumnFamilyMetaData(family, &facts);
  return static_cast<int>(facts.levels.at(static_cast<size_t>(level)).files.size());
}

std::vector<LiveFileMetaData> TestDb::Tables() {
  std::vector<LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  return tables;
}

std::vector<std::string> TestDb::TableNames(int level) {
  ColumnFamilyMetaData facts;
  db_->GetColumnFamilyMetaData(&facts);
  std::vector<std::string> names;
  for (const SstFileMetaData& file : facts.levels.at(static_cast<size_t>(level)).files) {
    names.push_back(file.name);
  }
  return names;
}

int TestDb::FilesOnDisk(const std::string& ending, CallSite at) {
  std::vector<std::string> names;
  Expect(env_->GetChildren(dir_, &names), "GetChildren", at);
  return static_cast<int>(
      std::count_if(names.begin(), names.end(),
                    [&ending](const std::string& name) { return name.ends_with(ending); }));
}

std::string TestDb::Property(const Slice& name, ColumnFamilyHandle* family, CallSite at) {
  if (family == nullptr) family = db_->DefaultColumnFamily();
  std::string text;
  if (!db_->GetProperty(family, name, &text)) {
    ADD_FAILURE_AT(at.file(), at.line()) << "no property " << name.ToString();
  }
  return text;
}

uint64_t TestDb::Number(const Slice& name, ColumnFamilyHandle* family, CallSite at) {
  if (family == nullptr) family = db_->DefaultColumnFamily();
  uint64_t number = 0;
  if (!db_->GetIntProperty(family, name, &number)) {
    ADD_FAILURE_AT(at.file(), at.line()) << "no property " << name.ToString();
  }
  return number;
}

std::shared_ptr<SimFS> TestDb::CrashImage(CrashPolicy policy, uint64_t seed) const {
  return sim_->CrashImage(sim_->CallCount(), policy, seed);
}

void TestDb::Fail(CallKind kind, const std::string& path_part, FaultMode mode, FaultError error,
                  FaultEffect effect) {
  sim_->AddFault({.first_call = sim_->CallCount(),
                  .error = error,
                  .mode = mode,
                  .effect = effect,
                  .kinds = KindBit(kind),
                  .path_part = path_part});
}

std::string TestDb::RowAt(const Iterator& it) {
  if (!it.Valid()) return it.status().ok() ? "end" : it.status().ToString();
  return it.key().ToString() + "=" + it.value().ToString();
}

void DbTest::TearDown() {
  Drop();
  env_->WaitForJoin();  // threads of subcompactions, which may be about to end
}

}  // namespace ashlar
