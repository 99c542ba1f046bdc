// SPDX-License-Identifier: Apache-2.0
//
// Tables are placed along one axis of all keys of their family. The axis is cut at every smallest
// and largest key; a table's bytes are spread evenly over its pieces, and a piece is as wide as it
// has bytes. So the last level, which has most of them, looks even, and gaps without data have no
// width.
#include "tools/ldb/tree_survey.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "ashlar/comparator.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "tools/lib/output.h"
#include "tools/lib/table_inspector.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

Result<SurveyedTable> SurveyTableFile(FileSystem* fs, const FilePlaces& places,
                                      const FileMetadata& meta) {
  SurveyedTable result;
  result.meta = meta;
  ASSIGN_OR_RETURN(const std::unique_ptr<TableInspector> table,
                   TableInspector::Open(fs, places.TablePath(meta.number)));
  const TableProperties& properties = table->properties();
  result.entries = properties.num_entries;
  result.deletions =
      properties.num_deletions - std::min(properties.num_range_deletions, properties.num_deletions);
  result.range_deletions = properties.num_range_deletions;
  result.filter_bytes = properties.filter_size;
  result.filter_entries = properties.num_filter_entries;
  result.data_time =
      meta.oldest_ancestor_time != 0 ? meta.oldest_ancestor_time : meta.file_creation_time;
  return result;
}

class Axis {
 public:
  Axis(const Comparator* order, SurveyedFamily* family) : order_(order), family_(family) {}

  void PlaceAll() {
    ForEach([this](SurveyedTable& table) {
      cuts_.push_back(table.meta.smallest_user_key());
      cuts_.push_back(table.meta.largest_user_key());
    });
    const auto is_less = [this](const Slice& a, const Slice& b) {
      return order_->Compare(a, b) < 0;
    };
    const auto is_same = [this](const Slice& a, const Slice& b) {
      return order_->Compare(a, b) == 0;
    };
    std::sort(cuts_.begin(), cuts_.end(), is_less);
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end(), is_same), cuts_.end());
    // One piece more than there are cuts: a table of a single key has the one that begins there.
    widths_.assign(cuts_.size() + 1, 0);
    ForEach([this](SurveyedTable& table) { Spread(table); });
    std::vector<double> before(widths_.size() + 1, 0);
    std::partial_sum(widths_.begin(), widths_.end(), before.begin() + 1);
    const double all = std::max(before.back(), 1.0);
    ForEach([&](SurveyedTable& table) {
      const auto [begin, end] = PiecesOf(table);
      table.left = before[begin] / all;
      table.right = before[end] / all;
    });
  }

 private:
  template <typename Visit>
  void ForEach(Visit visit) {
    for (std::vector<SurveyedTable>& level : family_->levels) {
      for (SurveyedTable& table : level) visit(table);
    }
  }
  size_t IndexOf(const Slice& key) const {
    const auto is_less = [this](const Slice& a, const Slice& b) {
      return order_->Compare(a, b) < 0;
    };
    return static_cast<size_t>(std::lower_bound(cuts_.begin(), cuts_.end(), key, is_less) -
                               cuts_.begin());
  }
  std::pair<size_t, size_t> PiecesOf(const SurveyedTable& table) const {
    const size_t begin = IndexOf(table.meta.smallest_user_key());
    return {begin, std::max(begin + 1, IndexOf(table.meta.largest_user_key()))};
  }
  void Spread(const SurveyedTable& table) {
    const auto [begin, end] = PiecesOf(table);
    const double share =
        static_cast<double>(table.meta.file_size) / static_cast<double>(end - begin);
    for (size_t i = begin; i < end; i++) widths_[i] += share;
  }

  const Comparator* const order_;
  SurveyedFamily* const family_;
  std::vector<Slice> cuts_;  // into the metadata
  std::vector<double> widths_;
};

Result<SurveyedFamily> SurveyFamily(FileSystem* fs, const FilePlaces& places,
                                    const FamilyState& state) {
  SurveyedFamily result;
  result.name = state.name;
  result.comparator = state.comparator;
  result.log_number = state.log_number;
  for (const std::vector<FileMetadata>& level : state.levels) {
    result.levels.emplace_back();
    for (const FileMetadata& meta : level) {
      ASSIGN_OR_RETURN(SurveyedTable table, SurveyTableFile(fs, places, meta));
      result.levels.back().push_back(std::move(table));
    }
  }
  for (const auto& [number, blob] : state.blobs) result.blobs.push_back(blob);
  const Comparator* order = OrderOfBoundaries(state);
  result.is_order_known = order != nullptr;
  Axis(order != nullptr ? order : BytewiseComparator(), &result).PlaceAll();
  return result;
}

