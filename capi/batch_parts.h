// SPDX-License-Identifier: Apache-2.0
//
// What the functions of batches with and without an index share.
#pragma once

#include <cstdint>
#include <vector>

#include "capi/handles.h"

namespace ashlar::capi {

// Functions that add to a batch report nothing: an entry that cannot be added is left out.
inline void Drop(const Status& s) { s.PermitUncheckedError(); }

// The family of a handle as a batch expects it: a null pointer stands for the default family.
inline ColumnFamilyHandle* Family(const ashlar_column_family_handle_t* handle) {
  return handle == nullptr ? nullptr : handle->rep;
}

// The pieces of a key or of a value. They refer to the memory of the program, which must stay until
// the call ends.
class Pieces {
 public:
  Pieces(int count, const char* const* data, const size_t* sizes);
  SliceParts parts() const { return {slices_.data(), static_cast<int>(slices_.size())}; }

 private:
  std::vector<Slice> slices_;
};

// Calls functions of a C program for the entries of a batch. Those that are null, and kinds of
// entries without a function, are left out.
struct EntryCallbacks : public WriteBatch::Handler {
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override;
  Status DeleteCF(uint32_t family, const Slice& key) override;
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override;
  void LogData(const Slice& blob) override;
  Status TimedPutCF(uint32_t, const Slice&, const Slice&, uint64_t) override {
    return Status::OK();
  }
  Status PutEntityCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status SingleDeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
  Status DeleteRangeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status PutBlobIndexCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status MarkBeginPrepare(bool) override { return Status::OK(); }
  Status MarkEndPrepare(const Slice&) override { return Status::OK(); }
  Status MarkNoop(bool) override { return Status::OK(); }
  Status MarkRollback(const Slice&) override { return Status::OK(); }
  Status MarkCommit(const Slice&) override { return Status::OK(); }
  Status MarkCommitWithTimestamp(const Slice&, const Slice&) override { return Status::OK(); }

  // Given to every function as its first argument.
  void* state = nullptr;
  // Called for each update of the default family.
  void (*put)(void*, const char* k, size_t klen, const char* v, size_t vlen) = nullptr;
  void (*deleted)(void*, const char* k, size_t klen) = nullptr;
  // Called for each update of any family, with the id of the family.
  void (*put_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v,
                 size_t vlen) = nullptr;
  void (*deleted_cf)(void*, uint32_t cfid, const char* k, size_t klen) = nullptr;
  void (*merge_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v,
                   size_t vlen) = nullptr;
  void (*log_data)(void*, const char* blob, size_t blob_len) = nullptr;
};

}  // namespace ashlar::capi
