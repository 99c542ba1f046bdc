// SPDX-License-Identifier: Apache-2.0
//
// Partitioners of a program: where the outputs of compactions end, and which tables may be moved.
#include <mutex>
#include <utility>

#include "ashlar/sst_partitioner.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Cuts before keys that begin with '|', and keeps the arguments of all calls.
class BarFactory final : public SstPartitionerFactory {
 public:
  const char* Name() const override { return "BarFactory"; }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const override {
    Note(StrCat(context.is_full_compaction ? "full " : "",
                context.is_manual_compaction ? "manual " : "", "L", context.output_level, " ",
                context.smallest_user_key.ToString(), "-", context.largest_user_key.ToString()));
    return std::make_unique<Bar>(this);
  }
  std::string Take() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(notes_, "");
  }
  bool allows_moves = true;

 private:
  class Bar final : public SstPartitioner {
   public:
    explicit Bar(const BarFactory* factory) : factory_(factory) {}
    const char* Name() const override { return "Bar"; }
    PartitionerResult ShouldPartition(const PartitionerRequest& request) override {
      factory_->Note(
          StrCat(request.prev_user_key->ToString(), "<", request.current_user_key->ToString()));
      return request.current_user_key->starts_with("|") ? kRequired : kNotRequired;
    }
    bool CanDoTrivialMove(const Slice& smallest, const Slice& largest) override {
      factory_->Note(StrCat("move ", smallest.ToString(), "-", largest.ToString()));
      return factory_->allows_moves;
    }

   private:
    const BarFactory* const factory_;
  };

  void Note(const std::string& text) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    StrAppend(&notes_, notes_.empty() ? "" : ", ", text);
  }
  mutable std::mutex mutex_;
  mutable std::string notes_;
};

class Partitioners : public DbTest {
 protected:
  Partitioners() {
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
  }
  void Table(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) Put(key, "v");
    Flush();
  }
  Status Compact() { return db_->CompactRange(CompactRangeOptions(), nullptr, nullptr); }
};

TEST_F(Partitioners, OutputsEndWhereAPrefixDoes) {
  options_.sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(2);
  Open();
  Table({"aa1", "ab1", "ab2"});
  Table({"a", "aa2", "ab3", "b"});
  EXPECT_EQ(Tree(), "L0 a-b aa1-ab2") << "flushes are not cut";
  ASSERT_OK(Compact());
  EXPECT_EQ(Tree(), "L1 a-a aa1-aa2 ab1-ab3 b-b");
  Open();
  EXPECT_EQ(Tree(), "L1 a-a aa1-aa2 ab1-ab3 b-b");
}

TEST_F(Partitioners, VersionsOfAKeyStayTogether) {
  options_.sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(1);
  options_.max_subcompactions = 3;
  Open();
  Table({"a", "b", "c"});
  const Snapshot* snapshot = db_->GetSnapshot();
  Table({"a", "b"});
  Table({"b", "d"});
  ASSERT_OK(Compact());
  EXPECT_EQ(Tree(), "L1 a-a b-b c-c d-d");
  db_->ReleaseSnapshot(snapshot);
}

// A range tombstone over several partitions is cut with the outputs, and each part hides its keys.
TEST_F(Partitioners, RangeTombstonesAreCutToo) {
  options_.sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(1);
  Open();
  Table({"a1", "b1", "c1", "d1"});
  const Snapshot* snapshot = db_->GetSnapshot();
  DeleteRange("a0", "d0");
  Table({"b2"});
  ASSERT_OK(Compact());
  EXPECT_EQ(Tree(), "L1 a0-b1 b1-c1 c1-d0 d1-d1");
  for (const char* const key : {"a1", "b1", "c1"}) {
    EXPECT_EQ(Get(key), "(none)") << key;
    EXPECT_EQ(Get(key, AsOf(snapshot)), "v") << key;
  }
  EXPECT_EQ(Get("b2"), "v");
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(Partitioners, AreAskedAboutEachKeyButTheFirstOfATable) {
  const auto bars = std::make_shared<BarFactory>();
  options_.sst_partitioner_factory = bars;
  Open();
  Table({"a", "b", "|1", "|2", "~"});
  ASSERT_OK(Compact());
  EXPECT_EQ(Tree(), "L1 a-b |1-|1 |2-~");
  EXPECT_EQ(bars->Take(), "full manual L1 a-~, a<b, b<|1, |1<|2, |2<~");
  // An output on level 0 is one table.
  Table({"c", "|3"});
  Table({"d", "|4"});
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), TableNames(0), 0));
  EXPECT_EQ(Tree(), "L0 c-|4 L1 a-b |1-|1 |2-~");
  EXPECT_EQ(bars->Take(), "");
}

TEST_F(Partitioners, DecideWhichTablesMove) {
  const auto bars = std::make_shared<BarFactory>();
  options_.sst_partitioner_factory = bars;
  Open();
  CompactionOptions moves;
  moves.allow_trivial_move = true;
  Table({"a", "|b"});
  for (int level = 1; level <= 2; level++) {
    const std::vector<LiveFileMetaData> files = Tables();
    ASSERT_EQ(files.size(), 1u);
    ASSERT_OK(db_->CompactFiles(moves, {files[0].name}, level));
    EXPECT_EQ(Tree(), level == 1 ? "L1 a-|b" : "L2 a-a |b-|b");
    EXPECT_NE(bars->Take().find("move a-|b"), std::string::npos);
    bars->allows_moves = false;
  }
}

TEST_F(Partitioners, AutomaticAndUniversalCompactions) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    options_.sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(1);
    options_.compaction_style = style;
    options_.disable_auto_compactions = false;
    options_.level0_file_num_compaction_trigger = 2;
    Open();
    Table({"a1", "b1"});
    Table({"a2", "b2"});
    WaitForJobs();
    EXPECT_EQ(Tree(), style == kCompactionStyleLevel ? "L1 a1-a2 b1-b2" : "L6 a1-a2 b1-b2");
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

}  // namespace
}  // namespace ashlar
