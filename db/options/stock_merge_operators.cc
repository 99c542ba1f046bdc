// SPDX-License-Identifier: Apache-2.0
//
// The results are those of RocksDB's operators of these names, with which existing databases were
// written. One exception: sortlist also merges the value below the operands, which RocksDB's
// operator drops.
//
// The operators have no state that changes after they are configured, so any number of threads may
// use one object. An operator that returns false fails the merge, and with it the read of the key.
#include "db/options/stock_merge_operators.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "ashlar/env.h"
#include "util/keys/coding.h"
#include "util/text/data_in_errors.h"
#include "util/text/option_text.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Adds counters. Counters of a wrong length count as 0, so one damaged value does not block the
// key.
class UInt64Add final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "UInt64AddOperator"; }
  const char* NickName() const override { return "uint64add"; }
  bool Merge(const Slice& key, const Slice* existing, const Slice& value, std::string* new_value,
             Logger* logger) const override {
    assert(new_value != nullptr);
    // The sum wraps around at 2^64, as the arithmetic of unsigned numbers does.
    const uint64_t sum =
        (existing == nullptr ? 0 : Decode(key, *existing, logger)) + Decode(key, value, logger);
    new_value->clear();
    PutFixed64(new_value, sum);
    return true;
  }

 private:
  // A value of another length is no counter. It counts as 0 and is reported, as in RocksDB, so one
  // bad value does not block the key.
  static uint64_t Decode(const Slice& key, const Slice& value, Logger* logger) {
    // Counters are little-endian.
    if (value.size() == sizeof(uint64_t)) return DecodeFixed64(value.data());
    Log(InfoLogLevel::ERROR_LEVEL, logger,
        "uint64add: a counter of %zu bytes under key %s counts as 0", value.size(),
        KeyInError(key).c_str());
    return 0;
  }
};

// The common part of both forms of put: an operand replaces the existing value.
// Partial merges keep the newest operand only.
class PutBase : public MergeOperator {
 public:
  const char* Name() const override { return "PutOperator"; }
  bool PartialMerge(const Slice& /*key*/, const Slice& /*left*/, const Slice& right,
                    std::string* new_value, Logger* /*logger*/) const override {
    assert(new_value != nullptr);
    new_value->assign(right.data(), right.size());
    return true;
  }
  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operands,
                         std::string* new_value, Logger* /*logger*/) const override {
    assert(new_value != nullptr);
    assert(!operands.empty());
    new_value->assign(operands.back().data(), operands.back().size());
    return true;
  }
};

// Gives the same result as the class Put below, but copies the operand, so that tests reach the
// path for copied results.
class PutV1 final : public PutBase {
 public:
  const char* NickName() const override { return "put_v1"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    assert(out != nullptr);
    assert(!in.operand_list.empty());
    out->new_value.assign(in.operand_list.back().data(), in.operand_list.back().size());
    return true;
  }
};

// Points to the newest operand instead of copying it.
class Put final : public PutBase {
 public:
  const char* NickName() const override { return "put"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    assert(out != nullptr);
    assert(!in.operand_list.empty());
    out->existing_operand = in.operand_list.back();
    return true;
  }
};

// The greatest of the value and the operands, in bytewise order.
class Max final : public MergeOperator {
 public:
  const char* Name() const override { return "MaxOperator"; }
  const char* NickName() const override { return "max"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    assert(out != nullptr);
    assert(!in.operand_list.empty());
    // The first candidate is not compared with itself: that would read all of its bytes.
    const bool has_value = in.existing_value != nullptr;
    Slice greatest = has_value ? *in.existing_value : in.operand_list.front();
    for (size_t i = has_value ? 0 : 1; i < in.operand_list.size(); i++) {
      greatest = Greater(greatest, in.operand_list[i]);
    }
    out->existing_operand = greatest;
    return true;
  }
  bool PartialMerge(const Slice& /*key*/, const Slice& left, const Slice& right,
                    std::string* new_value, Logger* /*logger*/) const override {
    assert(new_value != nullptr);
    const Slice greatest = Greater(left, right);
    new_value->assign(greatest.data(), greatest.size());
    return true;
  }
  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operands,
                         std::string* new_value, Logger* /*logger*/) const override {
    assert(new_value != nullptr);
    assert(!operands.empty());
    Slice greatest = operands.front();
    for (size_t i = 1; i < operands.size(); i++) greatest = Greater(greatest, operands[i]);
    new_value->assign(greatest.data(), greatest.size());
    return true;
  }

 private:
  static const Slice& Greater(const Slice& a, const Slice& b) { return a.compare(b) >= 0 ? a : b; }
};

