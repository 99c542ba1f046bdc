// SPDX-License-Identifier: Apache-2.0
//
// PassingIterator is an iterator of a program's own class that passes every call on to another one.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "ashlar/iterator.h"

namespace ashlar {

class PassingIterator final : public Iterator {
 public:
  explicit PassingIterator(std::unique_ptr<Iterator> inner) : inner_(std::move(inner)) {}

  bool Valid() const override { return inner_->Valid(); }
  void SeekToFirst() override { inner_->SeekToFirst(); }
  void SeekToLast() override { inner_->SeekToLast(); }
  void Seek(const Slice& target) override { inner_->Seek(target); }
  void SeekForPrev(const Slice& target) override { inner_->SeekForPrev(target); }
  void Next() override { inner_->Next(); }
  void Prev() override { inner_->Prev(); }
  Slice key() const override { return inner_->key(); }
  Slice value() const override { return inner_->value(); }
  const WideColumns& columns() const override { return inner_->columns(); }
  bool PrepareValue() override { return inner_->PrepareValue(); }
  Status status() const override { return inner_->status(); }
  Status GetProperty(std::string prop_name, std::string* prop) override {
    return inner_->GetProperty(std::move(prop_name), prop);
  }

 private:
  const std::unique_ptr<Iterator> inner_;
};

}  // namespace ashlar
