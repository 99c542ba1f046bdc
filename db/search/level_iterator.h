// SPDX-License-Identifier: Apache-2.0
//
// LevelIterator walks the files of one sorted run in order, opening each when it is reached: those
// of a level below 0, or a single one of level 0.
//
// It lives where its owner puts it and allocates nothing to cross from file to file: the iterator
// over the current table is a part of it. A table that does not open ends the iteration with that
// status; the next seek tries again.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ashlar/options.h"
#include "db/manifest/file_metadata.h"
#include "db/table_cache/table_cache.h"
#include "table/iterator/internal_iterator.h"
#include "table/sst/read/table_iterator.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/internal_key.h"
#include "util/keys/level.h"

namespace ashlar {

class LevelTombstones;
class ReadTrace;
class ScannedBlocks;
class WantedPrefix;
struct BlockPassing;

struct LevelIteratorOptions {
  const ReadOptions* read = nullptr;  // bounds and snapshots must outlive the iterator
  const InternalKeyComparator* comparator = nullptr;
  TableCache* tables = nullptr;
  bool for_compaction = false;
  LevelTombstones* tombstones = nullptr;  // is told of those of each file; null: nobody asks
  Level level;                            // of the files
  ReadTrace* trace = nullptr;             // is told where the iterator goes; null: nobody asks
  const WantedPrefix* wanted = nullptr;   // files without it are spared; null: all is wanted
  ScannedBlocks* scanned = nullptr;       // blocks that are held for it; null: none
  const BlockPassing* passing = nullptr;  // to whom blocks are offered; null: nobody
};

// The files must ascend and be disjoint. They and their list outlive the iterator. Not inside an
// EpochGuard: moves open tables.
class LevelIterator final : public InternalIterator {
 public:
  LevelIterator(const LevelIteratorOptions& options, std::span<TableFile* const> files);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_key) override;
  void SeekForPrev(const Slice& internal_key) override;
  void BeginSeek(const Slice& internal_key, SeekStep step) override;
  void EndSeek(const Slice& internal_key) override;
  ValuePin PinOfValue() const override { return inner_->PinOfValue(); }

  std::string DebugString() const;

 private:
  void NextSlow() override;
  void PrevSlow() override;
  bool CopyBlock(const Slice* next_of_others, PassedBlock* block) override {
    return inner_->OfferBlock(next_of_others, block);
  }

  // Goes to the file where a seek forwards begins.
  void FindFile(const Slice& internal_key);
  // Forgets where it was and goes to the file.
  void StartInFile(size_t index);
  // Makes the file the current one; the number of files means none. Failures are in status_.
  void GoToFile(size_t index);
  void NoteTombstones();
  Status OpenTable();
  // The current file has nothing to show in this direction, and nothing went wrong.
  bool IsFileExhausted() const;
  void Mirror();
  void SkipForward();
  void SkipBackward();
  bool BeyondUpperBound(size_t index) const;
  PrefixAnswer SpareFilesFrom(const Slice& internal_key);
  PrefixAnswer SpareFilesBefore(const Slice& internal_key);
  // Whether the current file, by its filter, has something of the prefix that is wanted.
  PrefixAnswer AskFilter(const Slice& internal_key, bool is_forward) const;
  void CountPrefix(PrefixAnswer answer) const;

  const LevelIteratorOptions options_;
  const std::span<TableFile* const> files_;
  size_t index_;       // of the current file; files_.size() when there is none
  TableHandle table_;  // of the current file
  // Over table_. None if the file did not open or table_filter refused it.
  std::optional<TableIterator> inner_;
};

}  // namespace ashlar
