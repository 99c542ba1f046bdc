// SPDX-License-Identifier: Apache-2.0
//
// GuardedWrites is the part of a database with transactions that both kinds share: each of its own
// writes is made while its keys are guarded, by locks or by buckets, so that no transaction is in
// between; and no family is created in which a conflict could not be seen.
//
// `Derived` is the database. It derives from this class, and has
//
//   DBImpl* engine()                                where the writes go
//   Status Guard(family, key, write)                calls write() while the key is guarded
//   Status GuardAll(batch, write)                   calls write(hook) while all keys are guarded;
//                                                   the hook, perhaps null, releases them when the
//                                                   commit is visible. Refuses ranges
//   Status RefuseRange()                            the answer to DeleteRange()
//   void FamilyCreated(handle)
//
// Threads: as for DB.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/utilities/write_batch_with_index.h"
#include "ashlar/write_batch.h"
#include "db/db_impl.h"
#include "db/transaction/validation/key_conflicts.h"
#include "util/result.h"

namespace ashlar {

template <typename Derived, typename Base>
class GuardedWrites : public Base {
 public:
  // These calls have more forms in the base class than the ones that are overridden below. Without
  // the declarations the overrides would hide the other forms.
  using Base::Base;

  using Base::CreateColumnFamilyWithImport;
  using Base::Delete;
  using Base::DeleteRange;
  using Base::Merge;
  using Base::Put;
  using Base::PutEntity;
  using Base::SingleDelete;
  using Base::Write;

  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
             const Slice& value) final {
    return WriteKey(
        options, family, key, [&] { return engine()->Put(options, family, key, value); },
        [&](WriteBatch* batch) { return batch->Put(family, key, value); });
  }
  // An entity is encoded into a batch before its key is guarded, so that bad columns are refused
  // without waiting for a lock.
  Status PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const WideColumns& columns) final {
    WriteBatch batch;
    RETURN_IF_ERROR(batch.PutEntity(family, key, columns));
    return Write(options, &batch);
  }
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
               const Slice& value) final {
    return WriteKey(
        options, family, key, [&] { return engine()->Merge(options, family, key, value); },
        [&](WriteBatch* batch) { return batch->Merge(family, key, value); });
  }
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) final {
    return WriteKey(
        options, family, key, [&] { return engine()->Delete(options, family, key); },
        [&](WriteBatch* batch) { return batch->Delete(family, key); });
  }
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                      const Slice& key) final {
    return WriteKey(
        options, family, key, [&] { return engine()->SingleDelete(options, family, key); },
        [&](WriteBatch* batch) { return batch->SingleDelete(family, key); });
  }
  // A range has no list of keys that could be guarded one by one, so no write of a range can be
  // kept apart from the transactions.
  Status DeleteRange(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&) final {
    return derived()->RefuseRange();
  }
  Status DeleteRange(const WriteOptions&, ColumnFamilyHandle*, const Slice&, const Slice&,
                     const Slice&) final {
    return derived()->RefuseRange();
  }
  Status Write(const WriteOptions& options, WriteBatch* updates) final {
    return WriteWithCallback(options, updates, nullptr);
  }
  // The hook that GuardAll() passes on releases the keys when the commit is visible. With
  // WriteOptions::sync that is before the sync, so that nobody waits for the disk of another
  // writer.
  Status WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                           UserWriteCallback* callback) final {
    if (updates == nullptr) return engine()->Write(options, updates);  // which refuses it
    return derived()->GuardAll(*updates, [&](CommitHook* hook) {
      return engine()->WriteObserved(options, updates, {.callback = callback, .hook = hook});
    });
  }
  // The batch becomes a memtable as a whole. That write has no place for a hook, so the keys stay
  // guarded until the call has returned.
  Status IngestWriteBatchWithIndex(const WriteOptions& options,
                                   std::shared_ptr<WriteBatchWithIndex> batch) final {
    if (batch == nullptr) return engine()->IngestWriteBatchWithIndex(options, batch);
    return derived()->GuardAll(*batch->GetWriteBatch(), [&](CommitHook*) {
      return engine()->IngestWriteBatchWithIndex(options, batch);
    });
  }

  // The options are checked before the family exists: a family in which conflicts could not be seen
  // must not be left behind by a call that fails.
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) final {
    RETURN_IF_ERROR(CheckFamilies({{name, options}}));
    RETURN_IF_ERROR(this->db_->CreateColumnFamily(options, name, handle));
    derived()->FamilyCreated(*handle);
    return Status::OK();
  }
  Status CreateColumnFamilyWithImport(const ColumnFamilyOptions& options, const std::string& name,
                                      const ImportColumnFamilyOptions& import_options,
                                      const std::vector<const ExportImportFilesMetaData*>& parts,
                                      ColumnFamilyHandle** handle) final {
    RETURN_IF_ERROR(CheckFamilies({{name, options}}));
    RETURN_IF_ERROR(
        this->db_->CreateColumnFamilyWithImport(options, name, import_options, parts, handle));
    derived()->FamilyCreated(*handle);
    return Status::OK();
  }

 private:
  Derived* derived() { return static_cast<Derived*>(this); }
  DBImpl* engine() { return derived()->engine(); }

  // A write of one key. Without a sync the engine's own call for the key is used, which is the
  // cheapest form: the key stays guarded until direct() has returned. With a sync the write is made
  // as a batch instead, because only a batch has a hook, and the hook releases the key before the
  // sync.
  template <typename Direct, typename AddTo>
  Status WriteKey(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                  const Direct& direct, const AddTo& add_to) {
    if (!options.sync) return derived()->Guard(family, key, direct);
    WriteBatch batch;
    RETURN_IF_ERROR(add_to(&batch));
    return Write(options, &batch);
  }
};

}  // namespace ashlar
