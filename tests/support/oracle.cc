// SPDX-License-Identifier: Apache-2.0
//
// The brute force: every version is kept, every read looks at all of them.
#include "tests/support/oracle.h"

namespace ashlar {

std::optional<ValueSpec> OracleFamily::At(const std::string& key, uint64_t seqno) const {
  const auto it = keys_.find(key);
  if (it == keys_.end()) return std::nullopt;
  std::optional<ValueSpec> result;
  for (const Version& version : it->second) {
    if (version.seqno <= seqno) result = version.value;
  }
  return result;
}

std::vector<OracleRow> OracleFamily::RowsAt(uint64_t seqno) const {
  std::vector<OracleRow> rows;
  for (const auto& [key, versions] : keys_) {
    const std::optional<ValueSpec> value = At(key, seqno);
    if (value.has_value()) rows.emplace_back(key, *value);
  }
  return rows;
}

std::vector<std::string> OracleFamily::AllKeys() const {
  std::vector<std::string> result;
  for (const auto& entry : keys_) result.push_back(entry.first);
  return result;
}

OracleIterator::OracleIterator(std::shared_ptr<const OracleFamily> family, uint64_t seqno,
                               std::optional<std::string> lower, std::optional<std::string> upper)
    : family_(std::move(family)), lower_(std::move(lower)), upper_(std::move(upper)) {
  Refresh(seqno);
}

void OracleIterator::Refresh(uint64_t seqno) {
  rows_ = family_->RowsAt(seqno);
  const Comparator* order = family_->comparator();
  std::erase_if(rows_, [&](const OracleRow& row) {
    return (lower_.has_value() && order->Compare(row.first, *lower_) < 0) ||
           (upper_.has_value() && order->Compare(row.first, *upper_) >= 0);
  });
  position_ = rows_.size();
}

void OracleIterator::Seek(const std::string& key) {
  position_ = 0;
  while (Valid() && family_->comparator()->Compare(row().first, key) < 0) ++position_;
}

void OracleIterator::SeekForPrev(const std::string& key) {
  SeekToLast();
  while (Valid() && family_->comparator()->Compare(row().first, key) > 0) Prev();
}

std::shared_ptr<OracleFamily> Oracle::Family(int family) const {
  const auto it = families_.find(family);
  return it == families_.end() ? nullptr : it->second;
}

void Oracle::Write(const TraceOp& op) {
  ++seqno_;
  const auto write = [this](int number, const std::string& key, std::optional<ValueSpec> value) {
    if (auto family = Family(number)) family->Write(seqno_, key, value);
  };
  if (op.kind == OpKind::kPut) {
    write(op.family, op.keys.front(), op.value);
  } else if (op.kind == OpKind::kDelete || op.kind == OpKind::kSingleDelete) {
    write(op.family, op.keys.front(), std::nullopt);
  }
  for (const BatchPart& part : op.parts) {
    const bool is_put = part.kind == OpKind::kPut;
    write(part.family, part.key, is_put ? std::optional(part.value) : std::nullopt);
  }
}

}  // namespace ashlar
