// SPDX-License-Identifier: Apache-2.0
//
// At most one table iterator is open at a time. Inside a block the position advances without a call
// of this class; at the end of a file the next file is opened.
#include "db/search/level_iterator.h"

#include <algorithm>
#include <cassert>

#include "db/search/level_tombstones.h"
#include "db/search/scanned_blocks.h"
#include "db/search/wanted_prefix.h"
#include "util/result.h"
#include "util/statistics/perf_level_impl.h"
#include "util/text/str_cat.h"

namespace ashlar {

LevelIterator::LevelIterator(const LevelIteratorOptions& options, std::span<TableFile* const> files)
    : options_(options), files_(files), index_(files.size()) {}

// A jump makes the tombstones of the files visited before irrelevant.
void LevelIterator::StartInFile(size_t index) {
  status_ = Status::OK();
  if (options_.tombstones != nullptr) options_.tombstones->ForgetFiles();
  GoToFile(index);
}

// If the iterator moves on to the next file, the new table iterator continues with the readahead of
// the old one.
void LevelIterator::GoToFile(size_t index) {
  assert(index <= files_.size());
  if (index == index_ && inner_.has_value()) return NoteTombstones();
  const bool is_next = index == index_ + 1 && options_.read->adaptive_readahead;
  const size_t pace = is_next && inner_.has_value() ? inner_->readahead_pace() : 0;
  // The old table iterator goes before its table is released.
  inner_.reset();
  table_.Reset();
  index_ = index;
  // At the end of the level no table is open.
  if (index < files_.size()) status_ = OpenTable();
  if (inner_.has_value()) inner_->ContinueReadahead(pace);
}

// The tombstones of a file are passed on before the first of its entries is visible.
void LevelIterator::NoteTombstones() {
  assert(index_ < files_.size());
  if (options_.tombstones != nullptr) options_.tombstones->NoteFile(index_, table_->tombstones());
}

// Opens the current file, unless the program's table filter excludes it.
Status LevelIterator::OpenTable() {
  assert(!inner_.has_value());
  assert(index_ < files_.size());
  if (options_.trace != nullptr) files_[index_]->TraceEntry(options_.level, options_.trace);
  const auto open_for =
      options_.for_compaction ? TableCache::OpenFor::kCompaction : TableCache::OpenFor::kReads;
  ASSIGN_OR_RETURN(table_, options_.tables->PinFor(*options_.read, files_[index_], open_for));
  NoteTombstones();
  const PerfTimer timer(&PerfContextBase::new_table_iterator_nanos);
  // A file that the program excludes is passed like one without entries.
  const auto* const filter = options_.read->table_filter;
  if (filter != nullptr && !(*filter)(table_->properties())) return Status::OK();
  inner_.emplace(
      &*table_, *options_.read, options_.for_compaction,
      options_.scanned == nullptr ? nullptr : options_.scanned->Of(files_[index_]->meta.number));
  inner_->SetTrace(options_.trace);
  inner_->SetLevel(options_.level);
  if (options_.passing != nullptr) inner_->OfferBlocksTo(options_.passing);
  return Status::OK();
}

bool LevelIterator::IsFileExhausted() const {
  assert(index_ <= files_.size());
  if (index_ == files_.size() || !status_.ok()) return false;
  // An error is not the end of a file: the iteration must stop there.
  return !inner_.has_value() || (!inner_->Valid() && inner_->status().ok());
}

// Copies the position of the current table iterator, or its error, to this iterator.
void LevelIterator::Mirror() {
  valid_ = inner_.has_value() && inner_->Valid();
  cursor_ = inner_.has_value() ? inner_->cursor() : nullptr;
  assert(!valid_ || status_.ok());
  if (valid_) {
    key_ = inner_->key();
    value_ = inner_->value();
    enters_block_ = inner_->enters_block();
  } else if (inner_.has_value()) {
    status_ = inner_->status();
  }
}

// Whether the file begins at or after the upper bound: such files are not opened.
bool LevelIterator::BeyondUpperBound(size_t index) const {
  assert(index < files_.size());
  const Slice* bound = options_.read->iterate_upper_bound;
  return bound != nullptr && options_.comparator->OrderWithoutTimestamp(
                                 files_[index]->meta.smallest_user_key(), *bound) >= 0;
}

// An error in a file ends the iteration; continuing in the next file would hide the keys of this
// one.
void LevelIterator::SkipForward() {
  while (IsFileExhausted()) {
    assert(index_ < files_.size());
    const bool is_last = index_ + 1 >= files_.size() || BeyondUpperBound(index_ + 1);
    GoToFile(is_last ? files_.size() : index_ + 1);
    if (inner_.has_value()) inner_->SeekToFirst();
  }
  Mirror();
}

void LevelIterator::SkipBackward() {
  while (IsFileExhausted()) {
    assert(index_ < files_.size());
    GoToFile(index_ == 0 ? files_.size() : index_ - 1);
    if (inner_.has_value()) inner_->SeekToLast();
  }
  Mirror();
}

void LevelIterator::SeekToFirst() {
  StartInFile(0);
  if (inner_.has_value()) inner_->SeekToFirst();
  SkipForward();
}

void LevelIterator::SeekToLast() {
  // Without files this is the end of the level.
  StartInFile(files_.empty() ? 0 : files_.size() - 1);
  if (inner_.has_value()) inner_->SeekToLast();
  SkipBackward();
}

void LevelIterator::FindFile(const Slice& internal_key) {
  const auto file = std::partition_point(files_.begin(), files_.end(), [&](TableFile* f) {
    // The first file that does not end before the key; the files of a level do not overlap.
    return options_.comparator->Compare(f->meta.largest, internal_key) < 0;
  });
  const auto index = static_cast<size_t>(file - files_.begin());
  // A file beyond the bound is not opened, although the key would belong into it.
  StartInFile(index < files_.size() && BeyondUpperBound(index) ? files_.size() : index);
  if (options_.wanted_key != nullptr) SpareFilesWithoutKey(internal_key);
}

void LevelIterator::Seek(const Slice& internal_key) {
  FindFile(internal_key);
  const FilterAnswer answer = SpareFilesFrom(internal_key);
  if (inner_.has_value()) {
    inner_->Seek(internal_key);
    CountPrefix(answer);
    CountKey(internal_key);
  }
  SkipForward();
}

// If filters may exclude files, the file to seek in is not known yet, so no block can be
// requested early.
void LevelIterator::BeginSeek(const Slice& internal_key, SeekStep step) {
  // The filter must be asked first, and Seek() does both.
  if (options_.wanted != nullptr) return;
  if (step == SeekStep::kFindBlock) FindFile(internal_key);
  if (inner_.has_value()) inner_->BeginSeek(internal_key, step);
}

void LevelIterator::EndSeek(const Slice& internal_key) {
  if (options_.wanted != nullptr) return Seek(internal_key);
  if (inner_.has_value()) {
    inner_->EndSeek(internal_key);
    CountKey(internal_key);
  }
  SkipForward();
}

// Skips files whose filter excludes the wanted prefix. The boundary of a file may come from a range
// tombstone, so the first key with the prefix may be in a later file.
FilterAnswer LevelIterator::SpareFilesFrom(const Slice& internal_key) {
  const WantedPrefix* const wanted = options_.wanted;
  if (wanted == nullptr || !wanted->HoldsFrom(ExtractUserKey(internal_key))) [[likely]]
    return FilterAnswer::kUnknown;
  while (inner_.has_value()) {
    const FilterAnswer answer = AskFilter(internal_key, /*is_forward=*/true);
    if (answer != FilterAnswer::kAbsent) return answer;
    const size_t next = index_ + 1;
    const bool is_over = next == files_.size() || BeyondUpperBound(next) ||
                         wanted->IsElsewhere(files_[next]->meta.smallest_user_key());
    GoToFile(is_over ? files_.size() : next);
    if (!is_over && !wanted->Has(files_[next]->meta.smallest_user_key())) break;
  }
  return FilterAnswer::kUnknown;
}

// The versions of a key may be in several adjacent files. The first of these may have no version
// itself, because the end of its range may come from a range tombstone. So the next file is asked
// too if it begins with the key.
void LevelIterator::SpareFilesWithoutKey(const Slice& internal_key) {
  const Slice stored = ExtractUserKey(internal_key);
  while (inner_.has_value()) {
    key_answer_ = table_->AskForKey(*options_.read, *options_.wanted_key, stored);
    if (options_.trace != nullptr && key_answer_ != FilterAnswer::kUnknown) {
      options_.trace->OnFilter(/*let_through=*/key_answer_ == FilterAnswer::kPerhaps,
                               /*is_of_prefixes=*/false);
    }
    if (key_answer_ != FilterAnswer::kAbsent) return;
    const size_t next = index_ + 1;
    if (next == files_.size()) return GoToFile(next);
    const Slice smallest = files_[next]->meta.smallest_user_key();
    const bool is_behind = options_.comparator->OrderWithoutTimestamp(smallest, stored) > 0;
    GoToFile(is_behind ? files_.size() : next);
  }
}

FilterAnswer LevelIterator::SpareFilesBefore(const Slice& internal_key) {
  const WantedPrefix* const wanted = options_.wanted;
  if (wanted == nullptr || !wanted->HoldsBefore(ExtractUserKey(internal_key))) [[likely]]
    return FilterAnswer::kUnknown;
  while (inner_.has_value()) {
    const FilterAnswer answer = AskFilter(internal_key, /*is_forward=*/false);
    if (answer != FilterAnswer::kAbsent) return answer;
    assert(index_ < files_.size());
    const bool is_over =
        index_ == 0 || wanted->IsElsewhere(files_[index_ - 1]->meta.largest_user_key());
    GoToFile(is_over ? files_.size() : index_ - 1);
    if (!is_over && !wanted->Has(files_[index_]->meta.largest_user_key())) break;
  }
  return FilterAnswer::kUnknown;
}

FilterAnswer LevelIterator::AskFilter(const Slice& internal_key, bool is_forward) const {
  assert(inner_.has_value());
  assert(options_.wanted != nullptr);
  const FilterAnswer answer =
      table_->AskForPrefix(*options_.read, {.extractor = options_.wanted->extractor(),
                                            .prefix = options_.wanted->prefix(),
                                            .internal_key = internal_key,
                                            .is_forward = is_forward});
  if (options_.trace != nullptr && answer != FilterAnswer::kUnknown) {
    options_.trace->OnFilter(/*let_through=*/answer == FilterAnswer::kPerhaps,
                             /*is_of_prefixes=*/true);
  }
  return answer;
}

// Counts a seek in which the filter let the prefix through and the table has a key with it.
void LevelIterator::CountPrefix(FilterAnswer answer) const {
  assert(answer != FilterAnswer::kPerhaps || inner_.has_value());
  if (answer != FilterAnswer::kPerhaps || !inner_->Valid()) [[likely]]
    return;
  assert(options_.wanted != nullptr);
  if (options_.wanted->Has(ExtractUserKey(inner_->key()))) table_->CountPrefixFound();
}

// Counts a seek in which the filter let the wanted key through and the table has a version of it.
void LevelIterator::CountKey(const Slice& internal_key) const {
  if (options_.wanted_key == nullptr || key_answer_ != FilterAnswer::kPerhaps) return;
  if (!inner_->Valid()) return;
  const Slice found = ExtractUserKey(inner_->key());
  if (options_.comparator->OrderWithoutTimestamp(found, ExtractUserKey(internal_key)) == 0) {
    table_->CountKeyFound();
  }
}

void LevelIterator::SeekForPrev(const Slice& internal_key) {
  // The last file that begins at or before the key.
  const auto file = std::partition_point(files_.begin(), files_.end(), [&](TableFile* f) {
    return options_.comparator->Compare(f->meta.smallest, internal_key) <= 0;
  });
  const bool is_none = file == files_.begin();
  StartInFile(is_none ? files_.size() : static_cast<size_t>(file - files_.begin()) - 1);
  const FilterAnswer answer = SpareFilesBefore(internal_key);
  if (inner_.has_value()) {
    inner_->SeekForPrev(internal_key);
    CountPrefix(answer);
  }
  SkipBackward();
}

void LevelIterator::NextSlow() {
  assert(inner_.has_value());
  inner_->Next();
  SkipForward();
}

void LevelIterator::PrevSlow() {
  assert(inner_.has_value());
  inner_->Prev();
  SkipBackward();
}

[[gnu::cold]] std::string LevelIterator::DebugString() const {
  const std::string file = index_ < files_.size() ? StrCat("file ", files_[index_]->meta.number)
                                                  : std::string("no file");
  return StrCat(files_.size(), " files, in ", file, ", ",
                valid_ ? DescribeInternalKey(key_, /*hex=*/true) : status_.ToString(), "\n");
}

}  // namespace ashlar
