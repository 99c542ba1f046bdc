// SPDX-License-Identifier: Apache-2.0
//
// Iterators: forwards and backwards, with bounds, and over one prefix. An iterator sees the
// database as it was when the iterator was created, regardless of later writes.
//
//   example_iterators FOLDER
//
// Prints:
//   all: fruit/apple fruit/pear fruit/plum nut/almond nut/hazel
//   [fruit/b, nut/b): fruit/pear fruit/plum nut/almond
//   backwards from the end of the fruits: fruit/plum fruit/pear fruit/apple
//   prefix nut/: nut/almond nut/hazel
//   not yet seen: nut/walnut
//   after Refresh(): nut/walnut
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/slice_transform.h"

namespace {

void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

// A loop ends at the end of the data and after an error: status() tells which.
void PrintRest(const char* what, ashlar::Iterator* it) {
  std::printf("%s:", what);
  for (; it->Valid(); it->Next()) std::printf(" %s", it->key().ToString().c_str());
  Require(it->status());
  std::printf("\n");
}

void ScanWithBounds(ashlar::DB* db) {
  // A bound is better than a comparison in the loop, because the iterator does not read tables and
  // blocks beyond it. The slices must live as long as the iterator.
  const ashlar::Slice begin = "fruit/b", end = "nut/b";
  ashlar::ReadOptions options;
  options.iterate_lower_bound = &begin;
  options.iterate_upper_bound = &end;  // exclusive
  std::unique_ptr<ashlar::Iterator> it(db->NewIterator(options));
  it->SeekToFirst();
  PrintRest("[fruit/b, nut/b)", it.get());
}

void ScanBackwards(ashlar::DB* db) {
  std::unique_ptr<ashlar::Iterator> it(db->NewIterator(ashlar::ReadOptions()));
  std::printf("backwards from the end of the fruits:");
  // SeekForPrev() moves to the last key at or before the target. '0' is the byte after '/'.
  for (it->SeekForPrev("fruit0"); it->Valid(); it->Prev()) {
    std::printf(" %s", it->key().ToString().c_str());
  }
  Require(it->status());
  std::printf("\n");
}

void ScanPrefix(ashlar::DB* db) {
  ashlar::ReadOptions options;
  options.prefix_same_as_start = true;  // stay within one prefix; see prefix_extractor below
  std::unique_ptr<ashlar::Iterator> it(db->NewIterator(options));
  it->Seek("nut/");
  PrintRest("prefix nut/", it.get());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  ashlar::Options options;
  options.create_if_missing = true;
  options.prefix_extractor.reset(ashlar::NewFixedPrefixTransform(4));
  std::unique_ptr<ashlar::DB> db;
  Require(ashlar::DB::Open(options, argv[1], &db));
  const ashlar::WriteOptions write;
  for (const char* key : {"nut/hazel", "fruit/pear", "fruit/apple", "nut/almond", "fruit/plum"}) {
    Require(db->Put(write, key, "x"));
  }

  ashlar::ReadOptions in_order;
  in_order.total_order_seek = true;  // a scan over all prefixes
  std::unique_ptr<ashlar::Iterator> it(db->NewIterator(in_order));
  it->SeekToFirst();
  PrintRest("all", it.get());
  ScanWithBounds(db.get());
  ScanBackwards(db.get());
  ScanPrefix(db.get());

  Require(db->Put(write, "nut/walnut", "x"));
  it->Seek("nut/walnut");
  std::printf("%s: nut/walnut\n", it->Valid() ? "already seen" : "not yet seen");
  Require(it->Refresh());  // cheaper than a new iterator
  it->Seek("nut/walnut");
  PrintRest("after Refresh()", it.get());
  it.reset();  // iterators must be deleted before the database
  Require(db->Close());
  return 0;
}
