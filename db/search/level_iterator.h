// SPDX-License-Identifier: Apache-2.0
//
// LevelIterator iterates over the files of one sorted run in order: the files of a level below 0,
// or a single file of level 0. It opens each file when it reaches it.
//
// It allocates nothing when it crosses from file to file, because the iterator over the current
// table is a member. If a table fails to open, the iteration ends with that status; the next seek
// tries again.
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
  const ReadOptions* read = nullptr;  // its bounds and snapshot must outlive the iterator
  const InternalKeyComparator* comparator = nullptr;
  TableCache* tables = nullptr;
  bool for_compaction = false;
  LevelTombstones* tombstones = nullptr;  // receives the range tombstones of each file; may be null
  Level level;                            // level of the files
  ReadTrace* trace = nullptr;             // records the files that the iterator enters; may be null
  // Files whose filter excludes this prefix are skipped; null: no prefix limit.
  const WantedPrefix* wanted = nullptr;
  // In a stamped family: the user key, without a timestamp, of which alone entries are needed; it
  // may change between seeks. Files whose filter excludes it are skipped. Null: no such limit. Only
  // seeks forwards make use of it.
  const Slice* wanted_key = nullptr;
  // Blocks that were read in advance for this iterator; may be null.
  ScannedBlocks* scanned = nullptr;
  const BlockPassing* passing = nullptr;  // receiver of whole blocks; may be null
};

// Precondition: the files are ascending and disjoint. The files and the span outlive the iterator.
// Not inside an EpochGuard, because moves may open tables.
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

  // Makes the first file whose largest key is not before the target current, where a forward seek
  // begins; with a wanted key, the first of these whose filter does not exclude it.
  void FindFile(const Slice& internal_key);
  // Resets the position and makes the file at `index` current.
  void StartInFile(size_t index);
  // Makes the file at `index` current; the number of files means no file. A failure is stored in
  // status_.
  void GoToFile(size_t index);
  void NoteTombstones();
  Status OpenTable();
  // The current file has no further entry in this direction, and no error occurred.
  bool IsFileExhausted() const;
  void Mirror();
  // Moves to the next file with an entry in this direction if the current file is exhausted.
  void SkipForward();
  void SkipBackward();
  bool BeyondUpperBound(size_t index) const;
  // Open the first file at or after the position (or before it) that may contain the wanted prefix,
  // and return the answer of its filter.
  FilterAnswer SpareFilesFrom(const Slice& internal_key);
  FilterAnswer SpareFilesBefore(const Slice& internal_key);
  // Skips files whose filter excludes the wanted key, beginning with the present one.
  void SpareFilesWithoutKey(const Slice& internal_key);
  // Whether the filter of the current file says that the file may contain the wanted prefix.
  FilterAnswer AskFilter(const Slice& internal_key, bool is_forward) const;
  void CountPrefix(FilterAnswer answer) const;
  void CountKey(const Slice& internal_key) const;

  const LevelIteratorOptions options_;
  const std::span<TableFile* const> files_;
  size_t index_;       // index of the current file; files_.size() if there is none
  TableHandle table_;  // of the current file
  // Iterator over table_. No value if the file failed to open or ReadOptions::table_filter excluded
  // it.
  std::optional<TableIterator> inner_;
  FilterAnswer key_answer_ = FilterAnswer::kUnknown;  // of the current file about the wanted key
};

}  // namespace ashlar
