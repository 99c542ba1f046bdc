// SPDX-License-Identifier: Apache-2.0
//
// Searches a version for the files that overlap a range, estimates sizes, and checks the order of
// the levels.
#include "db/version/version.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/blob/blob_file.h"
#include "db/manifest/version_edit.h"
#include "db/table_cache/table_cache.h"
#include "table/iterator/read_trace.h"
#include "table/sst/read/table_reader.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {

TableFile::~TableFile() = default;

void TableFile::TraceEntry(Level level, ReadTrace* trace) const {
  assert(trace != nullptr);
  trace->EnterTable({.number = meta.number,
                     .level = level,
                     .file_bytes = meta.file_size,
                     .smallest = meta.smallest_user_key(),
                     .largest = meta.largest_user_key(),
                     .is_open = reader.load(std::memory_order_relaxed) != nullptr,
                     .sampled = &sampled_reads});
}

Version::Version(const InternalKeyComparator& comparator, TableCache* tables, Levels levels,
                 std::shared_ptr<const BlobFiles> blobs)
    : comparator_(comparator),
      tables_(tables),
      levels_(std::move(levels)),
      blobs_(std::move(blobs)) {
  assert(!levels_.empty());
  next_filled_.assign(levels_.size() + 1, Level{num_levels()});
  for (Level level{num_levels() - 1}; level >= 0; --level) {
    const bool is_empty = files(level).empty();
    file_count_ += files(level).size();
    if (!is_empty && deepest_level_ == 0) deepest_level_ = level;
    next_filled_[level] = is_empty ? next_filled_[level.Next()] : level;
  }
}

Version::~Version() = default;

// A deeper level is sorted, so its first file is found by a search of its largest keys. On level 0
// all files are compared, and compared again when the range has grown.
LevelFiles Version::Overlapping(Level level_number, const Slice* begin, const Slice* end,
                                bool expand_level0) const {
  LevelFiles result{level_number, {}};
  if (level_number >= num_levels()) return result;
  const LevelTables& level = *levels_[level_number];
  if (level_number > 0) {
    size_t f = begin == nullptr ? 0 : level.largest.LowerBound(*begin);
    // The range tombstone at the end of this file does not reach the key itself.
    if (begin != nullptr && f < level.files.size() && level.files[f]->meta.largest_is_exclusive() &&
        comparator_.SameKey(level.files[f]->meta.largest_user_key(), *begin)) {
      f++;
    }
    for (; f < level.files.size(); f++) {
      TableFile* file = level.files[f];
      if (end != nullptr &&
          comparator_.OrderWithoutTimestamp(file->meta.smallest_user_key(), *end) > 0) {
        break;
      }
      result.files.push_back(file);
    }
    return result;
  }
  Slice low, high;
  if (begin != nullptr) low = *begin;
  if (end != nullptr) high = *end;
  bool grew = true;
  while (grew) {
    grew = false;
    result.files.clear();
    for (TableFile* file : level.files) {
      const Slice smallest = file->meta.smallest_user_key();
      const Slice largest = file->meta.largest_user_key();
      if (begin != nullptr && comparator_.OrderWithoutTimestamp(largest, low) < 0) continue;
      if (end != nullptr && comparator_.OrderWithoutTimestamp(smallest, high) > 0) continue;
      result.files.push_back(file);
      if (!expand_level0) continue;
      if (begin != nullptr && comparator_.OrderWithoutTimestamp(smallest, low) < 0) {
        low = smallest;
        grew = true;
      }
      if (end != nullptr && comparator_.OrderWithoutTimestamp(largest, high) > 0) {
        high = largest;
        grew = true;
      }
    }
  }
  return result;
}

