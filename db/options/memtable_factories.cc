// SPDX-License-Identifier: Apache-2.0
//
// The memtable factories hold names and parameters. The memtables themselves are created elsewhere,
// as MemtableKindOf() says.
#include "db/options/memtable_factories.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "util/interfaces/self_cast.h"
#include "util/text/option_text.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// One of the two representations that have a bucket for each prefix.
// A factory is configured before a database gets it, and does not change afterwards.
class HashFactory final : public MemTableRepFactory {
 public:
  HashFactory(const char* name, const char* nick_name, std::vector<NameValue> options)
      : name_(name), nick_name_(nick_name), options_(std::move(options)) {}
  static const char* kClassName() { return "ashlar.HashFactory"; }
  bool IsInstanceOf(const std::string& name) const override {
    return name == kClassName() || MemTableRepFactory::IsInstanceOf(name);
  }
  const char* Name() const override { return name_; }
  bool IsInsertConcurrentlySupported() const override { return true; }
  bool CanHandleDuplicatedKey() const override { return true; }
  // The value of a numeric option; 0: there is no option of this name.
  // The first name that fits counts; the names are unique.
  uint64_t Number(const char* name) const {
    uint64_t number = 0;
    for (const auto& [known, value] : options_) {
      // The value was checked when it was stored, so it can be parsed.
      if (known == name) ParseUint64Text(value, &number);
    }
    return number;
  }
  using MemTableRepFactory::CreateMemTableRep;
  // Null, because the database creates the memtable from the parameters.
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator&, Allocator*,
                                 const SliceTransform*, Logger*) override {
    return nullptr;
  }

 protected:
  const char* NickName() const override { return nick_name_; }
  // Options are stored to be printed again and have no effect.
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& opts_map,
                          std::unordered_map<std::string, std::string>* unused) override {
    // Options that this class does not know remain for the base class.
    auto rest = opts_map;
    for (auto& [name, value] : options_) {
      const auto given = rest.find(name);
      if (given == rest.end()) continue;
      if (!IsAsBefore(value, given->second)) {
        return Status::InvalidArgument(StrCat(name_, ": ", name, ": bad value"), given->second);
      }
      value = TrimSpaces(given->second);
      rest.erase(given);
    }
    return MemTableRepFactory::ConfigureOptions(config, rest, unused);
  }
  std::string SerializeOptions(const ConfigOptions&, const std::string&) const override {
    std::string text;
    for (const auto& [name, value] : options_) StrAppend(&text, name, "=", value, ";");
    return text;
  }

 private:
  // Whether the new value is of the same kind as the old one: a flag or a number.
  static bool IsAsBefore(const std::string& before, const std::string& given) {
    bool flag;
    uint64_t number;
    return ParseUint64Text(before, &number) ? ParseUint64Text(given, &number)
                                            : ParseBoolText(given, &flag);
  }

  const char* name_;
  const char* nick_name_;
  std::vector<NameValue> options_;  // all known options with their values
};

}  // namespace

// A factory of a class that is not built in belongs to the program.
MemtableKind MemtableKindOf(const MemTableRepFactory* factory) {
  if (factory == nullptr || SelfCast<SkipListFactory>(factory) != nullptr) {
    return MemtableKind::kSkipList;
  }
  if (SelfCast<VectorRepFactory>(factory) != nullptr) return MemtableKind::kVector;
  return SelfCast<HashFactory>(factory) != nullptr ? MemtableKind::kHash : MemtableKind::kOfProgram;
}

