// SPDX-License-Identifier: Apache-2.0
//
// The oracle computes the answers that a database must give, by brute force and without an LSM
// tree. For each family it stores every version of every key; a read examines all of them. Threads:
// one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "tests/support/trace.h"

namespace ashlar {

using OracleRow = std::pair<std::string, ValueSpec>;

class OracleFamily {
 public:
  explicit OracleFamily(const Comparator* comparator) : keys_(Less{comparator}) {}

  void Write(uint64_t seqno, const std::string& key, std::optional<ValueSpec> value) {
    keys_[key].push_back({seqno, std::move(value)});
  }
  void Merge(uint64_t seqno, const std::string& key, ValueSpec operand) {
    keys_[key].push_back({seqno, std::move(operand), /*is_operand=*/true});
  }
  // Deletes [begin, end); no effect if begin >= end.
  void DeleteRange(uint64_t seqno, const std::string& begin, const std::string& end);
  std::optional<ValueSpec> At(const std::string& key, uint64_t seqno) const;
  std::vector<OracleRow> RowsAt(uint64_t seqno) const;  // in the comparator's order
  std::vector<std::string> AllKeys() const;             // all keys ever written
  // The number of puts since the key was last deleted; an operand counts as two. A single-delete is
  // legal if there is at most one.
  size_t LivePuts(const std::string& key) const;
  // Removes from the set of possible moments those from `first` on at which the family did not have
  // exactly these rows.
  void KeepMatching(const std::map<std::string, std::string>& rows, uint64_t first,
                    std::vector<bool>* moments) const;
  // Removes everything after this number.
  void RollBackTo(uint64_t seqno);
  const Comparator* comparator() const { return keys_.key_comp().comparator; }

 private:
  friend class OracleIterator;
  struct Version {
    uint64_t seqno;
    std::optional<ValueSpec> value;  // nullopt: deleted
    bool is_operand = false;
  };
  struct Less {
    const Comparator* comparator;
    bool operator()(const std::string& a, const std::string& b) const {
      return comparator->Compare(a, b) < 0;
    }
  };
  using Keys = std::map<std::string, std::vector<Version>, Less>;

  static std::optional<ValueSpec> ValueAt(const std::vector<Version>& versions, uint64_t seqno);

  Keys keys_;
};

// An iterator over the state at one moment.
class OracleIterator {
 public:
  OracleIterator(std::shared_ptr<const OracleFamily> family, uint64_t seqno,
                 std::optional<std::string> lower, std::optional<std::string> upper);

  // An iterator with the same bounds at another moment; not positioned.
  void Refresh(uint64_t seqno);
  bool Valid() const { return is_valid_; }
  const std::string& key() const { return position_->first; }
  const ValueSpec& value() const { return value_; }
  void SeekToFirst();
  void SeekToLast();
  void Seek(const std::string& key);
  void SeekForPrev(const std::string& key);
  void Next();
  void Prev();

 private:
  using Position = OracleFamily::Keys::const_iterator;

  // The first key at or after `from`, or the last one before it, that has a value.
  void GoForward(Position from);
  void GoBackward(Position from);
  bool Accept(Position at);

  const std::shared_ptr<const OracleFamily> family_;
  const std::optional<std::string> lower_, upper_;
  uint64_t seqno_;
  Position position_;
  ValueSpec value_;
  bool is_valid_ = false;
};

class Oracle {
 public:
  explicit Oracle(const Comparator* comparator) : comparator_(comparator) { CreateFamily(0); }

  void CreateFamily(int family) { families_[family] = std::make_shared<OracleFamily>(comparator_); }
  void DropFamily(int family) { families_.erase(family); }
  // Null if there is no such family.
  std::shared_ptr<OracleFamily> Family(int family) const;
  const std::map<int, std::shared_ptr<OracleFamily>>& families() const { return families_; }

  // Applies a put, delete, single-delete or batch, which becomes visible at a single number. Parts
  // for families that do not exist are ignored.
  void Write(const TraceOp& op);
  uint64_t seqno() const { return seqno_; }

  // The newest moment, not before `first`, at which the families had exactly these rows.
  std::optional<uint64_t> FindMoment(
      const std::map<int, std::map<std::string, std::string>>& contents, uint64_t first) const;
  void RollBackTo(uint64_t seqno);

 private:
  const Comparator* const comparator_;
  std::map<int, std::shared_ptr<OracleFamily>> families_;
  uint64_t seqno_ = 0;
};

}  // namespace ashlar
