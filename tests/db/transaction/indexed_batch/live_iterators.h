// SPDX-License-Identifier: Apache-2.0
//
// Iterators over the batch and the database of a BatchGround, which live while both are written to;
// each with what it is to show.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/db/transaction/indexed_batch/batch_ground.h"
#include "tests/db/transaction/indexed_batch/passing_iterator.h"

namespace ashlar {

// An iterator and what it is to show. Bounds: lower and upper of the base, then of the batch.
struct LiveIterator {
  size_t family;
  bool passes_on;                     // its base is an iterator of another class
  Table base{ByComparator{nullptr}};  // what its base shows
  bool is_bounded[4];
  std::string bounds[4];
  Slice slices[4];
  std::optional<std::pair<std::string, Cell>> at;  // where it stands
  std::unique_ptr<Iterator> iterator;

  const std::string* bound(size_t i) const { return is_bounded[i] ? &bounds[i] : nullptr; }
  std::string Describe() const {
    std::string text = StrCat(passes_on ? "foreign" : "ours", " over family ", family);
    for (size_t i = 0; i < 4; ++i) text += is_bounded[i] ? " '" + bounds[i] + "'" : " -";
    return text + (at.has_value() ? " from " + at->first : "");
  }
};

class LiveIterators : public BatchGround {
 public:
  using BatchGround::BatchGround;

 protected:
  void OpenIterator() {
    if (live_.size() == 3) live_.erase(live_.begin() + static_cast<ptrdiff_t>(Below(3)));
    auto live = std::make_unique<LiveIterator>();
    live->family = AnyFamily();
    const Family& family = families_[live->family];
    const bool is_bounded_alike = OneIn(2);
    for (size_t i = 0; i < 4; ++i) {
      live->is_bounded[i] = OneIn(4);
      live->bounds[i] = AnyKey(live->family);
      if (i >= 2 && is_bounded_alike) {
        live->is_bounded[i] = live->is_bounded[i - 2];
        live->bounds[i] = live->bounds[i - 2];
      }
      live->slices[i] = live->bounds[i];
    }
    const auto slice = [&](size_t i) { return live->is_bounded[i] ? &live->slices[i] : nullptr; };
    ReadOptions options;
    options.iterate_lower_bound = slice(0);
    options.iterate_upper_bound = slice(1);
    ReadOptions own = options;
    if (!is_bounded_alike) {
      own.iterate_lower_bound = slice(2);
      own.iterate_upper_bound = slice(3);
    }
    if (OneIn(2)) {
      options.snapshot = db_->GetSnapshot();
      snapshots_.push_back(options.snapshot);
    }
    options.auto_refresh_iterator_with_snapshot = OneIn(4);
    live->base = family.table;
    std::erase_if(live->base, [&](const auto& row) {
      const std::string* const lower = live->bound(0);
      const std::string* const upper = live->bound(1);
      return (lower != nullptr && family.comparator->Compare(row.first, *lower) < 0) ||
             (upper != nullptr && family.comparator->Compare(row.first, *upper) >= 0);
    });
    std::unique_ptr<Iterator> base(db_->NewIterator(options, family.handle));
    live->passes_on = OneIn(3);
    if (live->passes_on) base = std::make_unique<PassingIterator>(std::move(base));
    const bool is_unbounded = !live->is_bounded[2] && !live->is_bounded[3] && OneIn(2);
    live->iterator.reset(
        batch_.NewIteratorWithBase(family.handle, base.release(), is_unbounded ? nullptr : &own));
    EXPECT_FALSE(live->iterator->Valid());
    live_.push_back(std::move(live));
  }

  // A step or a seek of an iterator; what it shows then is what comes next in the keys as they are
  // now. Before that it shows what it came to, whatever was written since.
  void MoveIterator() {
    if (live_.empty()) return OpenIterator();
    LiveIterator& live = *live_[Below(live_.size())];
    const Family& family = families_[live.family];
    const Table rows = model_.Over(live.base, family.handle->GetID(), live.bound(2), live.bound(3));
    if (live.at.has_value()) ExpectShown(live, live.at->first, live.at->second);
    for (size_t moves = 1 + Below(4); moves > 0; --moves) Move(&live, family, rows);
  }
  void CloseIterators() { live_.clear(); }
  void ExpectCutOff() {
    for (const auto& live : live_) {
      EXPECT_FALSE(live->iterator->Valid());
      EXPECT_TRUE(live->iterator->status().IsInvalidArgument());
      live->iterator->SeekToFirst();
      EXPECT_FALSE(live->iterator->Valid());
    }
    live_.clear();
  }

 private:
  void Move(LiveIterator* live, const Family& family, const Table& rows) {
    Iterator& iterator = *live->iterator;
    const size_t kind = Below(live->at.has_value() ? 10 : 4);
    Table::const_iterator next = rows.end();
    bool is_forward = true;
    if (kind == 0) {
      iterator.SeekToFirst();
      next = rows.begin();
    } else if (kind == 1) {
      iterator.SeekToLast();
      is_forward = false;
    } else if (kind < 4) {
      const std::string target =
          OneIn(8) && live->at.has_value() ? live->at->first : AnyKey(live->family);
      is_forward = kind == 2;
      is_forward ? iterator.Seek(target) : iterator.SeekForPrev(target);
      next = is_forward ? rows.lower_bound(target) : rows.upper_bound(target);
    } else {
      is_forward = kind < 7;
      is_forward ? iterator.Next() : iterator.Prev();
      next = is_forward ? rows.upper_bound(live->at->first) : rows.lower_bound(live->at->first);
    }
    SCOPED_TRACE(StrCat(live->Describe(), ", move ", kind));
    bool is_valid = next != rows.end();
    if (!is_forward) {
      is_valid = next != rows.begin();
      if (is_valid) --next;
    }
    ASSERT_OK(iterator.status());
    ASSERT_EQ(iterator.Valid(), is_valid);
    live->at.reset();
    if (!is_valid) return ExpectMisuseRefused(&iterator);
    live->at = *next;
    ExpectShown(*live, next->first, next->second);
    // Keys that are equal to the comparator are shown as they were written by one or the other.
    EXPECT_EQ(family.comparator->Compare(iterator.key(), next->first), 0);
  }
  static void ExpectMisuseRefused(Iterator* iterator) {
    iterator->Next();
    EXPECT_FALSE(iterator->Valid());
    EXPECT_TRUE(iterator->status().IsNotSupported());
    iterator->Prev();
    EXPECT_TRUE(iterator->status().IsNotSupported());
  }
  static void ExpectShown(const LiveIterator& live, const std::string& key, const Cell& cell) {
    ASSERT_TRUE(live.iterator->Valid());
    if (live.family == 2) {
      EXPECT_EQ(CaselessComparator::Lower(live.iterator->key()), CaselessComparator::Lower(key));
    } else {
      EXPECT_EQ(live.iterator->key().ToString(), key);
    }
    EXPECT_EQ(live.iterator->value().ToString(), cell.DefaultColumn());
    EXPECT_EQ(ShowColumns(live.iterator->columns()), cell.ToString());
  }

  std::vector<std::unique_ptr<LiveIterator>> live_;
};

}  // namespace ashlar
