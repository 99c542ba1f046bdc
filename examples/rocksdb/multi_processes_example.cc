// SPDX-License-Identifier: Apache-2.0
//
// One process writes; another one follows it as a secondary and sees more data each time it catches
// up.
//
//   multi_processes_example FOLDER
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"

#include "examples/rocksdb/example.h"

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::Options;

namespace {

constexpr int kRounds = 3;
constexpr int kKeysPerRound = 1000;
const char* const kFamilies[] = {"default", "courses"};

std::string Key(int number) { return "stone" + std::to_string(100000 + number); }

std::vector<ColumnFamilyDescriptor> Descriptors() {
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const char* name : kFamilies) descriptors.emplace_back(name, ColumnFamilyOptions());
  return descriptors;
}

void Close(DB* db, const std::vector<ColumnFamilyHandle*>& handles) {
  for (ColumnFamilyHandle* handle : handles) {
    Require(db->DestroyColumnFamilyHandle(handle), "let go of a family");
  }
  delete db;
}

// The processes exchange single bytes to take turns. Returns false if the other process has ended.
bool Wait(int pipe) {
  char byte = 0;
  return read(pipe, &byte, 1) == 1;
}
void Tell(int pipe) { Require(write(pipe, "x", 1) == 1, "the other process is there"); }

// Writes one round of keys for each request of the other process; half of each round is only in the
// WAL.
void Primary(const std::string& folder, int ask, int answer) {
  Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  std::vector<ColumnFamilyHandle*> handles;
  DB* db = nullptr;
  Require(DB::Open(options, folder, Descriptors(), &handles, &db), "open");
  Tell(answer);
  for (int round = 0; round < kRounds && Wait(ask); round++) {
    for (int i = 0; i < kKeysPerRound; i++) {
      const int number = round * kKeysPerRound + i;
      for (ColumnFamilyHandle* handle : handles) {
        Require(db->Put(rocksdb::WriteOptions(), handle, Key(number), std::to_string(number)),
                "put");
      }
      if (i == kKeysPerRound / 2) Require(db->Flush(rocksdb::FlushOptions(), handles), "flush");
    }
    Tell(answer);
  }
  Close(db, handles);
}

void Secondary(const std::string& folder, int ask, int answer) {
  Require(Wait(answer), "the primary has opened the database");
  Options options;
  options.max_open_files = -1;  // keeps tables readable after the primary has deleted them
  std::vector<ColumnFamilyHandle*> handles;
  DB* db = nullptr;
  Require(DB::OpenAsSecondary(options, folder, folder + ".secondary", Descriptors(), &handles, &db),
          "open as a secondary");
  for (int round = 0; round < kRounds; round++) {
    Tell(ask);
    Require(Wait(answer), "the primary has written a round");
    Require(db->TryCatchUpWithPrimary(), "catch up");
    for (ColumnFamilyHandle* handle : handles) {
      int count = 0;
      std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions(), handle));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        Require(it->key() == Key(count) && it->value() == std::to_string(count), "each pair");
        count++;
      }
      Require(it->status(), "iterate");
      Require(count == (round + 1) * kKeysPerRound, "all rounds so far");
    }
  }
  Close(db, handles);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = FolderFromArguments(argc, argv);
  int ask[2], answer[2];
  Require(pipe(ask) == 0 && pipe(answer) == 0, "pipes");
  // Fork before a database is open, because its threads would not exist in the child process.
  const pid_t child = fork();
  Require(child >= 0, "fork");
  if (child == 0) {
    close(ask[0]);
    close(answer[1]);
    Secondary(folder, ask[1], answer[0]);
    return 0;
  }
  close(ask[1]);
  close(answer[0]);
  Primary(folder, ask[0], answer[1]);
  int status = 0;
  Require(waitpid(child, &status, 0) == child, "wait for the secondary");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  std::printf("multi_processes_example: ok\n");
  return 0;
}
