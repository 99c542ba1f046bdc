// SPDX-License-Identifier: Apache-2.0
//
// ExpectedState: the states of all keys in a file that is mapped into memory, and counters over all
// runs. The file survives a kill of the process, as the database should.
//
//   head of 4096 bytes: magic, version, families, keys, figures | a word for each (family, key)
//
// Threads: any number may load and count. A word is stored only under the lock of its key.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "tools/db_stress/key_state.h"
#include "tools/db_stress/stress_value.h"
#include "util/result.h"

namespace ashlar::stress {

enum class Figure { kRuns, kCleanEnds, kOperations, kKeysVerified, kPendingFound, kCount };

// The process owns the file: two processes must not use it at the same time.
class ExpectedState {
 public:
  // What to do if the file is missing or incomplete: create it with all keys absent, or return
  // NotFound and change nothing.
  enum class IfMissing { kCreate, kRefuse };
  // InvalidArgument if the file has another number of families or keys, or is not an expected
  // state; then it is not changed.
  static Result<std::unique_ptr<ExpectedState>> Open(const std::string& path, int families,
                                                     uint64_t keys, IfMissing if_missing);
  // OK if the file is missing. InvalidArgument if it is not an expected state; then it is not
  // removed.
  static Status Remove(const std::string& path);
  ~ExpectedState();
  ExpectedState(const ExpectedState&) = delete;
  ExpectedState& operator=(const ExpectedState&) = delete;

  int families() const { return families_; }
  uint64_t keys() const { return keys_; }

  // Acquire and release: a thread that has seen the effect of a write in the database also sees the
  // word that its writer stored before it.
  KeyState Load(const KeyId& key) const {
    return KeyState::FromWord(At(key).load(std::memory_order_acquire));
  }
  void Store(const KeyId& key, const KeyState& state) {
    At(key).store(state.ToWord(), std::memory_order_release);
  }

  void Count(Figure figure, uint64_t count) {
    FigureAt(figure).fetch_add(count, std::memory_order_relaxed);
  }
  uint64_t Get(Figure figure) const { return FigureAt(figure).load(std::memory_order_relaxed); }
  // "8 runs, 3 of them completed, 1234 operations, ..."
  std::string FiguresText() const;

 private:
  using Word = std::atomic<uint64_t>;
  static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

  ExpectedState(void* memory, uint64_t bytes, int families, uint64_t keys)
      : memory_(static_cast<Word*>(memory)), bytes_(bytes), families_(families), keys_(keys) {}
  Word& At(const KeyId& key) const;
  Word& FigureAt(Figure figure) const;

  // The mapping of the whole file.
  Word* const memory_;
  const uint64_t bytes_;
  const int families_;
  const uint64_t keys_;
};

}  // namespace ashlar::stress
