// SPDX-License-Identifier: Apache-2.0
//
// A custom comparator: sorts names that contain numbers by the values of these numbers. The name of
// the comparator is stored in the database; opening the database with another comparator fails.
//
//   example_comparator FOLDER
//
// Prints:
//   file2
//   file10
//   file10b
//   file100
//   with the default order: Invalid argument
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"

namespace {

void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

bool StartsWithDigit(const ashlar::Slice& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
}

// Removes the digits at the beginning of *text and returns them without leading zeros.
ashlar::Slice TakeNumber(ashlar::Slice* text) {
  while (text->starts_with("0")) text->remove_prefix(1);
  const char* const begin = text->data();
  while (StartsWithDigit(*text)) text->remove_prefix(1);
  return ashlar::Slice(begin, static_cast<size_t>(text->data() - begin));
}

// Numbers are compared by value, all other bytes bytewise. If that finds no difference ("7" and
// "07"), the bytes decide, so that different keys are never equal. The order of a comparator with a
// given name must never change: a different order needs a different name.
class CountingOrder final : public ashlar::Comparator {
 public:
  const char* Name() const override { return "example.CountingOrder.1"; }

  int Compare(const ashlar::Slice& a, const ashlar::Slice& b) const override {
    ashlar::Slice x = a, y = b;
    while (!x.empty() && !y.empty()) {
      if (StartsWithDigit(x) && StartsWithDigit(y)) {
        const ashlar::Slice m = TakeNumber(&x), n = TakeNumber(&y);
        if (m.size() != n.size()) return m.size() < n.size() ? -1 : 1;
        if (const int order = m.compare(n); order != 0) return order;
        continue;
      }
      const auto left = static_cast<unsigned char>(x[0]), right = static_cast<unsigned char>(y[0]);
      if (left != right) return left < right ? -1 : 1;
      x.remove_prefix(1);
      y.remove_prefix(1);
    }
    if (x.empty() != y.empty()) return x.empty() ? -1 : 1;
    return a.compare(b);
  }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }

  // These functions may shorten the keys of an index. It is correct to do nothing.
  void FindShortestSeparator(std::string*, const ashlar::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  static const CountingOrder order;  // must outlive every database that uses it
  ashlar::Options options;
  options.create_if_missing = true;
  options.comparator = &order;
  std::unique_ptr<ashlar::DB> db;
  Require(ashlar::DB::Open(options, argv[1], &db));
  for (const char* key : {"file100", "file10b", "file2", "file10"}) {
    Require(db->Put(ashlar::WriteOptions(), key, ""));
  }
  std::unique_ptr<ashlar::Iterator> it(db->NewIterator(ashlar::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::printf("%s\n", it->key().ToString().c_str());
  }
  Require(it->status());
  it.reset();
  Require(db->Close());
  db.reset();

  options.comparator = ashlar::BytewiseComparator();
  const ashlar::Status status = ashlar::DB::Open(options, argv[1], &db);
  std::printf("with the default order: %s\n",
              status.IsInvalidArgument() ? "Invalid argument" : status.ToString().c_str());
  return 0;
}
