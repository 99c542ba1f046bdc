// SPDX-License-Identifier: Apache-2.0
//
// Iterators over several families in one key order. If several families have a key,
// CoalescingIterator unites their columns, and GroupingIterator shows the columns of each family.
//
// FamilyCursors moves the iterators of the families together. In forward direction each iterator is
// at the shown key or after it; in backward direction, at it or before it. There are only a few
// families, so each step looks at all of them. The iterators of a transaction end with it, wherever
// they are; then nothing is shown any more. Threads: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
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
  // At least one cursor; all of them use the order of `order`, and were opened with `options`.
  FamilyCursors(std::vector<Cursor> cursors, const Comparator* order, const ReadOptions& options);

  void SeekToFirst();
  void SeekToLast();
  void Seek(const Slice& target);
  void SeekForPrev(const Slice& target);
  void Next();
  void Prev();

  bool Valid() const;
  Slice key() const { return holders_.front()->iterator->key(); }
  Status status() const;
  // The cursors that are at the present key, in the order in which the families were given.
  // Directly after a move all of them are valid; none: Valid() is false.
  const std::vector<Cursor*>& holders() const { return holders_; }
  // With ReadOptions::allow_unprepared_value, values are read only by PrepareValues().
  bool leaves_values_unread() const { return leaves_values_unread_; }
  bool PrepareValues();
  // Asks the first iterator: all were opened with the same options.
  Status GetProperty(std::string name, std::string* value) const;

 private:
  enum class Direction : uint8_t { kForward, kReverse };

  template <typename Move>
  void MoveAll(Direction direction, Move&& move);
  // Finds the next key in the direction, and the cursors that are at it.
  void FindHolders();
  void NextTailing();
  // Returns whether the key is still there that was shown.
  bool TurnAround(Direction direction);
  void Fail(const Status& status);

  std::vector<Cursor> cursors_;
  const Comparator* order_ = nullptr;  // outlives the object
  bool leaves_values_unread_ = false;
  bool is_tailing_ = false;
  Direction direction_ = Direction::kForward;
  std::vector<Cursor*> holders_;
  Status status_;
};

// Opens the cursors. `open` adds one iterator for each family, in order, all of one moment; its
// error is returned. InvalidArgument: there are no families, or they have different orders.
using OpenIterators = std::function<Status(std::vector<std::unique_ptr<Iterator>>* iterators)>;
Status OpenFamilyCursors(const ReadOptions& options,
                         const std::vector<ColumnFamilyHandle*>& families,
                         const OpenIterators& open, FamilyCursors* cursors);
// Opens an iterator of each family of `db` and makes cursors of them.
Status OpenFamilyCursors(DB* db, const ReadOptions& options,
                         const std::vector<ColumnFamilyHandle*>& families, FamilyCursors* cursors);

// Shows the columns of all families together. If several families have a column of the same name,
// the last family wins.
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
  Status GetProperty(std::string prop_name, std::string* prop) override;

 private:
  // Called after each move.
  void Arrive();
  void Coalesce();

  FamilyCursors cursors_;
  WideColumns columns_;
  Slice value_;  // the value of the default column
};

// Shows the columns of each family separately.
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
