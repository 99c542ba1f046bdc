// SPDX-License-Identifier: Apache-2.0
//
// What a filter says of the entries of a stream, and what becomes of them.
//
// Runs are text: "a9" is a value "va9" of key a with sequence number 9; '-' at the end makes it a
// delete, '+' a merge operand, '*' an entity with that value. What comes out is written alike, with
// the value behind '=' where the filter has changed it, and '!' for a single delete.
#include "db/output/entry_filter.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/merge_operator.h"
#include "db/output/entry_stream.h"
#include "memtable/memtable.h"
#include "tests/db/output/tables_of_keys.h"
#include "tests/support/status_matchers.h"
#include "util/keys/wide_column_encoding.h"
#include "util/memory/arena.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Decision = CompactionFilter::Decision;

const InternalKeyComparator& FilterOrder() {
  static const InternalKeyComparator comparator(BytewiseComparator());
  return comparator;
}

// Decides by the value, whose last letter may say what it is of.
class Scripted final : public CompactionFilter {
 public:
  struct Answer {
    Decision decision = Decision::kKeep;
    std::string argument;
  };
  explicit Scripted(std::map<std::string, Answer> answers) : answers_(std::move(answers)) {}
  const char* Name() const override { return "Scripted"; }
  Decision FilterV3(int /*level*/, const Slice& key, ValueType type, const Slice* value,
                    const WideColumns* columns, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string* skip_until) const override {
    const std::string text = (value != nullptr ? *value : columns->front().value()).ToString();
    StrAppend(&asked_, asked_.empty() ? "" : " ", text);
    if (type != kValue) asked_ += type == kMergeOperand ? '+' : '*';
    EXPECT_EQ(text[1], key[0]);
    const auto found = answers_.find(text);
    if (found == answers_.end()) return Decision::kKeep;
    *new_value = *skip_until = found->second.argument;
    new_columns->assign({{"z", found->second.argument}, {"b", "2"}});
    if (found->second.argument == "twice") new_columns->front().first = "b";
    return found->second.decision;
  }
  const std::string& asked() const { return asked_; }

 private:
  const std::map<std::string, Answer> answers_;
  mutable std::string asked_;
};

ValueType TypeOf(char mark) {
  switch (mark) {
    case '-': return kTypeDeletion;
    case '+': return kTypeMerge;
    case '*': return kTypeWideColumnEntity;
    default: return kTypeValue;
  }
}

class FilteredStream {
 public:
  explicit FilteredStream(std::map<std::string, Scripted::Answer> answers)
      : script_(std::move(answers)),
        filter_({.filter = &script_, .comparator = BytewiseComparator()}) {
    options_.comparator = &FilterOrder();
    options_.filter = &filter_;
  }
  ~FilteredStream() {
    for (MemTable* memtable : memtables_) memtable->Unref();
  }
  EntryStreamOptions& options() { return options_; }

  std::string Of(const std::vector<std::string>& runs) {
    SortedRuns opened{.runs = {}, .home = IteratorHome::kArena};
    for (const std::string& run : runs) {
      memtables_.push_back(new MemTable(FilterOrder(), MemTableOptions(), memtables_.size() + 1));
      std::istringstream entries(run);
      for (std::string entry; entries >> entry;) Add(entry);
      opened.runs.emplace_back(memtables_.back()->NewIterator(&arena_));
    }
    EntryStream stream(options_, std::move(opened));
    std::string out;
    for (stream.SeekToFirst(); stream.Valid(); stream.Next()) {
      StrAppend(&out, out.empty() ? "" : " ", Text(stream.key(), stream.value()));
    }
    counts_ = stream.counts();
    status_ = stream.status();
    return out;
  }
  const std::string& asked() const { return script_.asked(); }
  const EntryStream::Counts& counts() const { return counts_; }
  const Status& status() const { return status_; }

 private:
  void Add(const std::string& entry) {
    const ValueType type = TypeOf(entry.back());
    std::string value = "v" + entry.substr(0, 2);
    if (type == kTypeWideColumnEntity) {
      const std::string plain = std::exchange(value, "");
      EXPECT_OK(AppendEncodedColumns({{"a", plain}}, &value));
    }
    EXPECT_OK(memtables_.back()->Add(std::stoull(entry.substr(1)), type, entry.substr(0, 1),
                                     type == kTypeDeletion ? "" : value));
  }
  static std::string Text(const Slice& key, const Slice& value) {
    const uint64_t trailer = ExtractTrailer(key);
    const ValueType type = TrailerType(trailer);
    std::string text = StrCat(ExtractUserKey(key).ToString(), TrailerSeqno(trailer));
    if (type == kTypeDeletion || type == kTypeSingleDeletion) {
      EXPECT_TRUE(value.empty());
      return text + (type == kTypeDeletion ? "-" : "!");
    }
    std::string plain = value.ToString();
    if (type == kTypeWideColumnEntity) {
      WideColumns columns;
      EXPECT_OK(DecodeColumns(value, &columns));
      plain.clear();
      for (const WideColumn& column : columns) plain += column.value().ToString();
    }
    if (type != kTypeValue) text += type == kTypeMerge ? "+" : "*";
    const bool is_old = plain.size() == 3 && plain.substr(0, 2) == "v" + text.substr(0, 1);
    return is_old ? text : text + "=" + plain;
  }

