// SPDX-License-Identifier: Apache-2.0
//
// The tables are numbered by their place in the list, and each thread takes the next one. After an
// error no further table is begun. All tables before the failed one were begun, so the first error
// of the list is known.
#include "db/opening/open_tables.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <new>

#include "env/file_util.h"
#include "env/start_thread.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

// For fewer tables a thread of their own does not pay off.
constexpr size_t kTablesPerThread = 16;
// Opening uses only this fraction of a limit, because other tables may be read first.
constexpr int kShareOfLimit = 4;

Status MissingTable(const std::string& path) {
  return Status::Corruption(StrCat(path, ": the MANIFEST names this table, but it does not exist"));
}

// Opens the table, which stays in the table cache. A missing file is corruption, because the
// MANIFEST names it.
Status OpenAndLook(const NamedTable& table) {
  TableCache* const tables = table.family->tables.get();
  Result<TableHandle> reader = tables->Pin(table.file);
  if (!reader.ok()) {
    const bool is_missing = IsMissing(reader.status());
    return is_missing ? MissingTable(tables->PathOf(table.file->meta)) : reader.status();
  }
  return Status::OK();
}

// Compares only the size of the file with the MANIFEST, which costs much less than opening the
// table.
Status LookAtSize(FileSystem* fs, const NamedTable& table) {
  const FileMetadata& meta = table.file->meta;
  const std::string path = table.family->tables->PathOf(meta);
  Result<uint64_t> bytes = FileSizeOf(fs, path);
  if (IsMissing(bytes.status())) {
    // Tables written by LevelDB have their old extension; opening finds them.
    return OpenAndLook(table);
  }
  if (!bytes.ok()) return bytes.status();
  if (*bytes == meta.file_size) return Status::OK();
  return Status::Corruption(
      StrCat(path, ": ", *bytes, " bytes, but the MANIFEST says ", meta.file_size));
}

// Looks at all tables with several threads. Used once; it lives until all its threads have ended.
class TableOpener {
 public:
  TableOpener(const DbEnvironment& environment, const std::vector<NamedTable>& tables,
              size_t to_open, bool bears_damage)
      : environment_(environment),
        tables_(tables),
        to_open_(to_open),
        bears_damage_(bears_damage),
        first_bad_(tables.size()) {}

  // The calling thread is one of the threads. Returns the error of the first table of the list that
  // has one.
  Status Run(size_t threads) {
    assert(threads > 0);
    {
      MutexLock lock(&mutex_);
      running_ = threads - 1;
    }
    const auto run = [](void* self) { static_cast<TableOpener*>(self)->RunHelper(); };
    for (size_t i = 1; i < threads; i++) {
      if (TryStartThread(environment_.env, run, this)) continue;
      MutexLock lock(&mutex_);
      running_--;
    }
    TakeTables();
    MutexLock lock(&mutex_);
    while (running_ > 0) helper_ended_.Wait();
    return first_error_;
  }

 private:
  // The main function of an additional thread. After the mutex is released the object may be
  // destroyed.
  void RunHelper() {
    TakeTables();
    MutexLock lock(&mutex_);
    assert(running_ > 0);
    running_--;
    helper_ended_.SignalAll();
  }

  void TakeTables() {
    while (!has_failed_.load(std::memory_order_relaxed)) {
      const size_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= tables_.size()) return;
      const Status status = Look(i);
      // The error is reported when the table is read; there is no info log yet.
      const bool is_borne = bears_damage_ && status.IsCorruption();
      if (!status.ok() && !is_borne) Note(i, status);
    }
  }

  // A thread has no caller that could catch an exception of a failed allocation.
  Status Look(size_t i) {
    try {
      return i < to_open_ ? OpenAndLook(tables_[i]) : LookAtSize(environment_.fs.get(), tables_[i]);
    } catch (const std::bad_alloc&) {
      return Status::MemoryLimit("no memory to open a table");
    }
  }

  // Keeps the error of the table that comes first in the list, whichever thread finds an error
  // first.
  void Note(size_t i, const Status& status) {
    MutexLock lock(&mutex_);
    has_failed_.store(true, std::memory_order_relaxed);
    if (i >= first_bad_) return;
    first_bad_ = i;
    first_error_ = status;
  }

  const DbEnvironment& environment_;
  const std::vector<NamedTable>& tables_;
  const size_t to_open_;  // this many tables are opened; of the others only the size is checked
  const bool bears_damage_;
  // The index of the next table; any thread takes it. Relaxed order: it protects no other data.
  std::atomic<size_t> next_{0};
  std::atomic<bool> has_failed_{false};  // never reset; a thread that misses it checks one more
  Mutex mutex_{LockRank::kLeaf};
  CondVar helper_ended_{&mutex_};
  size_t running_ GUARDED_BY(mutex_) = 0;
  size_t first_bad_ GUARDED_BY(mutex_);
  Status first_error_ GUARDED_BY(mutex_);
};

// The number of tables to open now; of the rest only the size is checked.
size_t TablesToOpen(const OpenTableBudget& budget, const DBOptions& options, size_t count) {
  if (options.open_files_async) return 0;
  const int limit = budget.max_open.load(std::memory_order_relaxed);
  return limit < 0 ? count : std::min(count, static_cast<size_t>(limit / kShareOfLimit));
}

}  // namespace

Status LookAtTables(const DbEnvironment& environment, const OpenTableBudget& budget,
                    const DBOptions& options, const std::vector<NamedTable>& tables) {
  const size_t most = static_cast<size_t>(std::max(options.max_file_opening_threads, 1));
  const size_t threads = std::clamp<size_t>(tables.size() / kTablesPerThread, 1, most);
  const size_t to_open = TablesToOpen(budget, options, tables.size());
  return TableOpener(environment, tables, to_open, !options.paranoid_checks).Run(threads);
}

}  // namespace ashlar
