// SPDX-License-Identifier: Apache-2.0
//
// The oracle: what a database must answer, by brute force and with no notion of an LSM. Per family
// it keeps every version of every key; a read looks at all of them. Threads: one at a time.
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
  // Of [begin, end); nothing if the end is not behind the begin.
  void DeleteRange(uint64_t seqno, const std::string& begin, const std::string& end);
  std::optional<ValueSpec> At(const std::string& key, uint64_t seqno) const;
  std::vector<OracleRow> RowsAt(uint64_t seqno) const;  // in the comparator's order
  std::vector<std::string> AllKeys() const;             // ever written
  // Puts since the key was last deleted, an operand being two; a single-delete is legal if there is
  // at most one.
  size_t LivePuts(const std::string& key) const;
  // Takes away the moments from `first` on at which the family did not hold just these rows.
  void KeepMatching(const std::map<std::string, std::string>& rows, uint64_t first,
                    std::vector<bool>* moments) const;
  // Forgets all that came later.
  void RollBackTo(uint64_t seqno);
  const Comparator* comparator() const { return keys_.key_comp().comparator; }

 private:
  friend class OracleIterator;
  struct Version {
    uint64_t seqno;
    std::optional<ValueSpec> value;  // none: deleted
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

// An iterator over what was true at one moment.
class OracleIterator {
 public:
  OracleIterator(std::shared_ptr<const OracleFamily> family, uint64_t seqno,
                 std::optional<std::string> lower, std::optional<std::string> upper);

  // The same bounds, another moment; not positioned afterwards.
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

  // To the first key at or behind `from`, or the last one before it, that has a value.
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
  // Null if there is none.
  std::shared_ptr<OracleFamily> Family(int family) const;
  const std::map<int, std::shared_ptr<OracleFamily>>& families() const { return families_; }

  // A put, delete, single-delete or batch. All of it becomes visible at one number. Parts for
  // families that do not exist are left out.
  void Write(const TraceOp& op);
  uint64_t seqno() const { return seqno_; }

  // The newest moment, not before `first`, at which the families held just these rows.
  std::optional<uint64_t> FindMoment(
      const std::map<int, std::map<std::string, std::string>>& contents, uint64_t first) const;
  void RollBackTo(uint64_t seqno);

 private:
  const Comparator* const comparator_;
  std::map<int, std::shared_ptr<OracleFamily>> families_;
  uint64_t seqno_ = 0;
};

}  // namespace ashlar
