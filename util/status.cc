// SPDX-License-Identifier: Apache-2.0
//
// The text of a Status is one zero-terminated string on the heap, which only errors have.
#include "ashlar/status.h"

#include <cassert>
#include <cstring>

namespace ashlar {

namespace {

// Indexed by Status::Code. Programs compare these texts.
constexpr const char* kCodeNames[] = {
    "OK: ",
    "NotFound: ",
    "Corruption: ",
    "Not implemented: ",
    "Invalid argument: ",
    "IO error: ",
    "Merge in progress: ",
    "Result incomplete: ",
    "Shutdown in progress: ",
    "Operation timed out: ",
    "Operation aborted: ",
    "Resource busy: ",
    "Operation expired: ",
    "Operation failed. Try again.: ",
    "Compaction too large: ",
    "Column family dropped: ",
};
static_assert(sizeof(kCodeNames) / sizeof(kCodeNames[0]) == Status::kMaxCode);

// Indexed by Status::SubCode.
constexpr const char* kSubCodeTexts[] = {
    "",
    "waited too long for a mutex",
    "waited too long for a lock",
    "too many locks",
    "No space left on device",
    "Deadlock",
    "Stale file handle",
    "Memory limit reached",
    "Space limit reached",
    "No such file or directory",
    "Insufficient capacity for merge operands",
    "Manual compaction paused",
    "overwritten",
    "Txn not prepared",
    "IO fenced off",
    "Merge operator failed",
    "more merge operands than the threshold",
    "Prefetch limit reached",
    "unexpected code path",
    "Compaction aborted",
};
static_assert(sizeof(kSubCodeTexts) / sizeof(kSubCodeTexts[0]) == Status::kMaxSubCode);

// The texts may contain zero bytes; readers of the C string see only the part before the first one.
std::unique_ptr<const char[]> JoinTexts(const Slice& a, const char* delimiter, const Slice& b) {
  const size_t delimiter_bytes = std::strlen(delimiter);
  auto text = std::unique_ptr<char[]>(new char[a.size() + delimiter_bytes + b.size() + 1]);
  char* p = text.get();
  const auto append = [&p](const char* data, size_t size) {
    if (size != 0) std::memcpy(p, data, size);
    p += size;
  };
  append(a.data(), a.size());
  append(delimiter, delimiter_bytes);
  append(b.data(), b.size());
  *p = '\0';
  return text;
}

}  // namespace

std::unique_ptr<const char[]> Status::CopyState(const char* s) {
  return s == nullptr ? nullptr : JoinTexts(s, "", Slice());
}

Status::Status(Code _code, SubCode _subcode, const Slice& msg, const Slice& msg2, Severity sev)
    : code_(_code),
      subcode_(_subcode),
      sev_(sev),
      state_(JoinTexts(msg, msg2.empty() ? "" : ": ", msg2)) {
  assert(code_ < kMaxCode);
  assert(subcode_ < kMaxSubCode);
}

Status::Status(Code _code, SubCode _subcode, Severity _sev, const Slice& msg)
    : Status(_code, _subcode, msg, Slice(), _sev) {}

Status::Status(Code _code, const char* msg) : Status(_code, kNone, Slice(msg), Slice()) {}

Status Status::CopyAppendMessage(const Status& s, const Slice& delim, const Slice& msg) {
  Status result(s);
  const Slice old_text = s.state_ == nullptr ? Slice() : Slice(s.state_.get());
  result.state_ = JoinTexts(old_text, delim.ToString().c_str(), msg);
  return result;
}

std::string Status::ToString() const {
  const bool has_text = state_ != nullptr && state_[0] != '\0';
  if (code_ == kOk && subcode_ == kNone && !has_text) return "OK";
  std::string result = code_ < kMaxCode ? kCodeNames[code_] : "Unknown code: ";
  if (subcode_ != kNone && subcode_ < kMaxSubCode) {
    result += kSubCodeTexts[subcode_];
    if (has_text) result += ": ";
  }
  if (has_text) result += state_.get();
  return result;
}

}  // namespace ashlar
