// SPDX-License-Identifier: Apache-2.0
//
// BatchSearch looks up several keys in the tables of a version, newest table first. It is the batch
// form of PointSearch: it advances all keys together, level by level.
//
// The search begins inside the caller's epoch and reads memory only. A key that needs a table or a
// block that is not in memory waits at this table; the other keys continue. Then the caller takes a
// counted reference to the owner of the version and leaves the epoch. ReadMissing() searches for
// each waiting key the table that it waits for, and reads the blocks of all these tables together.
// The two phases alternate until all keys are done:
//
//   EpochGuard guard;
//   BatchSearch search(*version, options, lookups);
//   while (!search.RunInEpoch()) {
//     ... take a reference to the version, once ...
//     guard.Leave();
//     search.ReadMissing();
//     ... enter the epoch again ...
//   }
//
// Keys in ascending order are fastest, but any order is correct. The object lives on the stack of
// one reader. Threads: one at a time.
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

class BatchReads;
class PointLookup;
class TableFile;
class Version;
struct ReadOptions;

class BatchSearch {
 public:
  static constexpr size_t kMaxKeys = TableReader::kMaxProbes;

  // The arguments outlive the search. Lookups that are already decided are ignored. At most
  // kMaxKeys lookups. `reads` gets what is done for them; null: nobody asks.
  BatchSearch(const Version& version, const ReadOptions& options,
              std::span<PointLookup* const> lookups, BatchReads* reads = nullptr);
  BatchSearch(const BatchSearch&) = delete;
  BatchSearch& operator=(const BatchSearch&) = delete;

  // Inside an EpochGuard. Returns true if each lookup is decided or has no table left; false if
  // keys wait for files. Hot: no lock, no reference count, no allocation.
  [[nodiscard]] bool RunInEpoch();
  // Outside an EpochGuard; the caller holds a reference to the version. An error fails only the
  // lookups that need the unreadable table.
  void ReadMissing();

  // One line for each undecided key with its position. The caller is inside an EpochGuard or holds
  // a reference to the version.
  std::string DebugString() const;

 private:
  static constexpr uint32_t kNotSearched = UINT32_MAX;

  // An undecided key. The next file to search is the one at index `file` of `level`. On level 0
  // this may be any file; on a deeper level it is the file whose range can contain the key.
  struct Key {
    PointLookup* lookup;
    TableFile* waits_for;  // the table that ReadMissing() must read; null: the key is not waiting
    Level level;
    uint32_t file;  // kNotSearched: not determined yet; FindFile() determines it
  };
  // A set of keys, each with the table to search next.
  struct Wave {
    size_t count = 0;
    std::array<Key*, kMaxKeys> keys;
    std::array<TableFile*, kMaxKeys> files;
  };

  // Search the keys in the files of the level, wave by wave, as far as the files are in memory.
  void RunLevel0();
  void RunLevel(Level level);
  // Searches each key of the wave in its table, as far as the tables are in memory.
  void Run(const Wave& wave);
  // The file of the key's level to search next; null if there is none.
  TableFile* NextTable(Key* key) const;
  // Moves the position of the key behind `file`, in which it was searched.
  void GoBehind(Key* key, const TableFile& file) const;
  void Add(Wave* wave, Key* key, TableFile* file) const;
  void NoteSearches(const Wave& wave) const;
  void NoteTables(std::span<const TableProbe> probes, std::span<Key* const> keys,
                  std::span<const uint32_t> misses_before) const;
  // Removes the keys that are decided or have passed the last level.
  void DropDone();

  const Version& version_;
  const ReadOptions& options_;
  BatchReads* const reads_;
  size_t count_ = 0;  // number of keys in keys_
  std::array<Key, kMaxKeys> keys_;
};

}  // namespace ashlar
