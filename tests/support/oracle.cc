// SPDX-License-Identifier: Apache-2.0
//
// Brute force: every version is kept, every read examines all of them.
#include "tests/support/oracle.h"

#include <iterator>

namespace ashlar {

std::optional<ValueSpec> OracleFamily::ValueAt(const std::vector<Version>& versions,
                                               uint64_t seqno) {
  std::optional<ValueSpec> result;
  uint64_t newest = 0;
  for (const Version& version : versions) {
    if (version.seqno > seqno || version.seqno < newest) continue;
    newest = version.seqno;
    if (version.is_operand && result.has_value()) {
      result->operands.push_back(*version.value);
    } else {
      result = version.value;
    }
  }
  return result;
}

// Keys that were never written need no entry.
void OracleFamily::DeleteRange(uint64_t seqno, const std::string& begin, const std::string& end) {
  if (comparator()->Compare(begin, end) >= 0) return;
  const auto last = keys_.lower_bound(end);
  for (auto it = keys_.lower_bound(begin); it != last; ++it) {
    it->second.push_back({seqno, std::nullopt});
  }
}

std::optional<ValueSpec> OracleFamily::At(const std::string& key, uint64_t seqno) const {
  const auto it = keys_.find(key);
  return it == keys_.end() ? std::nullopt : ValueAt(it->second, seqno);
}

std::vector<OracleRow> OracleFamily::RowsAt(uint64_t seqno) const {
  std::vector<OracleRow> rows;
  for (const auto& [key, versions] : keys_) {
    const std::optional<ValueSpec> value = ValueAt(versions, seqno);
    if (value.has_value()) rows.emplace_back(key, *value);
  }
  return rows;
}

std::vector<std::string> OracleFamily::AllKeys() const {
  std::vector<std::string> result;
  for (const auto& entry : keys_) result.push_back(entry.first);
  return result;
}

size_t OracleFamily::LivePuts(const std::string& key) const {
  const auto it = keys_.find(key);
  size_t count = 0;
  if (it == keys_.end()) return count;
  for (const Version& version : it->second) {
    count = version.value.has_value() ? count + (version.is_operand ? 2 : 1) : 0;
  }
  return count;
}

void OracleFamily::KeepMatching(const std::map<std::string, std::string>& rows, uint64_t first,
                                std::vector<bool>* moments) const {
  size_t known = 0;
  for (const auto& [key, versions] : keys_) {
    const auto row = rows.find(key);
    if (row != rows.end()) ++known;
    // Between two versions the answer is the same, so each version is examined once.
    std::optional<ValueSpec> last;
    bool is_right = row == rows.end();
    for (size_t i = 0; i < moments->size(); ++i) {
      const std::optional<ValueSpec> value = ValueAt(versions, first + i);
      if (i == 0 || value != last) {
        last = value;
        is_right = value.has_value() ? row != rows.end() && row->second == value->Expand()
                                     : row == rows.end();
      }
      if (!is_right) (*moments)[i] = false;
    }
  }
  if (known != rows.size()) moments->assign(moments->size(), false);
}

void OracleFamily::RollBackTo(uint64_t seqno) {
  for (auto& [key, versions] : keys_) {
    std::erase_if(versions, [&](const Version& version) { return version.seqno > seqno; });
  }
}

OracleIterator::OracleIterator(std::shared_ptr<const OracleFamily> family, uint64_t seqno,
                               std::optional<std::string> lower, std::optional<std::string> upper)
    : family_(std::move(family)),
      lower_(std::move(lower)),
      upper_(std::move(upper)),
      seqno_(seqno),
      position_(family_->keys_.end()) {}

void OracleIterator::Refresh(uint64_t seqno) {
  seqno_ = seqno;
  is_valid_ = false;
}

bool OracleIterator::Accept(Position at) {
  const std::optional<ValueSpec> value = OracleFamily::ValueAt(at->second, seqno_);
  if (!value.has_value()) return false;
  const Comparator* order = family_->comparator();
  position_ = at;
  value_ = *value;
  is_valid_ = (!lower_.has_value() || order->Compare(at->first, *lower_) >= 0) &&
              (!upper_.has_value() || order->Compare(at->first, *upper_) < 0);
  return true;
}

void OracleIterator::GoForward(Position from) {
  is_valid_ = false;
  while (from != family_->keys_.end() && !Accept(from)) ++from;
}

void OracleIterator::GoBackward(Position from) {
  is_valid_ = false;
  while (from != family_->keys_.begin()) {
    if (Accept(--from)) return;
  }
}

void OracleIterator::SeekToFirst() {
  GoForward(lower_.has_value() ? family_->keys_.lower_bound(*lower_) : family_->keys_.begin());
}

void OracleIterator::SeekToLast() {
  GoBackward(upper_.has_value() ? family_->keys_.lower_bound(*upper_) : family_->keys_.end());
}

void OracleIterator::Seek(const std::string& key) {
  const bool is_below = lower_.has_value() && family_->comparator()->Compare(key, *lower_) < 0;
  GoForward(family_->keys_.lower_bound(is_below ? *lower_ : key));
}

void OracleIterator::SeekForPrev(const std::string& key) {
  if (upper_.has_value() && family_->comparator()->Compare(key, *upper_) >= 0) return SeekToLast();
  GoBackward(family_->keys_.upper_bound(key));
}

void OracleIterator::Next() { GoForward(std::next(position_)); }
void OracleIterator::Prev() { GoBackward(position_); }

std::shared_ptr<OracleFamily> Oracle::Family(int family) const {
  const auto it = families_.find(family);
  return it == families_.end() ? nullptr : it->second;
}

void Oracle::Write(const TraceOp& op) {
  ++seqno_;
  const auto write = [this](OpKind kind, int number, const std::string& key,
                            const ValueSpec& value) {
    const auto family = Family(number);
    if (family == nullptr) return;
    if (kind == OpKind::kMerge) return family->Merge(seqno_, key, value);
    if (kind != OpKind::kPut) return family->Write(seqno_, key, std::nullopt);
    ValueSpec put = value;
    put.is_entity = value.IsPutAsEntity();
    family->Write(seqno_, key, std::move(put));
  };
  const auto delete_range = [this](int number, const std::string& begin, const std::string& end) {
    if (auto family = Family(number)) family->DeleteRange(seqno_, begin, end);
  };
  if (op.kind == OpKind::kDeleteRange) {
    delete_range(op.family, op.keys.front(), op.keys.back());
  } else if (op.kind != OpKind::kBatch) {
    write(op.kind, op.family, op.keys.front(), op.value);
  }
  for (const BatchPart& part : op.parts) {
    if (part.kind == OpKind::kDeleteRange) {
      delete_range(part.family, part.key, part.end);
    } else {
      write(part.kind, part.family, part.key, part.value);
    }
  }
}

std::optional<uint64_t> Oracle::FindMoment(
    const std::map<int, std::map<std::string, std::string>>& contents, uint64_t first) const {
  std::vector<bool> moments(seqno_ - first + 1, true);
  for (const auto& [number, rows] : contents) Family(number)->KeepMatching(rows, first, &moments);
  for (size_t i = moments.size(); i-- > 0;) {
    if (moments[i]) return first + i;
  }
  return std::nullopt;
}

void Oracle::RollBackTo(uint64_t seqno) {
  for (auto& family : families_) family.second->RollBackTo(seqno);
  seqno_ = seqno;
}

}  // namespace ashlar