// Returns a text that is parsed to this delimiter again. Escapes at both ends protect spaces, which
// are otherwise trimmed; braces protect a semicolon and other special characters. A delimiter with
// an unpaired brace has no text form.
std::string DelimiterText(const std::string& delimiter) {
  std::string text = EscapeOptionString(delimiter);
  // The view refers to `text`, so it is used only before the text changes.
  const std::string_view trimmed = TrimSpaces(text);
  const bool begins_with_space = !text.empty() && trimmed.data() != text.data();
  const bool ends_with_space = !text.empty() && TrimSpaces(text.substr(text.size() - 1)).empty();
  if (begins_with_space) text.insert(0, "\\");
  if (ends_with_space) text.push_back('\\');
  const bool needs_braces = text.find(';') != std::string::npos || text.starts_with('{');
  return needs_braces ? StrCat("{", text, "}") : text;
}

// Joins the existing value, if there is one, and the operands. The base of both kinds of
// stringappend.
class AppendBase : public MergeOperator {
 public:
  explicit AppendBase(std::string delimiter) : delimiter_(std::move(delimiter)) {}

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    assert(out != nullptr);
    assert(!in.operand_list.empty());
    // The result is the operand itself, which needs no copy.
    if (in.existing_value == nullptr && in.operand_list.size() == 1) {
      out->existing_operand = in.operand_list.front();
      return true;
    }
    Join(in.existing_value, in.operand_list.begin(), in.operand_list.end(), &out->new_value);
    return true;
  }

 protected:
  // Computes the size first, so that the result is allocated only once.
  template <typename Position>
  void Join(const Slice* first, Position begin, Position end, std::string* joined) const {
    assert(joined != nullptr);
    size_t bytes = first == nullptr ? 0 : first->size();
    for (Position at = begin; at != end; ++at) bytes += delimiter_.size() + at->size();
    joined->clear();
    joined->reserve(bytes);
    if (first != nullptr) joined->assign(first->data(), first->size());
    bool is_first = first == nullptr;
    for (Position at = begin; at != end; ++at) {
      if (!std::exchange(is_first, false)) joined->append(delimiter_);
      joined->append(at->data(), at->size());
    }
  }

  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& options,
                          std::unordered_map<std::string, std::string>* unused) override {
    auto rest = options;
    if (const auto given = rest.find("delimiter"); given != rest.end()) {
      if (!HasPairedBraces(given->second)) {  // it could not be printed and parsed again
        // It could be stored, but an OPTIONS file with it could not be loaded.
        return Status::InvalidArgument("delimiter: an unpaired brace", given->second);
      }
      delimiter_ = UnescapeOptionString(given->second);
      rest.erase(given);
    }
    return MergeOperator::ConfigureOptions(config, rest, unused);
  }
  std::string SerializeOptions(const ConfigOptions& /*config*/,
                               const std::string& /*prefix*/) const override {
    return StrCat("delimiter=", DelimiterText(delimiter_), ";");
  }

 private:
  // Between two values; may be empty.
  std::string delimiter_;
};

// Partial merges join operands without the value, so that chains of operands stay short.
class StringAppend final : public AppendBase {
 public:
  using AppendBase::AppendBase;
  const char* Name() const override { return "StringAppendOperator"; }
  const char* NickName() const override { return "stringappend"; }
  bool PartialMerge(const Slice& /*key*/, const Slice& left, const Slice& right,
                    std::string* new_value, Logger* /*logger*/) const override {
    // A pointer to one slice is a range of one element.
    assert(new_value != nullptr);
    Join(&left, &right, &right + 1, new_value);
    return true;
  }
  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operands,
                         std::string* new_value, Logger* /*logger*/) const override {
    // A single operand is its own result, and needs no partial merge.
    if (operands.size() < 2) return false;
    assert(new_value != nullptr);
    Join(nullptr, operands.begin(), operands.end(), new_value);
    return true;
  }
};

