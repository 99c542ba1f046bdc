// SPDX-License-Identifier: Apache-2.0
//
// One opening of the database: a sequence of random steps, each of which prints its action and its
// results. The output does not depend on the location of entries in memtables and files, nor on the
// progress of background threads.
#pragma once

#include <rocksdb/db.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "draw.h"
#include "shape.h"

namespace differential {

// An iterator that stays open during writes. Its bounds live as long.
struct Cursor {
  size_t family = 0;
  const rocksdb::Snapshot* snapshot = nullptr;  // outlives the iterator
  std::string lower, upper;
  rocksdb::Slice lower_slice, upper_slice;
  std::unique_ptr<rocksdb::Iterator> iterator;
};

class Session {
 public:
  Session(const Shape& shape, int number, const std::string& dir);
  ~Session();

  bool Open();  // prints the reason of a failure
  void Step(int step);
  // Releases everything and prints the contents of all families.
  void Finish(bool prints_entries);
  void Close();
  bool ends_by_kill() const { return session_.ends_by_kill; }

 private:
  using Row = std::pair<std::string, std::string>;
  using StepFunction = void (Session::*)(Draw*);
  static StepFunction Choose(Draw* draw);

  // Writes (writes.cc).
  void Put(Draw* draw);
  void Delete(Draw* draw);
  void DeleteRange(Draw* draw);
  void Merge(Draw* draw);
  void WriteBatch(Draw* draw);
  void SingleDelete(Draw* draw);
  void WriteWithoutLog(Draw* draw);
  void Overwrite(Draw* draw);
  void Fill(Draw* draw);
  void DeleteManyRanges(Draw* draw);
  void AddToBatch(Draw* draw, rocksdb::WriteBatch* batch);
  void DeleteFragile();
  std::string Key(Draw* draw) const;
  std::pair<std::string, std::string> Range(size_t family, Draw* draw) const;
  std::string Value(size_t family, Draw* draw) const;
  std::string Operand(size_t family, const std::string& key, Draw* draw);

  // Files (upkeep.cc).
  void Flush(Draw* draw);
  void Compact(Draw* draw);
  void DeleteFiles(Draw* draw);
  void ChangeOptions(Draw* draw);
  void TakeSnapshot(Draw* draw);
  void ReleaseSnapshot(Draw* draw);
  void PrintProperties(Draw* draw);
  void ReleaseSnapshots();

  // External tables, and copies (upkeep.cc).
  void Ingest(Draw* draw);
  rocksdb::Status WriteTable(size_t family, const std::string& path, Draw* draw);
  void Checkpoint(Draw* draw);
  void ExportAndImport(Draw* draw);

  // Wide columns (writes.cc).
  size_t AnyFamilyWithEntities(Draw* draw) const;
  void PutEntity(Draw* draw);
  void GetEntity(Draw* draw);
  void ScanColumns(Draw* draw);

  // Lookups (lookups.cc).
  void Get(Draw* draw);
  void MultiGet(Draw* draw);
  void MultiGetWithLimit(Draw* draw);
  void Operands(Draw* draw);
  void MayExist(Draw* draw);
  void CacheOnly(Draw* draw);
  rocksdb::ReadOptions DrawReadOptions(Draw* draw);
  std::string Fold(size_t family, const std::string& key,
                   const std::vector<rocksdb::Slice>& operands) const;

  // Iterators (scans.cc).
  void Scan(Draw* draw);
  void ScanPrefix(Draw* draw);
  void ScanPartOfTables(Draw* draw);
  void OpenCursor(Draw* draw);
  void MoveCursor(Draw* draw);
  void RefreshCursor(Draw* draw);
  void CloseCursor(Draw* draw);
  void CloseCursorsOf(const rocksdb::Snapshot* snapshot);
  void DrawBounds(Draw* draw, Cursor* cursor, rocksdb::ReadOptions* options) const;
  void Move(Draw* draw, rocksdb::Iterator* iterator);
  void PrintFamily(size_t family, bool prints_entries);
  void PrintRows(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle);  // their number and hash
  void CompareWithLookups(size_t family, const std::vector<Row>& rows);

  const Family& family(size_t index) const { return shape_.families[index]; }
  std::string SequenceText() const;
  size_t AnyFamily(Draw* draw) const { return draw->Below(shape_.families.size()); }
  const rocksdb::SliceTransform* extractor(size_t index) const { return extractors_[index].get(); }

  const Shape& shape_;
  const int number_;
  const std::string dir_;
  SessionShape session_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::vector<rocksdb::ColumnFamilyOptions> family_options_;  // with which the database was opened
  std::vector<std::shared_ptr<const rocksdb::SliceTransform>> extractors_;
  std::vector<const rocksdb::Snapshot*> snapshots_;
  std::vector<std::unique_ptr<Cursor>> cursors_;
  std::vector<std::pair<size_t, std::string>> single_keys_;  // put once, not deleted yet
  std::set<std::pair<size_t, std::string>> fragile_;         // may have an operand that fails
  int step_ = 0;
};

// Output.
std::string Show(const rocksdb::Slice& bytes);  // long ones by length, hash and beginning
std::string Show(
    const rocksdb::Status& status);  // the code alone: messages differ between the databases
void Print(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace differential