  Scripted script_;
  EntryFilter filter_;
  EntryStreamOptions options_;
  std::vector<MemTable*> memtables_;
  Arena arena_;
  EntryStream::Counts counts_;
  Status status_;
};

std::shared_ptr<MergeOperator> Appending() {
  std::shared_ptr<MergeOperator> made;
  EXPECT_OK(MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &made));
  return made;
}

TEST(EntryFilter, IsOfferedTheNewestVersionUnlessATombstoneIsIt) {
  FilteredStream stream({});
  stream.options().snapshots = {3, 6};
  EXPECT_EQ(stream.Of({"a9 b8- c2", "a5 b5"}), "a9 a5 b8- b5 c2");
  EXPECT_EQ(stream.asked(), "va9 vc2");
}

TEST(EntryFilter, WhatItRemovesLeavesATombstoneWhereSomethingMayBeBelow) {
  const TablesOfKeys tables("c");
  DeeperLevels below(FilterOrder(), {tables.files()});
  FilteredStream stream({{"va9", {Decision::kRemove, ""}},
                         {"vc7", {Decision::kRemove, ""}},
                         {"vd4", {Decision::kPurge, ""}}});
  stream.options().below = &below;
  stream.options().snapshots = {3};
  EXPECT_EQ(stream.Of({"a2 c7 d4", "a1"}), "a2 c7- d4!");
  EXPECT_EQ(stream.counts().filtered, 2u);
  FilteredStream bottom({{"va9", {Decision::kRemove, ""}}, {"vb3", {Decision::kPurge, ""}}});
  bottom.options().is_bottommost = true;
  EXPECT_EQ(bottom.Of({"a9 a5 b3 c2"}), "c0");
  EXPECT_EQ(bottom.counts().hidden, 1u);
}

TEST(EntryFilter, AtTheBottomATombstoneStaysOnlyForSnapshots) {
  FilteredStream stream({{"va9", {Decision::kRemove, ""}}});
  stream.options().is_bottommost = true;
  stream.options().snapshots = {6};
  EXPECT_EQ(stream.Of({"a9 a5"}), "a9- a0");
}

TEST(EntryFilter, ChangesValuesAndKinds) {
  FilteredStream stream({{"va9", {Decision::kChangeValue, "new"}},
                         {"vb3", {Decision::kChangeWideColumnEntity, "1"}},
                         {"vc2", {Decision::kChangeValue, "plain"}},
                         {"vd1", {Decision::kChangeWideColumnEntity, "3"}}});
  stream.options().is_bottommost = true;
  stream.options().snapshots = {2};
  EXPECT_EQ(stream.Of({"a9 b3 c2* d1* e1*"}), "a9=new b3*=21 c0=plain d0*=23 e0*");
  EXPECT_EQ(stream.asked(), "va9 vb3 vc2* vd1* ve1*");
}

TEST(EntryFilter, IsOfferedEachOperandThatNoSnapshotSees) {
  FilteredStream stream({{"va8", {Decision::kRemove, ""}}, {"va7", {Decision::kChangeValue, "7"}}});
  stream.options().snapshots = {5};
  EXPECT_EQ(stream.Of({"a9+ a8+ a7+ a5+ a4"}), "a9+ a7+=7 a5+ a4");
  EXPECT_EQ(stream.asked(), "va9+ va8+ va7+");
}

// Long operands are not copied where their memory stays; that of the filter does not.
TEST(EntryFilter, ChangedOperandsAreFolded) {
  const auto appending = Appending();
  FilteredStream stream({{"va9", {Decision::kChangeValue, std::string(2000, 'x')}},
                         {"va8", {Decision::kChangeValue, std::string(2000, 'y')}},
                         {"va7", {Decision::kRemove, ""}}});
  stream.options().merge.merge_operator = appending.get();
  EXPECT_EQ(stream.Of({"a9+ a8+ a7+ a6 b1"}),
            StrCat("a9=va6,", std::string(2000, 'y'), ",", std::string(2000, 'x'), " b1"));
}

TEST(EntryFilter, WithoutTheirOperandsValuesAreOffered) {
  const auto appending = Appending();
  FilteredStream stream({{"va9", {Decision::kRemove, ""}},
                         {"va8", {Decision::kRemove, ""}},
                         {"va5", {Decision::kChangeValue, "five"}}});
  stream.options().merge.merge_operator = appending.get();
  EXPECT_EQ(stream.Of({"a9+ a8+ a5 a4", "b1+"}), "a5=five b1+");
  EXPECT_EQ(stream.asked(), "va9+ va8+ va5 vb1+");
}

