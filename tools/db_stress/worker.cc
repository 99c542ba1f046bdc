// SPDX-License-Identifier: Apache-2.0
//
// The table of operations, the locks of keys, and the checks of results.
#include "tools/db_stress/worker.h"

#include <unistd.h>
#include <cassert>

#include <algorithm>
#include <cstdio>

#include "util/text/str_cat.h"

namespace ashlar::stress {

// Prints the message and ends the process at once, so that the files stay as they are for
// inspection.
void Fail(const std::string& what) {
  static std::mutex mutex;  // never unlocked: only the first failure is printed
  mutex.lock();
  std::fflush(stdout);
  std::fprintf(stderr, "db_stress: WRONG: %s\n", what.c_str());
  std::fflush(stderr);
  // Without destructors and without a clean close, which would change the files.
  ::_exit(1);
}

void Require(const Status& status, const std::string& call) {
  if (!status.ok()) Fail(StrCat(call, ": ", status.ToString()));
}

// In ascending order, so that two threads cannot wait for each other in a circle. Two keys may
// share a lock, which is taken once.
KeyLocks::Held::Held(KeyLocks* locks, std::span<const KeyId> keys) {
  assert(locks != nullptr);
  std::vector<size_t> indexes;
  indexes.reserve(keys.size());
  for (const KeyId& key : keys) indexes.push_back(IndexOf(key));
  std::sort(indexes.begin(), indexes.end());
  // A mutex that is locked twice by one thread would never be granted.
  indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
  locks_.reserve(indexes.size());
  for (const size_t index : indexes) locks_.emplace_back(locks->mutexes_[index]);
}

std::vector<KeyState> Worker::LoadRange(const KeyId& first, uint64_t count) const {
  // Each word is read atomically, but the range as a whole is not: writers may run meanwhile.
  std::vector<KeyState> result;
  result.reserve(count);
  for (uint64_t i = 0; i < count; i++) {
    result.push_back(expected().Load({first.family, first.number + i}));
  }
  return result;
}

std::string TextOf(const KeyState& state) {
  // Indexed by Event.
  static constexpr const char* kPending[] = {"", ", a put pending", ", a removal pending",
                                             ", a merge pending"};
  std::string text =
      StrCat("generation ", state.generation, state.has_base ? " (a put)" : " (a removal)");
  if (state.operands > 0) StrAppend(&text, " with ", state.operands, " operands");
  assert(static_cast<size_t>(state.pending) < std::size(kPending));
  return text + kPending[static_cast<size_t>(state.pending)];
}

// Each value names the key and the event that has written it, so a value under a wrong key is
// noticed.
// Fails if the value is none of this key.
FoundEvent EventOf(const KeyId& key, const Slice& value, const char* call) {
  Result<FoundEvent> event = ReadValue(key, value);
  if (!event.ok()) {
    Fail(StrCat(call, " of key ", key.number, " (", HexBytes(KeyText(key.number)), ") of family ",
                key.family, ": ", event.status().ToString(), "; the value has ", value.size(),
                " bytes and begins with ",
                // 40 bytes show the head of a record and enough of its payload to recognise another
                // key's value.
                HexBytes(Slice(value.data(), std::min<size_t>(value.size(), 40)))));
  }
  return *event;
}

void CheckFound(const KeyId& key, const KeyState& before, const KeyState& after,
                const std::optional<std::string_view>& value, const char* call) {
  std::optional<FoundEvent> found;
  if (value) found = EventOf(key, Slice(*value), call);
  // The read may have happened at any moment between the two loads of the word.
  if (MayBeFound(before, after, found)) return;
  const std::string what = !found ? "nothing"
                                  : TextOf({.generation = found->generation,
                                            .operands = found->operands,
                                            .has_base = found->has_base});
  Fail(StrCat(call, " of key ", key.number, " (", HexBytes(KeyText(key.number)), ") of family ",
              key.family, ": found ", what, "; expected before the call ", TextOf(before),
              ", after it ", TextOf(after)));
}

// All operations: name, explanation, weight and function. The weight is the relative frequency with
// which workers draw the operation, unless a flag sets another one.
// The order is that of the help text. A new operation needs only a line here and its function.
std::span<const Operation> Operations() {
  static constexpr Operation kOperations[] = {
      {"put", "put a value, or a value with columns", 2000, &PutOne},
      {"delete", "delete a key", 400, &DeleteOne},
      {"merge", "merge an operand", 700, &MergeOne},
      {"put_once", "put an absent key, single-delete a present one", 300, &PutOnce},
      {"mirrored", "put or delete one key in all families by a batch", 200, &WriteMirrored},
      {"batch", "puts, deletes and merges of several families in one batch", 300,
       &WriteBatchOfMany},
      {"delete_range", "delete up to 60 keys by a range", 20, &DeleteRangeOfKeys},
      {"ingest", "ingest an external table", 3, &IngestTable},
      {"get", "read a key", 2000, &GetOne},
      {"get_entity", "read the columns of a key", 300, &GetColumns},
      {"multi_get", "read up to 32 keys together", 500, &GetMany},
      {"get_mirrored", "read one key in all families at a snapshot", 200, &GetMirrored},
      {"iterate", "iterate over a range forwards or backwards, then move randomly", 300, &Iterate},
      {"snapshot", "hold a snapshot and check later that it shows the same values", 60,
       &TakeOrReleaseSnapshot},
      {"flush", "flush one family or all", 4, &FlushFamilies},
      {"compact_range", "compact a range, with random options", 2, &CompactSomeRange},
      {"compact_files", "compact chosen files", 3, &CompactSomeFiles},
      {"set_options", "change options of a family or of the database", 2, &ChangeOptions},
      {"recreate_family", "drop the last family and create it again", 1, &RecreateFamily},
      {"ask", "read properties, live files, sizes, metadata", 40, &ReadProperties},
      {"sync_log", "SyncWAL or FlushWAL", 20, &SyncLog},
      {"checkpoint", "make a checkpoint, open it, verify a family in it", 1, &CheckCheckpoint},
      {"backup", "make a backup, verify it, restore it elsewhere, verify a family", 1,
       &CheckBackup},
      {"export", "export a family, import it into an empty database, verify it", 1, &CheckExport},
      {"secondary", "let a secondary catch up and verify a family in it", 4, &CheckSecondary},
      {"trace", "begin a trace of the calls, or end and read it", 2, &StartOrCheckTrace},
      {"verify_checksums", "read every block of every table", 1, &VerifyAllChecksums},
  };
  return kOperations;
}

}  // namespace ashlar::stress
