// SPDX-License-Identifier: Apache-2.0
//
// PinnableWideColumns keeps the stored bytes in a PinnableSlice, and a list of columns that refer
// to them. Each change of the bytes rebuilds the list.
#include "ashlar/wide_columns.h"

#include <cassert>

#include "ashlar/attribute_groups.h"
#include "util/keys/wide_column_encoding.h"

namespace ashlar {

// Constants of the public headers.
const Slice kDefaultWideColumnName;
const WideColumns kNoWideColumns;
const AttributeGroups kNoAttributeGroups;
const IteratorAttributeGroups kNoIteratorAttributeGroups;

// Short values may be inside the string object. Moving it moves the bytes, so that the columns must
// be adapted.
PinnableWideColumns& PinnableWideColumns::operator=(PinnableWideColumns&& other) {
  if (this == &other) return *this;
  const char* const old_base = other.value_.data();
  const char* const old_end = old_base + other.value_.size();
  value_ = std::move(other.value_);
  columns_ = std::move(other.columns_);
  const auto rebase = [&](Slice* slice) {
    if (slice->data_ >= old_base && slice->data_ <= old_end && !slice->empty()) {
      slice->data_ = value_.data() + (slice->data_ - old_base);
    }
  };
  for (WideColumn& column : columns_) {
    rebase(&column.name());
    rebase(&column.value());
  }
  other.Reset();
  return *this;
}

size_t PinnableWideColumns::payload_size() const {
  size_t bytes = 0;
  for (const WideColumn& column : columns_) bytes += column.name().size() + column.value().size();
  return bytes;
}

// The four ways to take over bytes: a copy, a pinned block, a moved slice, and a moved string.
void PinnableWideColumns::CopyValue(const Slice& value) {
  value_.Reset();
  value_.PinSelf(value);
}
void PinnableWideColumns::PinValue(const Slice& value, Cleanable* cleanable) {
  value_.Reset();
  value_.PinSlice(value, cleanable);
}
void PinnableWideColumns::MoveValue(PinnableSlice&& value) { value_ = std::move(value); }
void PinnableWideColumns::MoveValue(std::string&& value) {
  value_.Reset();
  *value_.GetSelf() = std::move(value);
  value_.PinSelf();
}

// The only column is the default one, and refers to the bytes in value_.
void PinnableWideColumns::CreateIndexForPlainValue() {
  columns_.assign(1, WideColumn(kDefaultWideColumnName, Slice(value_)));
}

// Malformed bytes leave no columns.
Status PinnableWideColumns::CreateIndexForWideColumns() {
  Status status = DecodeColumns(value_, &columns_);
  if (!status.ok()) Reset();
  return status;
}

void PinnableWideColumns::SetPlainValue(const Slice& value) {
  CopyValue(value);
  CreateIndexForPlainValue();
}
void PinnableWideColumns::SetPlainValue(const Slice& value, Cleanable* cleanable) {
  PinValue(value, cleanable);
  CreateIndexForPlainValue();
}
void PinnableWideColumns::SetPlainValue(PinnableSlice&& value) {
  MoveValue(std::move(value));
  CreateIndexForPlainValue();
}
void PinnableWideColumns::SetPlainValue(std::string&& value) {
  MoveValue(std::move(value));
  CreateIndexForPlainValue();
}

Status PinnableWideColumns::SetWideColumnValue(const Slice& value) {
  CopyValue(value);
  return CreateIndexForWideColumns();
}
Status PinnableWideColumns::SetWideColumnValue(const Slice& value, Cleanable* cleanable) {
  PinValue(value, cleanable);
  return CreateIndexForWideColumns();
}
Status PinnableWideColumns::SetWideColumnValue(PinnableSlice&& value) {
  MoveValue(std::move(value));
  return CreateIndexForWideColumns();
}
Status PinnableWideColumns::SetWideColumnValue(std::string&& value) {
  MoveValue(std::move(value));
  return CreateIndexForWideColumns();
}

void PinnableWideColumns::Reset() {
  columns_.clear();
  value_.Reset();
}

namespace {

// An iterator that only has an error.
class AttributeGroupErrorIterator final : public AttributeGroupIterator {
 public:
  explicit AttributeGroupErrorIterator(const Status& status) : status_(status) {}

  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override { assert(false); }
  void Prev() override { assert(false); }
  Slice key() const override { return Slice(); }
  Status status() const override { return status_; }
  const IteratorAttributeGroups& attribute_groups() const override {
    return kNoIteratorAttributeGroups;
  }

 private:
  const Status status_;
};

}  // namespace

std::unique_ptr<AttributeGroupIterator> NewAttributeGroupErrorIterator(const Status& status) {
  return std::make_unique<AttributeGroupErrorIterator>(status);
}

}  // namespace ashlar
