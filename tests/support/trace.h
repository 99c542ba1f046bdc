// SPDX-License-Identifier: Apache-2.0
//
// A trace is a list of operations on a database, one per line of text:
//
//   put cf=0 key=abc val=17x300 sync
//   batch part=put:0:a:1x5 part=delete:1:b part=delete-range:0:c:f
//   iter obj=3 cf=1 snap=2 lower=b upper=q
//   seek obj=3 key=k
//
// Objects (families, iterators, snapshots) are numbers; family 0 is "default". Bytes outside
// [A-Za-z0-9_] are written %XX, an empty string as "%". Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/wide_columns.h"

namespace ashlar {

enum class OpKind : uint8_t {
  kPut,
  kDelete,
  kSingleDelete,
  kMerge,
  kDeleteRange,  // its keys are the begin and the end
  kBatch,
  kGet,
  kMultiGet,
  kIter,
  kIterClose,
  kSeek,
  kSeekForPrev,
  kFirst,
  kLast,
  kNext,
  kPrev,
  kRefresh,
  kSnapshot,
  kRelease,
  kFlush,
  kCompact,
  kCreateFamily,
  kDropFamily,
  kSetOptions,
  kSyncWal,
  kReopen,
  kVerify,
  kKeyMayExist,
  kApproximateSize,
  kSetDbOptions,
  kCheckpoint,
  kReadOnlyOpen,
  kPause,
  kContinue,
  kWaitIdle,
  kClockJump,
  kCrash,
  kMultiGetFamilies,  // its parts are the keys; text "sorted": they are in order
  kPrefixScan,        // from its key to the end of the key's prefix; object 1: backwards
  kFailingMerge,      // writes an operand that fails, reads it, and deletes its key
  kCount,
};
const char* NameOf(OpKind kind);

// A value is written as a tag and a length, which determine its bytes. A value that comes from
// merges is that of a put, or else of the first operand, followed by the other operands, joined by
// commas.
struct ValueSpec {
  uint32_t tag = 0;
  uint32_t size = 0;
  std::vector<ValueSpec> operands;
  // The put stores wide columns: Expand() is the default column, and another one contains the tag.
  bool is_entity = false;

  std::string Expand() const;
  // Whether a put of this value stores an entity: every seventh does.
  bool IsPutAsEntity() const { return tag % 7 == 3; }
  // Whether these are the columns of the value.
  bool EqualsColumns(const WideColumns& columns) const;
  friend bool operator==(const ValueSpec&, const ValueSpec&) = default;
};

struct BatchPart {
  // The kind, or another one before kBatch; kGet in kMultiGetFamilies. kFailingMerge: an operand
  // that fails, followed by a deletion of its key, so that no reader meets it.
  OpKind kind = OpKind::kPut;
  int family = 0;
  std::string key;
  ValueSpec value;
  std::string end;  // of kDeleteRange
};

struct TraceOp {
  OpKind kind = OpKind::kPut;
  int family = 0;
  int object = 0;     // iterator or snapshot
  int snapshot = -1;  // of reads; -1 = the newest state
  std::vector<std::string> keys;
  ValueSpec value;
  std::vector<BatchPart> parts;
  bool sync = false;
  bool disable_wal = false;
  bool is_tailing = false;                  // of iterators
  std::optional<std::string> lower, upper;  // of iterators and compactions
  // For set-options: name=value. For a reopening: the seed of other options. For a clock jump:
  // seconds. For a crash: the files that are left, a CrashPolicy as a number, and a seed.
  std::string text;

  std::string ToString() const;
  static std::optional<TraceOp> Parse(const std::string& line);
  bool IsWrite() const { return kind <= OpKind::kBatch; }
};

// Conversion of all operations to text and back. Lines that begin with # are comments; if a line is
// not an operation, the result is empty and *error names it.
std::string TraceText(const std::vector<TraceOp>& ops);
std::vector<TraceOp> ParseTrace(const std::string& text, std::string* error);

}  // namespace ashlar
