// SPDX-License-Identifier: Apache-2.0
//
// The C API: the logs of a database.
//
// Logs are described by values that were read when the list was made; they do not change when the
// database writes. Iterators keep the files that they read.
#include "ashlar/c/wal.h"

#include <cassert>

#include "ashlar/env.h"
#include "ashlar/transaction_log.h"
#include "capi/handles.h"

using ashlar::WalFile;
using ashlar::WalIterator;
using ashlar::capi::Failed;
using ashlar::capi::OptionsIn;

struct ashlar_wal_iterator_t {
  std::unique_ptr<WalIterator> rep;
};
struct ashlar_wal_readoptions_t {
  WalIterator::ReadOptions rep;
};
struct ashlar_wal_file_t {
  std::unique_ptr<WalFile> rep;
  std::string path_name;
};
struct ashlar_wal_files_t {
  std::vector<ashlar_wal_file_t> files;
};

ashlar_wal_iterator_t* ashlar_get_updates_since(ashlar_t* db, uint64_t seq_number,
                                                const ashlar_wal_readoptions_t* options,
                                                char** errptr) {
  assert(db != nullptr);
  std::unique_ptr<WalIterator> iterator;
  if (Failed(errptr, db->rep->GetUpdatesSince(seq_number, &iterator, OptionsIn(options)))) {
    return nullptr;
  }
  return new ashlar_wal_iterator_t{std::move(iterator)};
}

unsigned char ashlar_wal_iter_valid(const ashlar_wal_iterator_t* iter) {
  assert(iter != nullptr);
  return iter->rep->Valid();
}
void ashlar_wal_iter_next(ashlar_wal_iterator_t* iter) { iter->rep->Next(); }

void ashlar_wal_iter_status(const ashlar_wal_iterator_t* iter, char** errptr) {
  assert(iter != nullptr);
  Failed(errptr, iter->rep->status());
}

void ashlar_wal_iter_destroy(const ashlar_wal_iterator_t* iter) { delete iter; }

// The batch is moved out of the iterator and belongs to the program.
ashlar_writebatch_t* ashlar_wal_iter_get_batch(const ashlar_wal_iterator_t* iter, uint64_t* seq) {
  assert(iter != nullptr);
  ashlar::BatchResult result = iter->rep->GetBatch();
  assert(result.writeBatchPtr != nullptr);
  if (seq != nullptr) *seq = result.sequence;
  return new ashlar_writebatch_t{std::move(*result.writeBatchPtr)};
}

ashlar_wal_files_t* ashlar_get_sorted_wal_files(ashlar_t* db, char** errptr) {
  assert(db != nullptr);
  ashlar::VectorWalPtr files;
  if (Failed(errptr, db->rep->GetSortedWalFiles(files))) return nullptr;
  auto* list = new ashlar_wal_files_t;
  for (std::unique_ptr<WalFile>& file : files) {
    assert(file != nullptr);
    std::string path_name = file->PathName();
    list->files.push_back({std::move(file), std::move(path_name)});
  }
  return list;
}

size_t ashlar_wal_files_count(const ashlar_wal_files_t* files) { return files->files.size(); }

// The entry belongs to the list. Null behind the end.
const ashlar_wal_file_t* ashlar_wal_files_get_wal_file(const ashlar_wal_files_t* files,
                                                       size_t index) {
  assert(files != nullptr);
  return index < files->files.size() ? &files->files[index] : nullptr;
}

void ashlar_wal_files_destroy(ashlar_wal_files_t* files) { delete files; }

ashlar_wal_file_t* ashlar_get_current_wal_file(ashlar_t* db, char** errptr) {
  assert(db != nullptr);
  std::unique_ptr<WalFile> file;
  if (Failed(errptr, db->rep->GetCurrentWalFile(&file))) return nullptr;
  std::string path_name = file->PathName();
  return new ashlar_wal_file_t{std::move(file), std::move(path_name)};
}

// Valid as long as the handle.
const char* ashlar_wal_file_path_name(const ashlar_wal_file_t* file) {
  return file->path_name.c_str();
}
uint64_t ashlar_wal_file_log_number(const ashlar_wal_file_t* file) {
  return file->rep->LogNumber();
}
int ashlar_wal_file_type(const ashlar_wal_file_t* file) { return file->rep->Type(); }
uint64_t ashlar_wal_file_start_sequence(const ashlar_wal_file_t* file) {
  return file->rep->StartSequence();
}
uint64_t ashlar_wal_file_size_file_bytes(const ashlar_wal_file_t* file) {
  return file->rep->SizeFileBytes();
}
void ashlar_wal_file_destroy(ashlar_wal_file_t* file) { delete file; }

// No other file of the database may go without the MANIFEST saying so. Nothing is reported, as in
// RocksDB.
void ashlar_delete_file(ashlar_t* db, const char* name) {
  assert(db != nullptr && name != nullptr);
  ashlar::VectorWalPtr files;
  if (!db->rep->GetSortedWalFiles(files).ok()) return;
  const std::string wanted = name[0] == '/' ? name : std::string("/") + name;
  const std::string wal_dir = db->rep->GetDBOptions().wal_dir;
  for (const std::unique_ptr<WalFile>& file : files) {
    if (file->Type() != ashlar::kArchivedLogFile || file->PathName() != wanted) continue;
    const std::string path = (wal_dir.empty() ? db->rep->GetName() : wal_dir) + wanted;
    db->rep->GetEnv()->DeleteFile(path).PermitUncheckedError();
  }
}

ashlar_wal_readoptions_t* ashlar_wal_readoptions_create() { return new ashlar_wal_readoptions_t; }
void ashlar_wal_readoptions_destroy(ashlar_wal_readoptions_t* options) { delete options; }
void ashlar_wal_readoptions_set_verify_checksums(ashlar_wal_readoptions_t* options,
                                                 unsigned char verify_checksums) {
  options->rep.verify_checksums_ = verify_checksums != 0;
}
unsigned char ashlar_wal_readoptions_get_verify_checksums(ashlar_wal_readoptions_t* options) {
  return options->rep.verify_checksums_;
}