// Without partial merges every operand is kept until the value is known.
class StringAppendTest final : public AppendBase {
 public:
  using AppendBase::AppendBase;
  const char* Name() const override { return "StringAppendTESTOperator"; }
  const char* NickName() const override { return "stringappendtest"; }
};

// Xor of all bytes; the result is as long as the longest operand.
class BytesXor final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "BytesXOR"; }
  const char* NickName() const override { return "bytesxor"; }
  bool Merge(const Slice& /*key*/, const Slice* existing, const Slice& value,
             std::string* new_value, Logger* /*logger*/) const override {
    assert(new_value != nullptr);
    new_value->assign(value.data(), value.size());
    if (existing == nullptr) return true;
    new_value->resize(std::max(existing->size(), value.size()), '\0');
    // Missing bytes of the shorter one count as zero, so they leave the others unchanged.
    for (size_t i = 0; i < existing->size(); i++) (*new_value)[i] ^= (*existing)[i];
    return true;
  }
};

// Lists of decimal numbers in ascending order; an empty text is an empty list.
class SortList final : public MergeOperator {
 public:
  const char* Name() const override { return "MergeSortOperator"; }
  const char* NickName() const override { return "sortlist"; }
  // False, which makes the read fail, if the value or an operand is not a list.
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    assert(out != nullptr);
    List merged;
    if (in.existing_value != nullptr && !MergeIn(*in.existing_value, &merged)) return false;
    for (const Slice& operand : in.operand_list) {
      if (!MergeIn(operand, &merged)) return false;
    }
    Print(merged, &out->new_value);
    return true;
  }
  bool PartialMerge(const Slice& /*key*/, const Slice& left, const Slice& right,
                    std::string* new_value, Logger* /*logger*/) const override {
    assert(new_value != nullptr);
    List merged;
    if (!MergeIn(left, &merged) || !MergeIn(right, &merged)) return false;
    Print(merged, new_value);
    return true;
  }

 private:
  using List = std::vector<int>;

  // Returns false for anything but numbers with commas between them.
  static bool Parse(const Slice& text, List* list) {
    assert(list != nullptr);
    if (text.empty()) return true;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
      // The number is parsed into its place in the list, so nothing is copied.
      const auto [rest, error] = std::from_chars(at, end, list->emplace_back());
      if (error != std::errc()) return false;
      if (rest == end) return true;
      if (*rest != ',') return false;
      at = rest + 1;
    }
  }
  // Merges a list into `*merged`. Both are in ascending order, or the result is not.
  static bool MergeIn(const Slice& text, List* merged) {
    assert(merged != nullptr);
    List list;
    if (!Parse(text, &list)) return false;
    List both;
    both.reserve(merged->size() + list.size());
    std::merge(merged->begin(), merged->end(), list.begin(), list.end(), std::back_inserter(both));
    assert(both.size() == merged->size() + list.size());
    merged->swap(both);
    return true;
  }
  static void Print(const List& list, std::string* text) {
    assert(text != nullptr);
    text->clear();
    for (const int number : list) {
      if (!text->empty()) text->push_back(',');
      text->append(std::to_string(number));
    }
  }
};

constexpr const char* kDefaultDelimiter = ",";

}  // namespace

std::unique_ptr<MergeOperator> NewStringAppendOperator(const std::string& delimiter) {
  return std::make_unique<StringAppend>(delimiter);
}

// Each operator has a short name and the name of its class, as in RocksDB.
std::unique_ptr<MergeOperator> NewStockMergeOperator(const std::string& name) {
  if (name == "uint64add" || name == "UInt64AddOperator") return std::make_unique<UInt64Add>();
  if (name == "put" || name == "PutOperator") return std::make_unique<Put>();
  if (name == "put_v1") return std::make_unique<PutV1>();
  if (name == "max" || name == "MaxOperator") return std::make_unique<Max>();
  if (name == "stringappend" || name == "StringAppendOperator") {
    return std::make_unique<StringAppend>(kDefaultDelimiter);
  }
  if (name == "stringappendtest" || name == "StringAppendTESTOperator") {
    return std::make_unique<StringAppendTest>(kDefaultDelimiter);
  }
  if (name == "bytesxor" || name == "BytesXOR") return std::make_unique<BytesXor>();
  if (name == "sortlist" || name == "MergeSortOperator") return std::make_unique<SortList>();
  return nullptr;
}

}  // namespace ashlar