// The bytes of the level's tables that lie before `user_key`.
uint64_t Version::ApproximateOffset(Level level_number, const Slice& user_key) const {
  assert(!InEpoch());  // a table may be opened
  uint64_t bytes = 0;
  const std::string seek = comparator_.FirstInternalKey(user_key);
  for (TableFile* file : levels_[level_number]->files) {
    if (comparator_.OrderWithoutTimestamp(file->meta.largest_user_key(), user_key) < 0) {
      bytes += file->meta.file_size;
    } else if (comparator_.OrderWithoutTimestamp(file->meta.smallest_user_key(), user_key) < 0) {
      Result<TableHandle> table = tables_->Pin(file);
      bytes += table.ok() ? (*table)->ApproximateOffsetOf(seek) : file->meta.file_size / 2;
    }
  }
  return bytes;
}

LevelFiles Version::FindTable(FileNumber number) const {
  for (Level level = 0; level < num_levels(); ++level) {
    const std::optional<size_t> index = levels_[level]->Find(number);
    if (index.has_value()) return {level, {files(level)[*index]}};
  }
  return {};
}

uint64_t Version::ApproximateBytes(const Slice& begin, const Slice& end) const {
  assert(!InEpoch());  // tables may be opened
  uint64_t bytes = 0;
  for (Level level = 0; level < num_levels(); ++level) {
    const uint64_t low = ApproximateOffset(level, begin), high = ApproximateOffset(level, end);
    bytes += high > low ? high - low : 0;
  }
  return bytes;
}

// Checks that the file at `index` may come before its successor in the order of the level.
Status Version::CheckPair(Level level, size_t index) const {
  assert(index + 1 < files(level).size());
  const FileMetadata& a = files(level)[index]->meta;
  const FileMetadata& b = files(level)[index + 1]->meta;
  if (IsBefore(comparator_, level, a, b)) return Status::OK();
  return Status::Corruption(StrCat("level ", level, ": table ", a.number, " ending at ",
                                   InternalKeyInError(a.largest),
                                   level == 0 ? " is not newer than" : " overlaps", " table ",
                                   b.number, " starting at ", InternalKeyInError(b.smallest)));
}

Status Version::CheckNeighbours(Level level, size_t index) const {
  assert(index < files(level).size());
  if (index > 0) RETURN_IF_ERROR(CheckPair(level, index - 1));
  return index + 1 < files(level).size() ? CheckPair(level, index) : Status::OK();
}

Status Version::CheckInvariants() const {
  for (Level level = 0; level < num_levels(); ++level) {
    for (size_t f = 0; f + 1 < files(level).size(); f++) RETURN_IF_ERROR(CheckPair(level, f));
  }
  return Status::OK();
}

// Used for the first records of a new MANIFEST: the edit recreates all files of this version from
// nothing.
void Version::DescribeFiles(VersionEdit* edit) const {
  assert(edit != nullptr);
  assert(!edit->changes_files());
  for (Level level = 0; level < num_levels(); ++level) {
    for (const TableFile* file : files(level)) edit->AddFile(level, file->meta);
  }
  if (blobs_ == nullptr) return;
  for (const BlobFiles::Live& live : blobs_->all()) {
    edit->blob_additions.push_back(live.file->meta);
    if (live.garbage_count == 0) continue;
    edit->blob_garbage.push_back({.number = live.file->meta.number,
                                  .garbage_count = live.garbage_count,
                                  .garbage_bytes = live.garbage_bytes});
  }
}

std::string Version::DebugString() const {
  std::string out;
  for (Level level = 0; level < num_levels(); ++level) {
    if (files(level).empty()) continue;
    StrAppend(&out, "L", level, "\n");
    for (const TableFile* file : files(level)) {
      const FileMetadata& meta = file->meta;
      StrAppend(&out, "  ", meta.number, ": ", meta.file_size, " bytes, ",
                DescribeInternalKey(meta.smallest, false), " .. ",
                DescribeInternalKey(meta.largest, false), "\n");
    }
  }
  if (blobs_ != nullptr) out += blobs_->DebugString();
  return out;
}

}  // namespace ashlar
