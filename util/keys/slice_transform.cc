// SPDX-License-Identifier: Apache-2.0
//
// The built-in prefix extractors, and their creation by name.
#include "ashlar/slice_transform.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <string_view>

#include "ashlar/convenience.h"
#include "util/interfaces/registered_objects.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr const char* kFixedName = "rocksdb.FixedPrefix";
constexpr const char* kCappedName = "rocksdb.CappedPrefix";
constexpr const char* kNoopName = "rocksdb.Noop";

// The first `bytes` bytes; shorter keys have no prefix.
class FixedPrefix final : public SliceTransform {
 public:
  explicit FixedPrefix(size_t bytes) : prefix_bytes_(bytes), id_(StrCat(kFixedName, ".", bytes)) {}

  const char* Name() const override { return kFixedName; }
  std::string GetId() const override { return id_; }  // used in files and option strings
  bool IsInstanceOf(const std::string& name) const override {
    return name == id_ || name == "fixed" || SliceTransform::IsInstanceOf(name);
  }
  Slice Transform(const Slice& key) const override {
    assert(InDomain(key));
    return Slice(key.data(), prefix_bytes_);
  }
  bool InDomain(const Slice& key) const override { return key.size() >= prefix_bytes_; }
  bool FullLengthEnabled(size_t* len) const override {
    assert(len != nullptr);
    *len = prefix_bytes_;
    return true;
  }
  bool SameResultWhenAppended(const Slice& prefix) const override { return InDomain(prefix); }

 private:
  const size_t prefix_bytes_;
  const std::string id_;
};

// The first `bytes` bytes, or the whole key if it is shorter.
class CappedPrefix final : public SliceTransform {
 public:
  explicit CappedPrefix(size_t bytes) : cap_bytes_(bytes), id_(StrCat(kCappedName, ".", bytes)) {}

  const char* Name() const override { return kCappedName; }
  std::string GetId() const override { return id_; }  // used in files and option strings
  bool IsInstanceOf(const std::string& name) const override {
    return name == id_ || name == "capped" || SliceTransform::IsInstanceOf(name);
  }
  Slice Transform(const Slice& key) const override {
    return Slice(key.data(), std::min(cap_bytes_, key.size()));
  }
  bool InDomain(const Slice&) const override { return true; }
  bool FullLengthEnabled(size_t* len) const override {
    assert(len != nullptr);
    *len = cap_bytes_;
    return true;
  }
  bool SameResultWhenAppended(const Slice& prefix) const override {
    return prefix.size() >= cap_bytes_;
  }

 private:
  const size_t cap_bytes_;
  const std::string id_;
};

// The whole key is its own prefix.
class WholeKey final : public SliceTransform {
 public:
  const char* Name() const override { return kNoopName; }
  Slice Transform(const Slice& key) const override { return key; }
  bool InDomain(const Slice&) const override { return true; }
};

// Returns the number in "<name>.<number>" or "<nickname>:<number>", or nothing if `id` has another
// form.
std::optional<size_t> LengthAfter(std::string_view id, const std::string& prefix) {
  if (id.substr(0, prefix.size()) != prefix) return std::nullopt;
  const std::string_view digits = id.substr(prefix.size());
  constexpr size_t kMaxDigits = 18;  // fits 64 bits
  if (digits.empty() || digits.size() > kMaxDigits) return std::nullopt;
  size_t length = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    length = 10 * length + (c - '0');
  }
  return length;
}

// The names in options and those that files record. Null: unknown.
const SliceTransform* NewByName(const std::string& id) {
  for (const std::string prefix : {"fixed:", "rocksdb.FixedPrefix."}) {
    if (const auto length = LengthAfter(id, prefix)) return NewFixedPrefixTransform(*length);
  }
  for (const std::string prefix : {"capped:", "rocksdb.CappedPrefix."}) {
    if (const auto length = LengthAfter(id, prefix)) return NewCappedPrefixTransform(*length);
  }
  return id == kNoopName || id == "noop" ? NewNoopTransform() : nullptr;
}

}  // namespace

Status SliceTransform::CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                        std::shared_ptr<const SliceTransform>* result) {
  Status registered;
  if (MakeRegistered<const SliceTransform>(config_options, id, result, &registered) ||
      MakeRegistered<SliceTransform>(config_options, id, result, &registered)) {
    return registered;
  }
  std::string name;
  std::unordered_map<std::string, std::string> options;
  Status status = Configurable::GetOptionsMap(id, "", &name, &options);
  if (!status.ok()) return status;
  if (name.empty() || name == "nullptr") {
    result->reset();
    return Status::OK();
  }
  if (const SliceTransform* transform = NewByName(name); transform != nullptr) {
    result->reset(transform);
    return Status::OK();
  }
  if (config_options.ignore_unsupported_options) return Status::OK();
  return Status::NotSupported("prefix extractor: unknown name; set it in code", name);
}

std::string SliceTransform::AsString() const { return GetId(); }

const SliceTransform* NewFixedPrefixTransform(size_t prefix_len) {
  return new FixedPrefix(prefix_len);
}
const SliceTransform* NewCappedPrefixTransform(size_t cap_len) { return new CappedPrefix(cap_len); }
const SliceTransform* NewNoopTransform() { return new WholeKey; }

}  // namespace ashlar
