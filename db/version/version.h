// SPDX-License-Identifier: Apache-2.0
//
// Version is the set of live tables of one column family at one moment, by level. Immutable once
// it is installed; readers find candidates in flat arrays of key heads.
//
// Level 0 is ordered newest first and its files may overlap. Deeper levels are ascending by
// smallest key and disjoint in internal-key order; two neighbours may hold versions of one user
// key, the newer ones in the first. CheckInvariants() checks these rules.
//
// A level that an edit does not change is shared with the previous version (LevelTables).
// LiveVersions keeps the tables of installed versions alive.
//
// Reference counted: Ref() and Unref() may be called from any thread. The caller whose Unref()
// returns true passes the version to VersionSet::Release(). A version that was never installed is
// deleted directly.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "db/version/level_tables.h"
#include "util/keys/internal_key.h"
#include "util/keys/level.h"

namespace ashlar {

class BlobFiles;
class TableCache;
struct FamilyVersions;
struct VersionEdit;

// Some files of one level, in the order of the level.
struct LevelFiles {
  Level level = 0;
  std::vector<TableFile*> files;
};

class Version {
 public:
  using Levels = std::vector<std::shared_ptr<const LevelTables>>;

  // No element of `levels` is null. `tables` and the tables in `levels` outlive the version.
  // `blobs`: null for none.
  Version(const InternalKeyComparator& comparator, TableCache* tables, Levels levels,
          std::shared_ptr<const BlobFiles> blobs = nullptr);
  ~Version();
  Version(const Version&) = delete;
  Version& operator=(const Version&) = delete;

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  // True if that was the last reference.
  [[nodiscard]] bool Unref() {
    const int before = refs_.fetch_sub(1, std::memory_order_acq_rel);
    assert(before > 0);
    return before == 1;
  }

  int num_levels() const { return static_cast<int>(levels_.size()); }
  // The deepest level with files, or 0.
  Level deepest_level() const { return deepest_level_; }
  // The first level from `level` on that has files; num_levels() if there is none.
  Level NextFilledLevel(Level level) const {
    assert(level >= 0);
    assert(level <= num_levels());
    return next_filled_[level];
  }
  const Levels& levels() const { return levels_; }
  const std::vector<TableFile*>& files(Level level) const { return levels_[level]->files; }
  uint64_t level_bytes(Level level) const { return levels_[level]->bytes; }
  size_t marked_count(Level level) const { return levels_[level]->marked_count; }
  uint64_t file_count() const { return file_count_; }
  const InternalKeyComparator& comparator() const { return comparator_; }
  TableCache* tables() const { return tables_; }
  // The blob files that tables may refer to. Null: no table refers to any.
  const BlobFiles* blobs() const { return blobs_.get(); }
  const std::shared_ptr<const BlobFiles>& shared_blobs() const { return blobs_; }

  // The first file of a level below 0 whose largest user key is not before `user_key`; the number
  // of files if there is none. Hot: a search over flat key heads.
  size_t FindFile(Level level, const Slice& user_key) const {
    assert(level > 0);
    return levels_[level]->largest.LowerBound(user_key);
  }

  // Files of `level` that hold user keys in [begin, end], both inclusive, null meaning unbounded.
  // A file whose largest key is the exclusive end of a range tombstone does not hold that key.
  // For level 0 the range grows until no further file of the level touches it, if `expand_level0`.
  LevelFiles Overlapping(Level level, const Slice* begin, const Slice* end,
                         bool expand_level0 = false) const;

  // The level and the table with this number; `files` is empty if the version does not hold it.
  LevelFiles FindTable(FileNumber number) const;

  // Bytes of tables that lie in [begin, end) of user keys, estimated from their indexes. May open
  // tables: not inside an EpochGuard.
  uint64_t ApproximateBytes(const Slice& begin, const Slice& end) const;

  // Adds all tables and blob files of this version to the edit.
  void DescribeFiles(VersionEdit* edit) const;

  // Called by the version set when it installs the version, before any other thread has access to
  // it.
  void SetInstalled(FamilyVersions* family, uint64_t number) {
    assert(family_ == nullptr);
    assert(family != nullptr);
    assert(number > 0);  // once
    family_ = family;
    number_ = number;
  }
  FamilyVersions* family() const { return family_; }
  uint64_t number() const { return number_; }  // ascending within the family

  // Corruption naming the first pair of files that breaks the order. Touches every file.
  Status CheckInvariants() const;
  // Checks only the order of the file at `index` and its two neighbours.
  Status CheckNeighbours(Level level, size_t index) const;
  // Checks that overlapping files of level 0 are in the order of their sequence numbers. The cost
  // is quadratic in the number of files of level 0.
  Status CheckAges() const;
  std::string DebugString() const;

 private:
  uint64_t ApproximateOffset(Level level, const Slice& user_key) const;
  Status CheckPair(Level level, size_t index) const;

  const InternalKeyComparator& comparator_;
  TableCache* const tables_;  // outlives the version
  const Levels levels_;
  const std::shared_ptr<const BlobFiles> blobs_;
  Level deepest_level_ = 0;
  std::vector<Level> next_filled_;  // by level, with one extra element at num_levels()
  uint64_t file_count_ = 0;
  FamilyVersions* family_ = nullptr;
  uint64_t number_ = 0;
  std::atomic<int> refs_{0};
};

}  // namespace ashlar