bool IsLive(const ManifestState& state, FileType type, FileNumber number) {
  for (const auto& [id, family] : state.families()) {
    if (type == kBlobFile && family.blobs.count(number) != 0) return true;
    if (type != kTableFile) continue;
    for (const std::vector<FileMetadata>& level : family.levels) {
      for (const FileMetadata& meta : level) {
        if (meta.number == number) return true;
      }
    }
  }
  return false;
}

void AddLog(const ManifestState& state, const SurveyedFile& log, TreeSurvey* survey) {
  const bool is_needed = log.number >= state.FirstNeededLog();
  (is_needed ? survey->needed_logs : survey->unneeded_logs).push_back(log);
}

void AddTable(const ManifestState& state, FileType type, const SurveyedFile& table,
              TreeSurvey* survey) {
  if (!IsLive(state, type, table.number)) survey->obsolete.push_back(table);
}

enum class OtherDirectory { kOfLogs, kOfTables };

// Of a directory that is not the database's own: what it is for.
Status SurveyOther(FileSystem* fs, const std::string& directory, OtherDirectory what,
                   const ManifestState& state, TreeSurvey* survey) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, directory));
  for (const std::string& name : names) {
    SurveyedFile file{.name = name, .number = 0, .bytes = 0};
    FileType type = kTempFile;
    if (!ParseFileName(name, &file.number, &type)) continue;
    const Result<uint64_t> bytes = FileSizeOf(fs, StrCat(directory, "/", name));
    if (!bytes.ok()) continue;  // gone meanwhile
    file.bytes = bytes.value();
    if (what == OtherDirectory::kOfLogs) {
      if (type == kWalFile) AddLog(state, file, survey);
    } else if (type == kTableFile || type == kBlobFile) {
      AddTable(state, type, file, survey);
    }
  }
  return Status::OK();
}

Status SurveyDirectory(FileSystem* fs, const ManifestState& state, TreeSurvey* survey) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, survey->path));
  for (const std::string& name : names) {
    const std::string path = survey->path + "/" + name;
    const Result<uint64_t> bytes = FileSizeOf(fs, path);
    if (!bytes.ok()) continue;  // a directory, or gone meanwhile
    SurveyedFile file{.name = name, .number = 0, .bytes = bytes.value()};
    FileType type = kTempFile;
    if (!ParseFileName(name, &file.number, &type)) {
      (IsTrashFileName(name) ? survey->temporary_bytes : survey->other_bytes) += file.bytes;
    } else if (type == kWalFile) {
      AddLog(state, file, survey);
    } else if (type == kTableFile || type == kBlobFile) {
      AddTable(state, type, file, survey);
    } else if (type == kTempFile) {
      survey->temporary_bytes += file.bytes;
    } else {
      survey->other_bytes += file.bytes;
    }
    if (type != kInfoLogFile) continue;
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(fs, path));
    AddEvents(text, survey);
  }
  return Status::OK();
}

}  // namespace

uint64_t WrittenBytes::CompactedBytes() const {
  uint64_t sum = 0;
  for (const auto& [level, bytes] : compacted) sum += bytes;
  return sum;
}

double WrittenBytes::Amplification() const {
  if (flushed == 0) return 0;
  return static_cast<double>(flushed + CompactedBytes()) / static_cast<double>(flushed);
}

uint64_t SurveyedFamily::TableBytes() const {
  uint64_t sum = 0;
  for (const auto& level : levels) {
    for (const SurveyedTable& table : level) sum += table.meta.file_size;
  }
  return sum;
}

uint64_t SurveyedFamily::TableCount() const {
  uint64_t sum = 0;
  for (const auto& level : levels) sum += level.size();
  return sum;
}

uint64_t SurveyedFamily::BlobBytes() const {
  uint64_t sum = 0;
  for (const FamilyState::BlobFile& blob : blobs) sum += blob.added.file_bytes();
  return sum;
}

uint64_t SurveyedFamily::BlobGarbageBytes() const {
  uint64_t sum = 0;
  for (const FamilyState::BlobFile& blob : blobs) sum += blob.garbage_bytes;
  return sum;
}

Result<TreeSurvey> SurveyTree(FileSystem* fs, const FilePlaces& places, const std::string& logs,
                              const ManifestState& state) {
  TreeSurvey survey;
  const std::vector<std::string>& dirs = places.dirs();
  survey.path = dirs[0];
  for (const auto& [id, family] : state.families()) {
    ASSIGN_OR_RETURN(SurveyedFamily surveyed, SurveyFamily(fs, places, family));
    survey.families.push_back(std::move(surveyed));
  }
  RETURN_IF_ERROR(SurveyDirectory(fs, state, &survey));
  for (size_t i = 1; i < dirs.size(); i++) {
    RETURN_IF_ERROR(SurveyOther(fs, dirs[i], OtherDirectory::kOfTables, state, &survey));
  }
  if (logs == dirs[0]) return survey;
  RETURN_IF_ERROR(SurveyOther(fs, logs, OtherDirectory::kOfLogs, state, &survey));
  return survey;
}

}  // namespace ashlar
