// SPDX-License-Identifier: Apache-2.0
//
// Iterators over several families in one key order: of a key that several hold, CoalescingIterator
// unites the columns, and GroupingIterator shows those of each family.
//
// FamilyCursors moves the iterators of the families together: going forward each stands at the key
// shown or behind it, going backward at it or before it. There are few families, so that each step
// looks at them all. Threads: one at a time.
#pragma once

#include <memory>
#include <vector>

#include "ashlar/attribute_groups.h"
#include "ashlar/db.h"
#include "ashlar/iterator.h"

namespace ashlar {

class FamilyCursors {
 public:
  struct Cursor {
    ColumnFamilyHandle* family = nullptr;  // outlives the cursor
    std::unique_ptr<Iterator> iterator;
  };

  FamilyCursors() = default;
  // At least one, all in the order of the comparator.
  FamilyCursors(std::vector<Cursor> cursors, const Comparator* order, bool leaves_values_unread);

  void SeekToFirst();
  void SeekToLast();
  void Seek(const Slice& target);
  void SeekForPrev(const Slice& target);
  void Next();
  void Prev();

  bool Valid() const { return !holders_.empty(); }
  Slice key() const { return holders_.front()->iterator->key(); }
  Status status() const { return status_; }
  // Those that hold the present key, in the order in which the families were named.
  const std::vector<Cursor*>& holders() const { return holders_; }
  // ReadOptions::allow_unprepared_value: values wait for PrepareValues().
  bool leaves_values_unread() const { return leaves_values_unread_; }
  bool PrepareValues();

 private:
  enum class Direction : uint8_t { kForward, kReverse };

  template <typename Move>
  void MoveAll(Direction direction, Move&& move);
  // Collects the holders of the key that comes first in the direction.
  void FindHolders();
  void TurnAround(Direction direction);
  void Fail(const Status& status);

  std::vector<Cursor> cursors_;
  const Comparator* order_ = nullptr;  // outlives the object
  bool leaves_values_unread_ = false;
  Direction direction_ = Direction::kForward;
  std::vector<Cursor*> holders_;
  Status status_;
};

// As of one moment. InvalidArgument without families, or for families of several orders.
Status OpenFamilyCursors(DB* db, const ReadOptions& options,
                         const std::vector<ColumnFamilyHandle*>& families, FamilyCursors* cursors);

// The columns of all families together; of those with one name the last family's.
class CoalescingIterator final : public Iterator {
 public:
  explicit CoalescingIterator(FamilyCursors cursors) : cursors_(std::move(cursors)) {}

  bool Valid() const override { return cursors_.Valid(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  bool PrepareValue() override;
  Slice key() const override { return cursors_.key(); }
  Slice value() const override { return value_; }
  const WideColumns& columns() const override { return columns_; }
  Status status() const override { return cursors_.status(); }

 private:
  // After each move.
  void Arrive();
  void Coalesce();

  FamilyCursors cursors_;
  WideColumns columns_;
  Slice value_;  // of the default column
};

// The columns of each family by themselves.
class GroupingIterator final : public AttributeGroupIterator {
 public:
  explicit GroupingIterator(FamilyCursors cursors) : cursors_(std::move(cursors)) {}

  bool Valid() const override { return cursors_.Valid(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  bool PrepareValue() override;
  Slice key() const override { return cursors_.key(); }
  Status status() const override { return cursors_.status(); }
  const IteratorAttributeGroups& attribute_groups() const override { return groups_; }

 private:
  void Arrive();
  void Group();

  FamilyCursors cursors_;
  IteratorAttributeGroups groups_;
};

}  // namespace ashlar
