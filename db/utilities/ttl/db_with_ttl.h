// SPDX-License-Identifier: Apache-2.0
//
// The open DBWithTTL: adds times to what is written, takes them off what is read, and wraps the
// filters and merge operators of the families.
//
// Threads: as for DB.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/utilities/db_ttl.h"
#include "db/utilities/ttl/ttl_filter.h"
#include "db/utilities/ttl/ttl_merge.h"
#include "util/threads/mutex.h"

namespace ashlar {

// What the options of one family are replaced by.
struct TtlFamily {
  ColumnFamilyOptions options;
  std::shared_ptr<TtlSetting> ttl;
  // The filter of `options`, if the user's options had one. Must outlive the database.
  std::unique_ptr<TtlCompactionFilter> filter;
};

// Wraps the filter and the merge operator of these options. Options that are wrapped already, such
// as those of DB::GetOptions(), are wrapped anew.
TtlFamily WrapForTtl(const ColumnFamilyOptions& options, int32_t ttl,
                     const std::shared_ptr<SystemClock>& clock, const TtlOptions& ttl_options);

// Registers the wrappers in ObjectLibrary::Default(), so that OPTIONS files of databases with TTL
// bring back the merge operators and filter factories that they wrap. Further calls do nothing. A
// TtlCompactionFilter is not registered: its filter would have no owner. Thread-safe.
void RegisterTtlObjects();

// A StackableDB: calls that are not overridden go to the database below, which it owns.
class DBWithTTLImpl final : public DBWithTTL {
 public:
  DBWithTTLImpl(std::unique_ptr<DB> db, std::shared_ptr<SystemClock> clock,
                const TtlOptions& ttl_options);
  // Closes the database before the filters end that its compactions use.
  ~DBWithTTLImpl() override;

  // Takes over a family of the database. Called once for each family that is opened or created.
  void Add(uint32_t family_id, TtlFamily family);

  using StackableDB::CreateColumnFamily;
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override;
  Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options, const std::string& name,
                                   ColumnFamilyHandle** handle, int ttl) override;
  using StackableDB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) override;

  using StackableDB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& value) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& ts, const Slice& value) override;
  using StackableDB::Merge;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& value) override;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& ts, const Slice& value) override;
  using StackableDB::PutEntity;
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const WideColumns& columns) override;
  Status PutEntity(const WriteOptions& options, const Slice& key,
                   const AttributeGroups& attribute_groups) override;
  Status Write(const WriteOptions& options, WriteBatch* updates) override;
  Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                           UserWriteCallback* callback) override;
  Status IngestWriteBatchWithIndex(const WriteOptions& options,
                                   std::shared_ptr<WriteBatchWithIndex> wbwi) override;

  using StackableDB::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             PinnableSlice* value, std::string* timestamp) override;
  using StackableDB::GetEntity;
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   PinnableWideColumns* columns) override;
  using StackableDB::GetMergeOperands;
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                          PinnableSlice* merge_operands, GetMergeOperandsOptions* operand_options,
                          int* number_of_operands) override;
  using StackableDB::MultiGet;
  void MultiGet(const ReadOptions& options, const size_t num_keys, ColumnFamilyHandle** families,
                const Slice* keys, PinnableSlice* values, std::string* timestamps, Status* statuses,
                const bool sorted_input) override;
  using StackableDB::MultiGetEntity;
  void MultiGetEntity(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
                      const Slice* keys, PinnableWideColumns* results, Status* statuses,
                      bool sorted_input) override;
  using StackableDB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   std::string* value, std::string* timestamp, bool* value_found) override;
  using StackableDB::NewIterator;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;
  Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                      std::vector<Iterator*>* iterators) override;
  std::unique_ptr<Iterator> NewCoalescingIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) override;
  std::unique_ptr<AttributeGroupIterator> NewAttributeGroupIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) override;

  // Besides the properties of DB "ashlar.ttl", by which an indexed batch recognizes a database
  // whose reads take the times off.
  using StackableDB::GetProperty;
  bool GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) override;
  using StackableDB::GetIntProperty;
  bool GetIntProperty(ColumnFamilyHandle* family, const Slice& property, uint64_t* value) override;

  void SetTtl(int32_t ttl) override { SetTtl(DefaultColumnFamily(), ttl); }
  void SetTtl(ColumnFamilyHandle* family, int32_t ttl) override;
  Status GetTtl(ColumnFamilyHandle* family, int32_t* ttl) override;

 private:
  // Creates a family by `make`, which is called with the wrapped options and sets *handle.
  template <typename Make>
  Status Create(const ColumnFamilyOptions& options, int32_t ttl, Make&& make,
                ColumnFamilyHandle** handle);
  // The setting of a family; null if the family was not created or opened here.
  std::shared_ptr<TtlSetting> FindTtl(ColumnFamilyHandle* family) const;
  // The time of a read now; 0, which hides nothing, unless expired values are hidden.
  int64_t TimeOfRead() const;
  // Whether a value of this time is hidden from a read at `now`.
  bool IsHidden(ColumnFamilyHandle* family, int64_t write_time, int64_t now) const;
  // Takes the time off a value that was read. NotFound if it is hidden, Corruption if it has none;
  // then *value is empty.
  Status Strip(ColumnFamilyHandle* family, int64_t now, PinnableSlice* value) const;
  Status StripColumns(ColumnFamilyHandle* family, int64_t now, PinnableWideColumns* columns) const;
  // The options for an iterator of the database below, and the iterator around it.
  ReadOptions OptionsBelow(const ReadOptions& options) const;
  Iterator* Wrap(ColumnFamilyHandle* family, const ReadOptions& options, int64_t now,
                 Iterator* below) const;

  // The clock of the database, in seconds since 1970.
  const std::shared_ptr<SystemClock> clock_;
  const TtlOptions ttl_options_;
  mutable Mutex mutex_{LockRank::kUtility};
  // By family id. Ids are never used again, so dropped families may stay.
  std::map<uint32_t, std::shared_ptr<TtlSetting>> ttls_ GUARDED_BY(mutex_);
  // Used by compactions until the database is closed.
  std::vector<std::unique_ptr<TtlCompactionFilter>> filters_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
