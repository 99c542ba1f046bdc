// SPDX-License-Identifier: Apache-2.0
//
// WriteBatchWithIndex is declared but not built yet: every call that can answers NotSupported, and
// the batch inside stays empty.
#include "ashlar/utilities/write_batch_with_index.h"

#include <utility>

#include "ashlar/iterator.h"
#include "ashlar/status.h"

namespace ashlar {

namespace {

Status NotBuilt() { return Status::NotSupported("WriteBatchWithIndex", "not built yet"); }

// Never valid; says why.
class NoEntries final : public WBWIIterator {
 public:
  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override {}
  void Prev() override {}
  Status status() const override { return NotBuilt(); }
  WriteEntry Entry() const override { return {}; }
};

}  // namespace

struct WriteBatchWithIndex::Rep {
  WriteBatch batch;
  std::unordered_map<uint32_t, CFStat> stats;
  bool overwrite_key = false;
};

WriteBatchWithIndex::WriteBatchWithIndex(const Comparator*, size_t, bool overwrite_key, size_t,
                                         size_t)
    : rep(new Rep) {
  rep->overwrite_key = overwrite_key;
}
WriteBatchWithIndex::~WriteBatchWithIndex() = default;
WriteBatchWithIndex::WriteBatchWithIndex(WriteBatchWithIndex&&) = default;
WriteBatchWithIndex& WriteBatchWithIndex::operator=(WriteBatchWithIndex&&) = default;

Status WriteBatchWithIndex::Put(ColumnFamilyHandle*, const Slice&, const Slice&) {
  return NotBuilt();
}
Status WriteBatchWithIndex::Put(const Slice&, const Slice&) { return NotBuilt(); }
Status WriteBatchWithIndex::Put(ColumnFamilyHandle*, const Slice&, const Slice&, const Slice&) {
  return NotBuilt();
}
Status WriteBatchWithIndex::TimedPut(ColumnFamilyHandle*, const Slice&, const Slice&, uint64_t) {
  return NotBuilt();
}
Status WriteBatchWithIndex::PutEntity(ColumnFamilyHandle*, const Slice&, const WideColumns&) {
  return NotBuilt();
}
Status WriteBatchWithIndex::PutEntity(const Slice&, const AttributeGroups&) { return NotBuilt(); }
Status WriteBatchWithIndex::Merge(ColumnFamilyHandle*, const Slice&, const Slice&) {
  return NotBuilt();
}
Status WriteBatchWithIndex::Merge(const Slice&, const Slice&) { return NotBuilt(); }
Status WriteBatchWithIndex::Merge(ColumnFamilyHandle*, const Slice&, const Slice&, const Slice&) {
  return NotBuilt();
}
Status WriteBatchWithIndex::Delete(ColumnFamilyHandle*, const Slice&) { return NotBuilt(); }
Status WriteBatchWithIndex::Delete(const Slice&) { return NotBuilt(); }
Status WriteBatchWithIndex::Delete(ColumnFamilyHandle*, const Slice&, const Slice&) {
  return NotBuilt();
}
Status WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle*, const Slice&) { return NotBuilt(); }
Status WriteBatchWithIndex::SingleDelete(const Slice&) { return NotBuilt(); }
Status WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle*, const Slice&, const Slice&) {
  return NotBuilt();
}
Status WriteBatchWithIndex::DeleteRange(ColumnFamilyHandle*, const Slice&, const Slice&) {
  return NotBuilt();
}
Status WriteBatchWithIndex::DeleteRange(const Slice&, const Slice&) { return NotBuilt(); }
Status WriteBatchWithIndex::DeleteRange(ColumnFamilyHandle*, const Slice&, const Slice&,
                                        const Slice&) {
  return NotBuilt();
}
Status WriteBatchWithIndex::PutLogData(const Slice&) { return NotBuilt(); }
void WriteBatchWithIndex::Clear() {}
WriteBatch* WriteBatchWithIndex::GetWriteBatch() { return &rep->batch; }
void WriteBatchWithIndex::SetSavePoint() {}
Status WriteBatchWithIndex::RollbackToSavePoint() { return NotBuilt(); }
Status WriteBatchWithIndex::PopSavePoint() { return NotBuilt(); }
void WriteBatchWithIndex::SetMaxBytes(size_t) {}
size_t WriteBatchWithIndex::GetDataSize() const { return rep->batch.GetDataSize(); }

WBWIIterator* WriteBatchWithIndex::NewIterator(ColumnFamilyHandle*) { return new NoEntries; }
WBWIIterator* WriteBatchWithIndex::NewIterator() { return new NoEntries; }
Iterator* WriteBatchWithIndex::NewIteratorWithBase(ColumnFamilyHandle*, Iterator* base_iterator,
                                                   const ReadOptions*) {
  delete base_iterator;
  return NewErrorIterator(NotBuilt());
}
Iterator* WriteBatchWithIndex::NewIteratorWithBase(Iterator* base_iterator, const ReadOptions*) {
  delete base_iterator;
  return NewErrorIterator(NotBuilt());
}

Status WriteBatchWithIndex::GetFromBatch(ColumnFamilyHandle*, const DBOptions&, const Slice&,
                                         std::string*) {
  return NotBuilt();
}
Status WriteBatchWithIndex::GetFromBatch(const DBOptions&, const Slice&, std::string*) {
  return NotBuilt();
}
Status WriteBatchWithIndex::GetEntityFromBatch(ColumnFamilyHandle*, const Slice&,
                                               PinnableWideColumns*) {
  return NotBuilt();
}
Status WriteBatchWithIndex::GetFromBatchAndDB(DB*, const ReadOptions&, const Slice&, std::string*) {
  return NotBuilt();
}
Status WriteBatchWithIndex::GetFromBatchAndDB(DB*, const ReadOptions&, const Slice&,
                                              PinnableSlice*) {
  return NotBuilt();
}
Status WriteBatchWithIndex::GetFromBatchAndDB(DB*, const ReadOptions&, ColumnFamilyHandle*,
                                              const Slice&, std::string*) {
  return NotBuilt();
}
Status WriteBatchWithIndex::GetFromBatchAndDB(DB*, const ReadOptions&, ColumnFamilyHandle*,
                                              const Slice&, PinnableSlice*) {
  return NotBuilt();
}
Status WriteBatchWithIndex::GetEntityFromBatchAndDB(DB*, const ReadOptions&, ColumnFamilyHandle*,
                                                    const Slice&, PinnableWideColumns*) {
  return NotBuilt();
}
void WriteBatchWithIndex::MultiGetFromBatchAndDB(DB*, const ReadOptions&, ColumnFamilyHandle*,
                                                 const size_t num_keys, const Slice*,
                                                 PinnableSlice*, Status* statuses, bool) {
  for (size_t i = 0; i < num_keys; ++i) statuses[i] = NotBuilt();
}
void WriteBatchWithIndex::MultiGetEntityFromBatchAndDB(DB*, const ReadOptions&, ColumnFamilyHandle*,
                                                       size_t num_keys, const Slice*,
                                                       PinnableWideColumns*, Status* statuses,
                                                       bool) {
  for (size_t i = 0; i < num_keys; ++i) statuses[i] = NotBuilt();
}

const std::unordered_map<uint32_t, WriteBatchWithIndex::CFStat>& WriteBatchWithIndex::GetCFStats()
    const {
  return rep->stats;
}
size_t WriteBatchWithIndex::GetWBWIOpCount() const { return 0; }
bool WriteBatchWithIndex::GetOverwriteKey() const { return rep->overwrite_key; }

}  // namespace ashlar
