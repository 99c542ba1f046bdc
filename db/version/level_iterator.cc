// SPDX-License-Identifier: Apache-2.0
//
// At any time one table iterator is open. Inside a block the position advances without a call here;
// at the end of a file the next one is opened.
#include "db/version/level_iterator.h"

#include <algorithm>

#include "db/version/table_cache.h"

namespace ashlar {

LevelIterator::LevelIterator(const LevelIteratorOptions& options, std::span<TableFile* const> files)
    : options_(options), files_(files), index_(files.size()) {}

LevelIterator::~LevelIterator() { delete inner_; }

void LevelIterator::OpenFile(size_t index) {
  if (index != index_ || inner_ == nullptr) {
    delete inner_;
    inner_ = nullptr;
    index_ = index;
    if (index < files_.size()) {
      inner_ = options_.tables->NewIterator(*options_.read, files_[index],
                                            /*arena=*/nullptr, options_.for_compaction);
    }
  }
}

void LevelIterator::Mirror() {
  if (inner_ == nullptr) {
    valid_ = false;
    cursor_ = nullptr;
    return;
  }
  valid_ = inner_->Valid();
  cursor_ = inner_->cursor();
  if (valid_) {
    key_ = inner_->key();
    value_ = inner_->value();
  } else {
    status_ = inner_->status();
  }
}

// Files past the upper bound are not opened.
bool LevelIterator::BeyondUpperBound(size_t index) const {
  const Slice* bound = options_.read->iterate_upper_bound;
  return bound != nullptr && options_.comparator->OrderWithoutTimestamp(
                                 files_[index]->meta.smallest_user_key(), *bound) >= 0;
}

// An error in a file ends the iteration: going on would hide its keys.
void LevelIterator::SkipForward() {
  while (inner_ != nullptr && !inner_->Valid() && inner_->status().ok()) {
    if (index_ + 1 >= files_.size() || BeyondUpperBound(index_ + 1)) {
      OpenFile(files_.size());
      break;
    }
    OpenFile(index_ + 1);
    inner_->SeekToFirst();
  }
  Mirror();
}

void LevelIterator::SkipBackward() {
  while (inner_ != nullptr && !inner_->Valid() && inner_->status().ok()) {
    if (index_ == 0) {
      OpenFile(files_.size());
      break;
    }
    OpenFile(index_ - 1);
    inner_->SeekToLast();
  }
  Mirror();
}

void LevelIterator::SeekToFirst() {
  status_ = Status::OK();
  OpenFile(0);
  if (inner_ != nullptr) inner_->SeekToFirst();
  SkipForward();
}

void LevelIterator::SeekToLast() {
  status_ = Status::OK();
  OpenFile(files_.empty() ? 0 : files_.size() - 1);
  if (inner_ != nullptr) inner_->SeekToLast();
  SkipBackward();
}

void LevelIterator::Seek(const Slice& internal_key) {
  status_ = Status::OK();
  const auto file = std::partition_point(files_.begin(), files_.end(), [&](TableFile* f) {
    return options_.comparator->Compare(f->meta.largest, internal_key) < 0;
  });
  const auto index = static_cast<size_t>(file - files_.begin());
  if (index < files_.size() && BeyondUpperBound(index)) {
    OpenFile(files_.size());
  } else {
    OpenFile(index);
  }
  if (inner_ != nullptr) inner_->Seek(internal_key);
  SkipForward();
}

void LevelIterator::SeekForPrev(const Slice& internal_key) {
  status_ = Status::OK();
  const auto file = std::partition_point(files_.begin(), files_.end(), [&](TableFile* f) {
    return options_.comparator->Compare(f->meta.smallest, internal_key) <= 0;
  });
  if (file == files_.begin()) {
    OpenFile(files_.size());
  } else {
    OpenFile(static_cast<size_t>(file - files_.begin()) - 1);
  }
  if (inner_ != nullptr) inner_->SeekForPrev(internal_key);
  SkipBackward();
}

void LevelIterator::NextSlow() {
  inner_->Next();
  SkipForward();
}

void LevelIterator::PrevSlow() {
  inner_->Prev();
  SkipBackward();
}

}  // namespace ashlar
