// SPDX-License-Identifier: Apache-2.0
//
// Makes a level from another one. Its arrays are copied in runs of consecutive tables.
#include "db/version/level_tables.h"

#include <algorithm>
#include <cassert>

namespace ashlar {

// The order of level 0: by epoch, then by sequence numbers, then by file number.
bool IsNewer(const FileMetadata& a, const FileMetadata& b) {
  if (a.epoch_number != b.epoch_number) return a.epoch_number > b.epoch_number;
  if (a.largest_seqno != b.largest_seqno) return a.largest_seqno > b.largest_seqno;
  if (a.smallest_seqno != b.smallest_seqno) return a.smallest_seqno > b.smallest_seqno;
  return a.number > b.number;
}

// Whether `a` comes before `b` on the level: newer on level 0, with smaller keys on the others.
bool IsBefore(const InternalKeyComparator& comparator, Level level, const FileMetadata& a,
              const FileMetadata& b) {
  return level == 0 ? IsNewer(a, b) : comparator.Compare(a.largest, b.smallest) < 0;
}

std::shared_ptr<const LevelTables> LevelTables::Spliced(const InternalKeyComparator& comparator,
                                                        Level level, const LevelTables& base,
                                                        const Splice<TableFile*>& splice) {
  assert(base.numbers.size() == base.files.size());
  auto result = std::make_shared<LevelTables>();
  result->bytes = base.bytes;
  result->marked_count = base.marked_count;
  for (size_t index : splice.removed) {
    assert(index < base.files.size());
    const FileMetadata& meta = base.files[index]->meta;
    assert(result->bytes >= meta.file_size);
    result->bytes -= meta.file_size;
    result->marked_count -= meta.marked_for_compaction ? 1 : 0;
  }
  Splice<Slice> keys{.removed = splice.removed, .inserted = {}};
  for (const auto& [before, file] : splice.inserted) {
    result->bytes += file->meta.file_size;
    result->marked_count += file->meta.marked_for_compaction ? 1 : 0;
    keys.inserted.push_back({before, file->meta.largest_user_key()});
  }
  result->files = splice.Apply(base.files, [](TableFile* file) { return file; });
  result->numbers = splice.Apply(base.numbers, [](TableFile* file) { return file->meta.number; });
  assert(result->files.size() ==
         base.files.size() - splice.removed.size() + splice.inserted.size());
  if (level > 0) result->largest.Build(comparator, base.largest, keys);
  result->SetOldestTimes(base, splice);
  return result;
}

namespace {

uint64_t Older(uint64_t a, uint64_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

}  // namespace

// Finds the oldest times of the level. All tables are inspected only if a removed table had the
// oldest time; otherwise the new tables suffice.
void LevelTables::SetOldestTimes(const LevelTables& base, const Splice<TableFile*>& splice) {
  const bool has_lost_oldest =
      std::any_of(splice.removed.begin(), splice.removed.end(), [&base](size_t index) {
        const FileMetadata& meta = base.files[index]->meta;
        return (meta.oldest_ancestor_time != 0 &&
                meta.oldest_ancestor_time == base.oldest_ancestor_time) ||
               (meta.file_creation_time != 0 &&
                meta.file_creation_time == base.oldest_creation_time);
      });
  const auto note = [this](const FileMetadata& meta) {
    oldest_ancestor_time = Older(oldest_ancestor_time, meta.oldest_ancestor_time);
    oldest_creation_time = Older(oldest_creation_time, meta.file_creation_time);
  };
  if (has_lost_oldest) {
    for (const TableFile* file : files) note(file->meta);
    return;
  }
  oldest_ancestor_time = base.oldest_ancestor_time;
  oldest_creation_time = base.oldest_creation_time;
  for (const auto& [before, file] : splice.inserted) note(file->meta);
}

std::optional<size_t> LevelTables::Find(FileNumber number) const {
  const auto it = std::find(numbers.begin(), numbers.end(), number);
  if (it == numbers.end()) return std::nullopt;
  return static_cast<size_t>(it - numbers.begin());
}

}  // namespace ashlar