// A linked list becomes a skip list only when it is long, so it begins with height 1.
HashRepShape HashShapeOf(const MemTableRepFactory& factory) {
  constexpr uint64_t kMostBuckets = uint64_t{1} << 28, kMostHeight = 12;
  assert(SelfCast<HashFactory>(&factory) != nullptr);
  const HashFactory& hash = *SelfCast<HashFactory>(&factory);
  HashRepShape shape;
  shape.buckets =
      // Texts may have any number, so that all are clamped.
      static_cast<size_t>(std::clamp(hash.Number("bucket_count"), uint64_t{1}, kMostBuckets));
  const uint64_t threshold = hash.Number("threshold");
  const uint64_t height = hash.Number("skiplist_height");
  // The text of a linked list names no height. The number is 0 then, and the greatest height is
  // taken.
  shape.max_height = static_cast<int>(height == 0 ? kMostHeight : std::min(height, kMostHeight));
  shape.branching =
      static_cast<int>(std::clamp(hash.Number("branching_factor"), uint64_t{2}, uint64_t{1 << 20}));
  shape.entries_before_high = static_cast<uint32_t>(std::min(threshold, uint64_t{1 << 30}));
  return shape;
}

// The parameter is part of the id only if it is set.
std::string SkipListFactory::GetId() const {
  return lookahead_ == 0 ? std::string(Name()) : StrCat(Name(), ":", lookahead_);
}

// The built-in memtables are created by the database, not by their factories.
MemTableRep* SkipListFactory::CreateMemTableRep(const MemTableRep::KeyComparator&, Allocator*,
                                                const SliceTransform*, Logger*) {
  return nullptr;
}

// The lookahead is stored and printed again; no memtable uses it.
Status SkipListFactory::ConfigureOptions(
    const ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    std::unordered_map<std::string, std::string>* unused) {
  auto rest = opts_map;
  Status status = TakeSizeOption("lookahead", &rest, &lookahead_);
  if (!status.ok()) return status;
  return MemTableRepFactory::ConfigureOptions(config_options, rest, unused);
}

// The default is printed as nothing, as RocksDB does.
std::string SkipListFactory::SerializeOptions(const ConfigOptions&, const std::string&) const {
  return lookahead_ == 0 ? "" : StrCat("lookahead=", lookahead_, ";");
}

MemTableRep* VectorRepFactory::CreateMemTableRep(const MemTableRep::KeyComparator&, Allocator*,
                                                 const SliceTransform*, Logger*) {
  return nullptr;
}

Status VectorRepFactory::ConfigureOptions(
    const ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    std::unordered_map<std::string, std::string>* unused) {
  auto rest = opts_map;
  Status status = TakeSizeOption("count", &rest, &count_);
  if (!status.ok()) return status;
  return MemTableRepFactory::ConfigureOptions(config_options, rest, unused);
}

std::string VectorRepFactory::SerializeOptions(const ConfigOptions&, const std::string&) const {
  return count_ == 0 ? "" : StrCat("count=", count_, ";");
}

// All options are stored as texts, in the order in which they are printed.
MemTableRepFactory* NewHashSkipListRepFactory(size_t bucket_count, int32_t skiplist_height,
                                              int32_t skiplist_branching_factor) {
  return new HashFactory("HashSkipListRepFactory", "prefix_hash",
                         {{"bucket_count", StrCat(bucket_count)},
                          {"skiplist_height", StrCat(skiplist_height)},
                          {"branching_factor", StrCat(skiplist_branching_factor)}});
}

MemTableRepFactory* NewHashLinkListRepFactory(size_t bucket_count, size_t huge_page_tlb_size,
                                              int bucket_entries_logging_threshold,
                                              bool if_log_bucket_dist_when_flash,
                                              uint32_t threshold_use_skiplist) {
  return new HashFactory("HashLinkListRepFactory", "hash_linkedlist",
                         {{"bucket_count", StrCat(bucket_count)},
                          {"huge_page_size", StrCat(huge_page_tlb_size)},
                          {"logging_threshold", StrCat(bucket_entries_logging_threshold)},
                          {"log_when_flash", if_log_bucket_dist_when_flash ? "true" : "false"},
                          {"threshold", StrCat(threshold_use_skiplist)}});
}

}  // namespace ashlar
