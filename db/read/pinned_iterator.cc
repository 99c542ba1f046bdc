// SPDX-License-Identifier: Apache-2.0
//
// Each move moves the source and then copies its entry, so keys and values stay valid until the
// iterator is destroyed.
#include "db/read/pinned_iterator.h"

#include <cassert>
#include <cstring>
#include <utility>

#include "ashlar/options.h"

namespace ashlar {

PinnedIterator::PinnedIterator(std::unique_ptr<Iterator> source) : source_(std::move(source)) {
  assert(source_ != nullptr);
}

ReadOptions PinnedIterator::SourceOptions(const ReadOptions& options) {
  ReadOptions source = options;
  source.pin_data = false;
  source.allow_unprepared_value = false;
  return source;
}

void PinnedIterator::SeekToFirst() {
  source_->SeekToFirst();
  Keep();
}
void PinnedIterator::SeekToLast() {
  source_->SeekToLast();
  Keep();
}
void PinnedIterator::Seek(const Slice& target) {
  source_->Seek(target);
  Keep();
}
void PinnedIterator::SeekForPrev(const Slice& target) {
  source_->SeekForPrev(target);
  Keep();
}
void PinnedIterator::Next() {
  source_->Next();
  Keep();
}
void PinnedIterator::Prev() {
  source_->Prev();
  Keep();
}

// The default column is the value, so it is copied once.
void PinnedIterator::Keep() {
  columns_.clear();
  if (!source_->Valid()) return;
  key_ = Copy(source_->key());
  value_ = Copy(source_->value());
  timestamp_ = Copy(source_->timestamp());
  for (const WideColumn& column : source_->columns()) {
    const bool is_default = column.name() == kDefaultWideColumnName;
    columns_.emplace_back(Copy(column.name()), is_default ? value_ : Copy(column.value()));
  }
}

Slice PinnedIterator::Copy(const Slice& bytes) {
  if (bytes.empty()) return Slice();
  char* const copy = memory_.Allocate(bytes.size());
  std::memcpy(copy, bytes.data(), bytes.size());
  return Slice(copy, bytes.size());
}

[[gnu::cold]] Status PinnedIterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop == nullptr) return Status::InvalidArgument("prop is nullptr");
  if (prop_name != "rocksdb.iterator.is-key-pinned" &&
      prop_name != "rocksdb.iterator.is-value-pinned") {
    return source_->GetProperty(std::move(prop_name), prop);
  }
  *prop = "1";
  return Status::OK();
}

}  // namespace ashlar
