// SPDX-License-Identifier: Apache-2.0
//
// A comparator of one's own: names with numbers in them, in the order in which people count. The
// name of a comparator is stored in the database, and opening it with another one is refused.
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

// Takes the digits at the front, without the zeros before them.
ashlar::Slice TakeNumber(ashlar::Slice* text) {
  while (text->starts_with("0")) text->remove_prefix(1);
  const char* const begin = text->data();
  while (StartsWithDigit(*text)) text->remove_prefix(1);
  return ashlar::Slice(begin, static_cast<size_t>(text->data() - begin));
}

// Digits compare as numbers, everything else as bytes; what is still equal ("7" and "07") compares
// as bytes, so that different keys are never equal. The order behind a name must never change: a
// better one gets another name.
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

  // These may shorten the keys of an index. Leaving them whole is always right.
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
