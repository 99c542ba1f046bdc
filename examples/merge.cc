// SPDX-License-Identifier: Apache-2.0
//
// Merge: a change that does not need the old value. This program increments a counter without
// reading it; the engine adds the operands up when the counter is read or compacted.
//
//   example_merge FOLDER
//
// Prints:
//   visits = 111
//   tags = new,cold,sale
//   an operand that is no number: Corruption
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"

namespace {

void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

bool ParseNumber(const ashlar::Slice& text, int64_t* number) {
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, *number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

// Adds decimal numbers. Addition is associative, and operands have the same form as values, so one
// function is enough. Called from many threads at the same time.
class AddNumbers final : public ashlar::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "example.AddNumbers"; }

  // Returning false makes the read fail with Corruption; no data is lost.
  bool Merge(const ashlar::Slice&, const ashlar::Slice* existing, const ashlar::Slice& operand,
             std::string* result, ashlar::Logger*) const override {
    int64_t sum = 0, more = 0;
    if (existing != nullptr && !ParseNumber(*existing, &sum)) return false;
    if (!ParseNumber(operand, &more)) return false;
    *result = std::to_string(sum + more);
    return true;
  }
};

void PrintTags(ashlar::DB* db, ashlar::ColumnFamilyHandle* tags) {
  std::string value;
  Require(db->Get(ashlar::ReadOptions(), tags, "item/1", &value));
  std::printf("tags = %s\n", value.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  // Each family has its own merge operator: the one above, and one that comes with the library.
  ashlar::ColumnFamilyOptions counters, tags;
  counters.merge_operator = std::make_shared<AddNumbers>();
  Require(ashlar::MergeOperator::CreateFromString(ashlar::ConfigOptions(), "stringappend",
                                                  &tags.merge_operator));
  ashlar::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  std::unique_ptr<ashlar::DB> db;
  std::vector<ashlar::ColumnFamilyHandle*> families;
  Require(ashlar::DB::Open(options, argv[1],
                           {{ashlar::kDefaultColumnFamilyName, counters}, {"tags", tags}},
                           &families, &db));
  const ashlar::WriteOptions write;
  for (const char* more : {"1", "10", "100"}) Require(db->Merge(write, "visits", more));
  std::string value;
  Require(db->Get(ashlar::ReadOptions(), "visits", &value));
  std::printf("visits = %s\n", value.c_str());

  for (const char* tag : {"new", "cold", "sale"}) {
    Require(db->Merge(write, families[1], "item/1", tag));
  }
  PrintTags(db.get(), families[1]);

  // Operands are not checked when they are written; an invalid one is found by the next read.
  Require(db->Merge(write, "visits", "many"));
  const ashlar::Status status = db->Get(ashlar::ReadOptions(), "visits", &value);
  std::printf("an operand that is no number: %s\n",
              status.IsCorruption() ? "Corruption" : status.ToString().c_str());
  Require(db->Put(write, "visits", "0"));  // a value hides all operands before it

  for (ashlar::ColumnFamilyHandle* family : families) {
    Require(db->DestroyColumnFamilyHandle(family));
  }
  Require(db->Close());
  return 0;
}
