// SPDX-License-Identifier: Apache-2.0
//
// Defaults of Iterator, and iterators that have no entries.
#include "ashlar/iterator.h"

#include <cassert>

namespace ashlar {

namespace {

// Never valid. Its status is OK or the error that prevented a real iterator.
class EmptyIterator final : public Iterator {
 public:
  explicit EmptyIterator(const Status& status) : status_(status) {}

  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override { assert(false); }
  void Prev() override { assert(false); }
  Slice key() const override { return Unreachable(); }
  Slice value() const override { return Unreachable(); }
  Status status() const override { return status_; }

 private:
  // Callers must not ask an invalid iterator.
  static Slice Unreachable() {
    assert(false);
    return Slice();
  }
  const Status status_;
};

}  // namespace

const WideColumns& Iterator::columns() const {
  assert(false);  // iterators over a database override this
  return kNoWideColumns;
}

// The default: keys are not pinned, and no other property is known.
Status Iterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop == nullptr) {
    return Status::InvalidArgument("Iterator::GetProperty: needs a place for the result");
  }
  if (prop_name == "rocksdb.iterator.is-key-pinned") {
    *prop = "0";
    return Status::OK();
  }
  return Status::InvalidArgument("Iterator::GetProperty: unknown property", prop_name);
}

// Iterators over families with timestamps override it. Programs in C cannot tell whether there are
// timestamps without asking.
Slice Iterator::timestamp() const { return Slice(); }

Iterator* NewEmptyIterator() { return new EmptyIterator(Status::OK()); }
Iterator* NewErrorIterator(const Status& status) { return new EmptyIterator(status); }

}  // namespace ashlar
