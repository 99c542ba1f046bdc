// SPDX-License-Identifier: Apache-2.0
//
// The memtable factories: names and parameters. Memtables themselves are made one floor up, from
// what MemtableKindOf() says.
#include "db/options/memtable_factories.h"

#include <vector>

#include "util/coding.h"
#include "util/option_text.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

// A representation that can be named, but not used.
class HashFactory final : public MemTableRepFactory {
 public:
  HashFactory(const char* name, const char* nick_name, std::vector<NameValue> options)
      : name_(name), nick_name_(nick_name), options_(std::move(options)) {}
  const char* Name() const override { return name_; }
  using MemTableRepFactory::CreateMemTableRep;
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator&, Allocator*,
                                 const SliceTransform*, Logger*) override {
    return nullptr;
  }

 protected:
  const char* NickName() const override { return nick_name_; }
  // What was given is printed again; nothing looks at it.
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& opts_map,
                          std::unordered_map<std::string, std::string>* unused) override {
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
  // A flag for a flag, a number for a number.
  static bool IsAsBefore(const std::string& before, const std::string& given) {
    bool flag;
    uint64_t number;
    return ParseUint64Text(before, &number) ? ParseUint64Text(given, &number)
                                            : ParseBoolText(given, &flag);
  }

  const char* name_;
  const char* nick_name_;
  std::vector<NameValue> options_;  // all that it knows, with their values
};

}  // namespace

MemtableKind MemtableKindOf(const MemTableRepFactory* factory) {
  if (factory == nullptr || factory->CheckedCast<SkipListFactory>() != nullptr) {
    return MemtableKind::kSkipList;
  }
  if (factory->CheckedCast<VectorRepFactory>() != nullptr) return MemtableKind::kVector;
  return MemtableKind::kUnsupported;
}

std::string SkipListFactory::GetId() const {
  return lookahead_ == 0 ? std::string(Name()) : StrCat(Name(), ":", lookahead_);
}

MemTableRep* SkipListFactory::CreateMemTableRep(const MemTableRep::KeyComparator&, Allocator*,
                                                const SliceTransform*, Logger*) {
  return nullptr;
}

Status SkipListFactory::ConfigureOptions(
    const ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    std::unordered_map<std::string, std::string>* unused) {
  auto rest = opts_map;
  Status status = TakeSizeOption("lookahead", &rest, &lookahead_);
  if (!status.ok()) return status;
  return MemTableRepFactory::ConfigureOptions(config_options, rest, unused);
}

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

// ---- Defaults of MemTableRep, for programs that derive from it

Slice MemTableRep::KeyComparator::decode_key(const char* key) const {
  return GetLengthPrefixedSlice(key);
}

KeyHandle MemTableRep::Allocate(const size_t /*len*/, char** buf) {
  // The library's allocator is not public: a representation of one's own brings its own memory.
  *buf = nullptr;
  return nullptr;
}

void MemTableRep::InsertConcurrently(KeyHandle handle) { Insert(handle); }

void MemTableRep::Get(const LookupKey&, void*, bool (*)(void* arg, const char* entry)) {}

Status MemTableRep::GetAndValidate(const LookupKey& k, void* callback_args,
                                   bool (*callback_func)(void* arg, const char* entry), bool, bool,
                                   const EntryCheck&) {
  Get(k, callback_args, callback_func);
  return Status::OK();
}

Status MemTableRep::MultiGet(size_t, const char* const*, void**, bool (*)(void*, const char*), bool,
                             bool, const EntryCheck&) {
  return Status::NotSupported("MemTableRep::MultiGet: not implemented");
}

void MemTableRep::UniqueRandomSample(const uint64_t, const uint64_t,
                                     std::unordered_set<const char*>* entries) {
  entries->clear();
}

Slice MemTableRep::UserKey(const char* key) const {
  const Slice internal_key = GetLengthPrefixedSlice(key);
  return Slice(internal_key.data(), internal_key.size() - 8);
}

Status MemTableRep::Iterator::NextAndValidate(bool) {
  Next();
  return Status::OK();
}

Status MemTableRep::Iterator::PrevAndValidate(bool) {
  Prev();
  return Status::OK();
}

Status MemTableRep::Iterator::SeekAndValidate(const Slice& internal_key, const char* memtable_key,
                                              bool, bool, const EntryCheck&) {
  Seek(internal_key, memtable_key);
  return Status::OK();
}

}  // namespace ashlar
