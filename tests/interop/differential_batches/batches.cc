// SPDX-License-Identifier: Apache-2.0
//
// One random program over WriteBatchWithIndex, compiled against the drop-in and against RocksDB:
// both must print the same. ../differential/compare.py runs them side by side.
//
//   differential_batches run DIR FIRST LAST    the programs of seeds FIRST to LAST
//
// What the program avoids, as RocksDB 7.8.3 does it otherwise on purpose or by mistake:
// - the updates of one key are shown oldest first there, newest first from 11 on: they are printed
//   in one order;
// - an iterator with a base does not heed the bounds that are given with it going backwards, misses
//   updates written between its key and its next one, and stays valid when a merge fails: bounds
//   are the base's alone, after a write comes a seek, and merges fail in programs without such
//   iterators;
// - a rollback indexes what was written to the batch itself: nothing is.
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/write_batch_with_index.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../differential/draw.h"

namespace differential {
namespace {

using rocksdb::Slice;

constexpr int kSteps = 250;

// Joins with commas; fails for operands that begin with '!'.
class Joiner final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    if (!value.empty() && value[0] == '!') return false;
    *result =
        existing == nullptr ? value.ToString() : existing->ToString() + "," + value.ToString();
    return true;
  }
  const char* Name() const override { return "differential.Joiner"; }
};

// Later versions say of a failed merge what failed.
std::string Show(const rocksdb::Status& status) {
  if (status.IsCorruption()) return "corruption";
  return std::to_string(status.code()) + "." + std::to_string(status.subcode());
}