TEST(EntryFilter, SkipsWithoutReading) {
  FilteredStream stream({{"vb5", {Decision::kRemoveAndSkipUntil, "d"}}});
  EXPECT_EQ(stream.Of({"a9 b5 c4 d3", "b2 c3 e1"}), "a9 d3 e1");
  EXPECT_EQ(stream.asked(), "va9 vb5 vd3 ve1");
  EXPECT_TRUE(stream.counts().has_skipped);
  EXPECT_EQ(stream.counts().read, 4u);
  EXPECT_EQ(stream.counts().filtered, 1u);
}

TEST(EntryFilter, SkipsOnlyForwards) {
  for (const char* const until : {"", "a", "b"}) {
    FilteredStream stream({{"vb5", {Decision::kRemoveAndSkipUntil, until}}});
    EXPECT_EQ(stream.Of({"a9 b5 c4"}), "a9 b5 c4") << until;
    EXPECT_FALSE(stream.counts().has_skipped);
  }
}

TEST(EntryFilter, SkippingFromAnOperandTakesItsWholeKey) {
  const auto appending = Appending();
  for (const char* const runs : {"a9+ a8+ a7+ b6 c5+ c4+ d3", "a9+ a8+ a7 b6 c5+ c4+ d3"}) {
    FilteredStream stream({{"va8", {Decision::kRemoveAndSkipUntil, "c"}},
                           {"vc4", {Decision::kRemoveAndSkipUntil, "cc"}}});
    stream.options().merge.merge_operator = appending.get();
    EXPECT_EQ(stream.Of({runs}), "d3") << runs;
    EXPECT_OK(stream.status());
  }
  FilteredStream at_end({{"va8", {Decision::kRemoveAndSkipUntil, "z"}}});
  at_end.options().merge.merge_operator = appending.get();
  EXPECT_EQ(at_end.Of({"a9+ a8+ a7 b6"}), "");
  EXPECT_OK(at_end.status());
}

TEST(EntryFilter, AnotherSkipDoesNotBringTheOperandsBack) {
  const auto appending = Appending();
  for (const char* const runs : {"a9+ a8+ a7 c6 d3", "a9+ a8+ a7 c6+ c5+ d3"}) {
    FilteredStream stream({{"va8", {Decision::kRemoveAndSkipUntil, "c"}},
                           {"vc6", {Decision::kRemoveAndSkipUntil, "d"}}});
    stream.options().merge.merge_operator = appending.get();
    EXPECT_EQ(stream.Of({runs}), "d3") << runs;
    EXPECT_OK(stream.status());
  }
}

TEST(EntryFilter, SkippingFromTheNextKeyLeavesOperandsAlone) {
  const auto appending = Appending();
  FilteredStream stream({{"vb6", {Decision::kRemoveAndSkipUntil, "c"}}});
  stream.options().merge.merge_operator = appending.get();
  stream.options().is_bottommost = true;
  EXPECT_EQ(stream.Of({"a9+ a8+ b6 b5 c4"}), "a0=va8,va9 c0");
}

// b5 is there for the snapshot 6 only.
TEST(EntryFilter, IsNotOfferedWhatOnlySnapshotsSee) {
  const FragmentedTombstones tombstones(FilterOrder(), {{"b", "c", 7}});
  FilteredStream stream({});
  stream.options().tombstones = &tombstones;
  stream.options().snapshots = {6};
  stream.options().is_bottommost = true;
  EXPECT_EQ(stream.Of({"a4 b5 c3"}), "a0 b0 c0");
  EXPECT_EQ(stream.asked(), "va4 vc3");
}

TEST(EntryFilter, BadDecisionsEndTheStreamAndNameTheFilter) {
  const struct {
    Decision decision;
    const char* argument;
    const char* entry;
    Status::Code code;
  } cases[] = {
      {Decision::kIOError, "", "b5", Status::kIOError},
      {Decision::kChangeBlobIndex, "", "b5", Status::kNotSupported},
      {Decision::kUndetermined, "", "b5", Status::kNotSupported},
      {Decision::kChangeWideColumnEntity, "1", "b5+", Status::kNotSupported},
      {Decision::kChangeWideColumnEntity, "twice", "b5", Status::kCorruption},
      {static_cast<Decision>(77), "", "b5", Status::kInvalidArgument},
  };
  for (const auto& test : cases) {
    FilteredStream stream({{"vb5", {test.decision, test.argument}}});
    EXPECT_EQ(stream.Of({StrCat("a9 ", test.entry, " c4")}), "a9");
    EXPECT_EQ(stream.status().code(), test.code) << stream.status().ToString();
    EXPECT_NE(stream.status().ToString().find("Scripted, key (1 bytes)"), std::string::npos)
        << stream.status().ToString();
  }
}

}  // namespace
}  // namespace ashlar
