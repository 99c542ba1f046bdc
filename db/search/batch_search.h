// SPDX-License-Identifier: Apache-2.0
//
// BatchSearch looks several keys up in the tables of a version, newest first: PointSearch for
// batches, level by level with all keys side by side.
//
// It begins inside the caller's epoch and uses what is in memory. Keys that need a table or a block
// that is not wait where they are, while the others go on. Then the caller takes a counted
// reference on what holds the version and leaves the epoch, and ReadMissing() takes each waiting
// key through the table it waits for, with the files of all of them read together. So it goes on,
// in turns, until no key is left:
//
//   EpochGuard guard;
//   BatchSearch search(*version, options, lookups);
//   while (!search.RunInEpoch()) {
//     ... take a reference on the version, once ...
//     guard.Leave();
//     search.ReadMissing();
//     ... enter the epoch again ...
//   }
//
// Keys in ascending order are fastest; any order is right. It lives on the stack of one reader.
// Threads: one at a time.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "table/sst/read/table_reader.h"
#include "util/keys/level.h"

namespace ashlar {

class PointLookup;
class TableFile;
class Version;
struct ReadOptions;

class BatchSearch {
 public:
  static constexpr size_t kMaxKeys = TableReader::kMaxProbes;

  // All of them outlive the search. Lookups that are decided are left alone.
  BatchSearch(const Version& version, const ReadOptions& options,
              std::span<PointLookup* const> lookups);
  BatchSearch(const BatchSearch&) = delete;
  BatchSearch& operator=(const BatchSearch&) = delete;

  // Inside an EpochGuard. True: each lookup is decided, or no table is left for it. False: keys
  // wait for files. Hot: no lock, no reference count, no allocation.
  [[nodiscard]] bool RunInEpoch();
  // Outside of any; the caller holds the version. An error fails the lookups it concerns.
  void ReadMissing();

  // The keys that are not decided and where each of them stands, a line each. Where RunInEpoch()
  // may be called, or the caller holds the version.
  std::string DebugString() const;

 private:
  static constexpr uint32_t kNotSearched = UINT32_MAX;

  // A key that is not decided. It is in front of the file at `file` of `level`: of level 0 that may
  // be any; of a deeper one it is where the key leads to.
  struct Key {
    PointLookup* lookup;
    TableFile* waits_for;  // to be read by ReadMissing(); null: it can go on
    Level level;
    uint32_t file;  // kNotSearched: where the key leads
  };
  // Some keys, each with its next table.
  struct Wave {
    size_t count = 0;
    std::array<Key*, kMaxKeys> keys;
    std::array<TableFile*, kMaxKeys> files;
  };

  void RunLevel0();
  void RunLevel(Level level);
  // Takes the keys of the wave through their tables, if these are in memory.
  void Run(const Wave& wave);
  TableFile* NextTable(Key* key) const;
  void GoBehind(Key* key, const TableFile& file) const;
  void Add(Wave* wave, Key* key, TableFile* file) const;
  // Forgets the keys that are decided or behind the last level.
  void DropDone();

  const Version& version_;
  const ReadOptions& options_;
  size_t count_ = 0;  // of keys_
  std::array<Key, kMaxKeys> keys_;
};

}  // namespace ashlar