class Program {
 public:
  Program(uint64_t seed, const std::string& dir) : dir_(dir), seed_(seed), draw_(seed, 0, 0) {
    fails_ = draw_.OneIn(4);
    overwrites_ = draw_.OneIn(2);
    keys_ = draw_.Of<uint64_t>({4, 12, 300});
    batch_ = std::make_unique<rocksdb::WriteBatchWithIndex>(rocksdb::BytewiseComparator(), 0,
                                                            overwrites_);
    std::printf("seed %llu\nfails %d overwrites %d keys %d\n",
                static_cast<unsigned long long>(seed), fails_, overwrites_,
                static_cast<int>(keys_));
  }
  ~Program() {
    iterators_.clear();
    for (const rocksdb::Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    for (size_t i = 1; i < families_.size(); i++) db_->DestroyColumnFamilyHandle(families_[i]);
    db_.reset();
    rocksdb::DestroyDB(dir_, rocksdb::Options());
  }

  void Run() {
    Open();
    for (int step = 1; step <= kSteps; step++) {
      draw_ = Draw(seed_, 0, static_cast<uint64_t>(step));
      std::printf("%d ", step);
      Step();
    }
  }

 private:
  struct LiveIterator {
    size_t family;
    bool must_seek = true;
    std::string lower, upper;
    Slice lower_slice, upper_slice;
    std::unique_ptr<rocksdb::Iterator> iterator;
  };

  void Open() {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.max_sequential_skip_in_iterations = draw_.Of<uint64_t>({0, 1, 8});
    options.merge_operator = std::make_shared<Joiner>();
    rocksdb::DB* db = nullptr;
    Check(rocksdb::DB::Open(options, dir_, &db));
    db_.reset(db);
    families_.push_back(db_->DefaultColumnFamily());
    rocksdb::ColumnFamilyOptions reverse(options), plain(options);
    reverse.comparator = rocksdb::ReverseBytewiseComparator();
    plain.merge_operator = nullptr;
    families_.resize(3);
    Check(db_->CreateColumnFamily(reverse, "reverse", &families_[1]));
    Check(db_->CreateColumnFamily(plain, "plain", &families_[2]));
  }
  static void Check(const rocksdb::Status& status) {
    if (status.ok()) return;
    std::printf("unexpected: %s\n", status.ToString().c_str());
    std::fflush(stdout);
    std::exit(1);
  }

  size_t AnyFamily() { return draw_.OneIn(3) ? draw_.Below(3) : 0; }
  std::string Key() {
    std::string key = "key" + std::to_string(1000 + draw_.Below(keys_));
    if (draw_.OneIn(12)) key.resize(draw_.Below(6));
    return key;
  }
  std::string Value() { return std::to_string(++values_); }

  void Step() {
    switch (draw_.Below(18)) {
      case 0:
      case 1: return WriteDatabase();
      case 2: return SavePoints();
      case 3: return End();
      case 4: return Walk();
      case 5: return ShowCounts();
      case 6: return GetMany();
      case 7: return OpenIterator();
      case 8:
      case 9:
      case 10: return Get();
      case 11:
      case 12:
      case 13: return Write();
      default: return Move();
    }
  }

  // With or without a handle, where that means the same.
  rocksdb::Status WriteTo(rocksdb::WriteBatchBase* batch, bool to_database) {
    const size_t index = AnyFamily();
    const std::string key = Key(), value = Value();
    rocksdb::ColumnFamilyHandle* const family =
        index == 0 && draw_.OneIn(2) ? nullptr : families_[index];
    const uint64_t kind = draw_.Below(10);
    if (kind < 5)
      return family == nullptr ? batch->Put(key, value) : batch->Put(family, key, value);
    if (kind < 7 && (index != 2 || (fails_ && !to_database))) {
      const std::string operand = fails_ && !to_database && draw_.OneIn(6) ? "!" : value;
      return family == nullptr ? batch->Merge(key, operand) : batch->Merge(family, key, operand);
    }
    if (kind < 9 || to_database) {
      return family == nullptr ? batch->Delete(key) : batch->Delete(family, key);
    }
    return family == nullptr ? batch->SingleDelete(key) : batch->SingleDelete(family, key);
  }
  void Write() {
    std::printf("write");
    if (draw_.OneIn(10)) {
      batch_->SetMaxBytes(batch_->GetDataSize() + draw_.Below(60));
    } else {
      batch_->SetMaxBytes(0);
    }
    for (uint64_t i = draw_.OneIn(8) ? keys_ : 1 + draw_.Below(4); i > 0; i--) {
      std::printf(" %s", Show(WriteTo(batch_.get(), false)).c_str());
    }
    if (draw_.OneIn(10)) std::printf(" log %s", Show(batch_->PutLogData("log")).c_str());
    std::printf("\n");
    for (auto& open : iterators_) open->must_seek = true;
  }
  void WriteDatabase() {
    rocksdb::WriteBatch batch;
    for (uint64_t i = draw_.OneIn(4) ? keys_ : 1 + draw_.Below(6); i > 0; i--) {
      Check(WriteTo(&batch, true));
    }
    Check(db_->Write(rocksdb::WriteOptions(), &batch));
    if (draw_.OneIn(4)) Check(db_->Flush(rocksdb::FlushOptions(), families_[AnyFamily()]));
    std::printf("database\n");
  }

  void SavePoints() {
    switch (draw_.Below(4)) {
      case 0:
      case 1: batch_->SetSavePoint(); return void(std::printf("savepoint\n"));
      case 2:
        iterators_.clear();
        return void(std::printf("rollback %s\n", Show(batch_->RollbackToSavePoint()).c_str()));
      default: std::printf("pop %s\n", Show(batch_->PopSavePoint()).c_str());
    }
  }
  void End() {
    if (!draw_.OneIn(3)) return ShowCounts();
    iterators_.clear();
    // A SingleDelete of a key that was put more than once may leave any of the values, and what
    // cannot be merged stays in the database.
    if (!batch_->GetWriteBatch()->HasSingleDelete() && !fails_) {
      std::printf("commit ");
      Check(db_->Write(rocksdb::WriteOptions(), batch_->GetWriteBatch()));
    }
    batch_->Clear();
    std::printf("clear\n");
  }
  void ShowCounts() {
    rocksdb::WriteBatch* const inner = batch_->GetWriteBatch();
    std::printf("counts %d %d %d\n", static_cast<int>(inner->Count()),
                static_cast<int>(batch_->GetDataSize()), static_cast<int>(inner->HasMerge()));
  }

  void Get() {
    const size_t index = AnyFamily();
    const std::string key = Key();
    std::string value = "unset";
    const rocksdb::DBOptions options;
    rocksdb::Status status = index == 0 && draw_.OneIn(3)
                                 ? batch_->GetFromBatch(options, key, &value)
                                 : batch_->GetFromBatch(families_[index], options, key, &value);
    std::printf("get %s %s", Show(status).c_str(), status.ok() ? value.c_str() : "");
    const rocksdb::ReadOptions read = AnySnapshot();
    rocksdb::PinnableSlice pinned;
    status = index == 0 && draw_.OneIn(3)
                 ? batch_->GetFromBatchAndDB(db_.get(), read, key, &pinned)
                 : batch_->GetFromBatchAndDB(db_.get(), read, families_[index], key, &pinned);
    std::printf(" both %s %s\n", Show(status).c_str(),
                status.ok() ? pinned.ToString().c_str() : "");
  }
  void GetMany() {
    const size_t index = AnyFamily();
    std::vector<std::string> keys;
    for (uint64_t i = draw_.Below(12); i > 0; i--) keys.push_back(Key());
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    batch_->MultiGetFromBatchAndDB(db_.get(), AnySnapshot(), families_[index], keys.size(),
                                   slices.data(), values.data(), statuses.data(), false);
    std::printf("many");
    for (size_t i = 0; i < keys.size(); i++) {
      std::printf(" %s:%s", Show(statuses[i]).c_str(),
                  statuses[i].ok() ? values[i].ToString().c_str() : "");
    }
    std::printf("\n");
  }
  rocksdb::ReadOptions AnySnapshot() {
    rocksdb::ReadOptions options;
    if (draw_.OneIn(3)) {
      if (snapshots_.empty() || draw_.OneIn(3)) snapshots_.push_back(db_->GetSnapshot());
      options.snapshot = snapshots_[draw_.Below(snapshots_.size())];
    }
    return options;
  }

  static std::string ShowEntry(const rocksdb::WriteEntry& entry) {
    return entry.key.ToString() + ":" + std::to_string(static_cast<int>(entry.type)) + "=" +
           entry.value.ToString();
  }
  // The updates of each key newest first.
  static std::string ShowGroups(std::vector<std::pair<std::string, std::string>> entries) {
    std::string text;
    for (size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
      while (end < entries.size() && entries[end].first == entries[begin].first) end++;
      if (ROCKSDB_MAJOR < 11) {
        std::reverse(entries.begin() + static_cast<ptrdiff_t>(begin),
                     entries.begin() + static_cast<ptrdiff_t>(end));
      }
      for (size_t i = begin; i < end; i++) text += " " + entries[i].second;
    }
    return text;
  }
  void Walk() {
    const size_t index = AnyFamily();
    const std::unique_ptr<rocksdb::WBWIIterator> it(batch_->NewIterator(families_[index]));
    std::vector<std::pair<std::string, std::string>> entries;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      entries.emplace_back(it->Entry().key.ToString(), ShowEntry(it->Entry()));
    }
    std::printf("walk%s back", ShowGroups(entries).c_str());
    entries.clear();
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      entries.emplace_back(it->Entry().key.ToString(), ShowEntry(it->Entry()));
    }
    std::reverse(entries.begin(), entries.end());
    std::printf("%s", ShowGroups(entries).c_str());
    const std::string key = Key();
    it->Seek(key);
    std::printf(" seek %s", it->Valid() ? it->Entry().key.ToString().c_str() : "-");
    it->SeekForPrev(key);
    std::printf(" for prev %s %s\n", it->Valid() ? it->Entry().key.ToString().c_str() : "-",
                Show(it->status()).c_str());
  }

  void OpenIterator() {
    if (fails_) return void(std::printf("iterator: not here\n"));
    if (iterators_.size() == 3) iterators_.erase(iterators_.begin());
    auto open = std::make_unique<LiveIterator>();
    open->family = AnyFamily();
    rocksdb::ReadOptions options = AnySnapshot();
    if (draw_.OneIn(4)) {
      open->lower = Key();
      open->lower_slice = open->lower;
      options.iterate_lower_bound = &open->lower_slice;
    }
    if (draw_.OneIn(4)) {
      open->upper = Key();
      open->upper_slice = open->upper;
      options.iterate_upper_bound = &open->upper_slice;
    }
    rocksdb::ColumnFamilyHandle* const family = families_[open->family];
    open->iterator.reset(batch_->NewIteratorWithBase(family, db_->NewIterator(options, family)));
    iterators_.push_back(std::move(open));
    std::printf("iterator\n");
  }
  void Move() {
    if (iterators_.empty()) return OpenIterator();
    LiveIterator& open = *iterators_[draw_.Below(iterators_.size())];
    rocksdb::Iterator& it = *open.iterator;
    std::printf("move");
    for (uint64_t i = 1 + draw_.Below(6); i > 0; i--) {
      const uint64_t kind = draw_.Below(open.must_seek ? 4 : 10);
      open.must_seek = false;
      if (kind == 0) {
        it.SeekToFirst();
      } else if (kind == 1) {
        it.SeekToLast();
      } else if (kind == 2) {
        it.Seek(Key());
      } else if (kind == 3) {
        it.SeekForPrev(Key());
      } else if (kind < 7) {
        it.Next();
      } else {
        it.Prev();
      }
      std::printf(" %d", static_cast<int>(kind));
      if (it.Valid()) {
        std::printf(":%s=%s", it.key().ToString().c_str(), it.value().ToString().c_str());
      }
      if (!it.status().ok()) std::printf(":%s", Show(it.status()).c_str());
    }
    std::printf("\n");
  }

  const std::string dir_;
  const uint64_t seed_;
  Draw draw_;
  bool fails_;  // merges fail, and nothing is iterated over a base
  bool overwrites_;
  uint64_t keys_;
  uint64_t values_ = 0;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  std::unique_ptr<rocksdb::WriteBatchWithIndex> batch_;
  std::vector<const rocksdb::Snapshot*> snapshots_;
  std::vector<std::unique_ptr<LiveIterator>> iterators_;
};

}  // namespace
}  // namespace differential

int main(int argc, char** argv) {
  if (argc != 5 || std::strcmp(argv[1], "run") != 0) {
    std::fprintf(stderr, "usage: %s run DIR FIRST LAST\n", argv[0]);
    return 2;
  }
  const uint64_t last = std::strtoull(argv[4], nullptr, 10);
  for (uint64_t seed = std::strtoull(argv[3], nullptr, 10); seed <= last; seed++) {
    differential::Program(seed, std::string(argv[2]) + "/" + std::to_string(seed)).Run();
  }
  return 0;
}
