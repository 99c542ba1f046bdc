// SPDX-License-Identifier: Apache-2.0
//
// What the handles of the C API hold, and the few conventions that all its functions share. A
// handle is a plain struct around the C++ object `rep`; the functions unwrap it, call the object,
// and wrap what it returns.
//
// The sources name everything `ashlar_...`. For the drop-in they are compiled with a generated
// header that renames these names to `rocksdb_...` (cmake/AshlarCApi.cmake).
//
// Threads: a database handle may be used by any number of threads, as the C++ object; so may the
// list of its family handles, which has a mutex. All other handles are for one thread at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ashlar/c.h"
#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/table.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "ashlar/write_batch.h"
#include "ashlar/write_buffer_manager.h"
#include "capi/kept_slice.h"
#include "capi/spare_memory.h"

namespace ashlar {
class DBWithTTL;
namespace capi {
class FamilyHandles;
}
}  // namespace ashlar

// An open database. The handle owns `rep` unless it was made by a function that says otherwise.
struct ashlar_t {
  ashlar::DB* rep;
  std::shared_ptr<ashlar::capi::FamilyHandles> families;
  ashlar::DBWithTTL* ttl = nullptr;  // the same database, if its entries expire
};

struct ashlar_column_family_handle_t {
  ashlar::ColumnFamilyHandle* rep;  // null after the database was closed
  bool owned;  // `rep` is destroyed with the handle; that of the default family belongs to the
               // database
  std::shared_ptr<ashlar::capi::FamilyHandles> families;
};

// The options of the database and of a family in one, as in the C++ class of this name.
struct ashlar_options_t {
  ashlar::Options rep;
};
struct ashlar_readoptions_t {
  ashlar::ReadOptions rep;
  // The options in `rep` hold only pointers to these members, which live as long as the handle.
  ashlar::capi::KeptSlice lower_bound, upper_bound, timestamp, iter_start_ts;
  std::string request_id;
  std::function<bool(const ashlar::TableProperties&)> table_filter;
};
struct ashlar_writeoptions_t {
  ashlar::WriteOptions rep;
};
struct ashlar_flushoptions_t {
  ashlar::FlushOptions rep;
};
struct ashlar_compactoptions_t {
  ashlar::CompactRangeOptions rep;
  ashlar::capi::KeptSlice full_history_ts_low;  // what `rep` points to
};
struct ashlar_block_based_table_options_t {
  ashlar::BlockBasedTableOptions rep;
};
// Objects that options share. The handle has one reference.
struct ashlar_cache_t {
  std::shared_ptr<ashlar::Cache> rep;
};
struct ashlar_env_t {
  ashlar::Env* rep;
  bool owned;  // the default environment lives as long as the process
};
struct ashlar_ratelimiter_t {
  std::shared_ptr<ashlar::RateLimiter> rep;
};
struct ashlar_write_buffer_manager_t {
  std::shared_ptr<ashlar::WriteBufferManager> rep;
};
struct ashlar_logger_t {
  std::shared_ptr<ashlar::Logger> rep;
};
// A value where the engine has it: in a block of the cache, or in memory of its own. It stays valid
// until the handle is destroyed.
struct ashlar_pinnableslice_t {
  ashlar::PinnableSlice rep;

  static void* operator new(size_t bytes) {
    return ashlar::capi::SpareMemory<ashlar_pinnableslice_t>::Take(bytes);
  }
  static void operator delete(void* memory) {
    ashlar::capi::SpareMemory<ashlar_pinnableslice_t>::Put(memory);
  }
};
struct ashlar_writebatch_t {
  ashlar::WriteBatch rep;
};
// Owned by the handle.
struct ashlar_writebatch_wi_t {
  ashlar::WriteBatchWithIndex* rep;
};
// Borrowed from the database, which releases the snapshot.
struct ashlar_snapshot_t {
  const ashlar::Snapshot* rep;
};
// Owned by the handle. The database must outlive it.
struct ashlar_iterator_t {
  ashlar::Iterator* rep;
};

namespace ashlar::capi {

// Puts an error into `errptr`, as include/ashlar/c.h describes. Returns whether `s` is an error:
//
//   if (Failed(errptr, db->rep->Put(...))) return nullptr;
bool Failed(char** errptr, const Status& s);

// A copy from malloc(), followed by a zero byte. Null without memory.
char* Copy(const Slice& text);

// Like Copy(text), and also stores the length of the text in `*length` unless that pointer is null.
char* Copy(const Slice& text, size_t* length);

// A string of the caller; a null pointer is the empty string.
inline Slice Text(const char* data, size_t length) {
  return data == nullptr ? Slice() : Slice(data, length);
}

// The handles of the column families of an open database. The engine's handles must be destroyed
// before the database, but programs may destroy theirs later. So closing a database destroys the
// engine's handles, and leaves those of the program empty. Thread-safe.
class FamilyHandles : public std::enable_shared_from_this<FamilyHandles> {
 public:
  // A new handle of the program. With `owned` false the engine's handle is not destroyed with it.
  ashlar_column_family_handle_t* Add(ColumnFamilyHandle* rep, bool owned = true);
  // Called when the program destroys a handle: destroys the engine's, if the database is still
  // open.
  void Remove(ashlar_column_family_handle_t* handle);
  void DestroyAll();

 private:
  std::mutex mutex_;
  // The handles that the program has not destroyed yet. Guarded by `mutex_`.
  std::set<ashlar_column_family_handle_t*> handles_;
};

// The column family of a handle; a null pointer is the default family.
inline ColumnFamilyHandle* FamilyOf(DB* db, const ashlar_column_family_handle_t* handle) {
  assert(db != nullptr);
  return handle == nullptr ? db->DefaultColumnFamily() : handle->rep;
}

// The result of a read: a copy of the value, or null if it is missing or an error.
char* CopyOfRead(const Status& s, const Slice& value, size_t* length, char** errptr);

// The result of a read without a copy: the handle, or null if the value is missing or an error.
template <typename Handle>
Handle* PinnedRead(const Status& s, std::unique_ptr<Handle> value, char** errptr) {
  assert(value != nullptr);
  if (s.ok()) return value.release();
  if (!s.IsNotFound()) Failed(errptr, s);
  return nullptr;
}

// A handle of an object that belongs to somebody else, to be freed with ashlar_free().
template <typename Handle, typename Object>
Handle* Borrowed(Object* object) {
  auto* handle = static_cast<Handle*>(std::malloc(sizeof(Handle)));
  handle->rep = object;
  return handle;
}

// The options in a handle, or the defaults for a null pointer. A function, not an object: it must
// not be destroyed before the last thread of the program has stopped using it.
template <typename Handle>
const auto& OptionsIn(const Handle* handle) {
  static const auto& defaults = *new Handle();
  return (handle == nullptr ? defaults : *handle).rep;
}

}  // namespace ashlar::capi
