// SPDX-License-Identifier: Apache-2.0
//
// No thread writes while VerifyAll() runs, so a key must have exactly the state of its word or,
// with a pending event, that state or the one after the event.
#include <algorithm>
#include <cassert>
#include <memory>
#include <string>

#include "ashlar/iterator.h"
#include "tools/db_stress/worker.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

// The state of a key without a pending event; fails if `found` is neither the old nor the new one.
KeyState SettledState(const KeyId& key, const KeyState& known,
                      const std::optional<FoundEvent>& found,
                      const std::optional<std::string_view>& value) {
  const KeyState old_state = known.Settled(), new_state = known.After(known.pending);
  if (IsExactly(old_state, found)) return old_state;  // also if the key is absent in both
  if (IsExactly(new_state, found)) return new_state;
  CheckFound(key, known.Settled(), known.Settled(), value, "verifying");
  Fail(StrCat("verifying key ", key.number, " of family ", key.family, ": expected ",
              TextOf(known)));
}

// Verifies keys and counts them.
class Verifier {
 public:
  explicit Verifier(Shared* shared) : shared_(shared), expected_(*shared->expected) {}

  void Check(const KeyId& key, const std::optional<std::string_view>& value) {
    std::optional<FoundEvent> found;
    if (value) found = EventOf(key, Slice(*value), "verifying");
    const KeyState known = expected_.Load(key);
    const KeyState settled = SettledState(key, known, found, value);
    // The run before was killed during this write. What was found is the state from now on.
    // The next run must not take this event as pending again, so the word is settled now.
    if (known.pending != Event::kNone) {
      expected_.Count(Figure::kPendingFound, 1);
      expected_.Store(key, settled);
    }
    count_++;
  }

  // Each of them reads every key of the family once.
  void ByIterator(int family, bool is_forward);
  void ByGet(int family);
  void ByMultiGet(int family);
  void Mirrored();

  ~Verifier() { expected_.Count(Figure::kKeysVerified, count_); }
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

 private:
  Shared* const shared_;
  ExpectedState& expected_;
  uint64_t count_ = 0;
};

// All three ways to read must agree with the expected state; each run draws one of them for each
// family.
void Verifier::ByIterator(int family, bool is_forward) {
  const FamilyUse use = shared_->db->Use(family);
  ReadOptions options;
  // Without total order a prefix extractor might hide keys.
  options.total_order_seek = true;
  const std::unique_ptr<Iterator> it((*shared_->db)->NewIterator(options, use.get()));
  is_forward ? it->SeekToFirst() : it->SeekToLast();
  const uint64_t count = expected_.keys();
  // The iterator must show the present keys in order, without any in between.
  for (uint64_t i = 0; i < count; i++) {
    const KeyId key{family, is_forward ? i : count - 1 - i};
    std::optional<std::string> value;
    if (it->Valid() && it->key() == Slice(KeyText(key.number))) {
      value = it->value().ToString();
      is_forward ? it->Next() : it->Prev();
    }
    Check(key, value);
  }
  Require(it->status(), "verifying by an iterator");
  if (it->Valid()) {
    // Everything expected was found, so whatever follows is a key that nobody has written.
    Fail(StrCat("verifying family ", family,
                ": an unknown key or one out of order: ", HexBytes(it->key())));
  }
}

void Verifier::ByGet(int family) {
  const FamilyUse use = shared_->db->Use(family);
  for (uint64_t i = 0; i < expected_.keys(); i++) {
    PinnableSlice value;
    const Status status = (*shared_->db)->Get(ReadOptions(), use.get(), KeyText(i), &value);
    if (!status.IsNotFound()) Require(status, "verifying by Get");
    Check({family, i}, status.ok() ? std::optional(value.ToStringView()) : std::nullopt);
  }
}

void Verifier::ByMultiGet(int family) {
  // More than the 32 keys that the engine reads together, so that its calls are divided.
  constexpr uint64_t kBatchKeys = 64;
  const FamilyUse use = shared_->db->Use(family);
  for (uint64_t first = 0; first < expected_.keys(); first += kBatchKeys) {
    const size_t count = std::min(kBatchKeys, expected_.keys() - first);
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; i++) texts.push_back(KeyText(first + i));
    const std::vector<Slice> keys(texts.begin(), texts.end());
    std::vector<PinnableSlice> values(count);
    std::vector<Status> statuses(count);
    (*shared_->db)
        ->MultiGet(ReadOptions(), use.get(), count, keys.data(), values.data(), statuses.data(),
                   /*sorted_input=*/true);
    for (size_t i = 0; i < count; i++) {
      if (!statuses[i].IsNotFound()) Require(statuses[i], "verifying by MultiGet");
      Check({family, first + i},
            statuses[i].ok() ? std::optional(values[i].ToStringView()) : std::nullopt);
    }
  }
}

// A batch is atomic, so a mirrored key must be the same in all families. If it is absent, the words
// may differ by an event that a kill interrupted.
void Verifier::Mirrored() {
  // The volatile family is not mirrored.
  const int families = shared_->db->volatile_family();
  for (uint64_t i = shared_->space.mirrored_begin(); i < shared_->space.free_begin(); i++) {
    KeyState newest = expected_.Load({0, i});
    for (int family = 1; family < families; family++) {
      const KeyState state = expected_.Load({family, i});
      const bool is_same = state.IsPresent() == newest.IsPresent() &&
                           (!state.IsPresent() || state.generation == newest.generation);
      if (!is_same) {
        Fail(StrCat("verifying key ", i, ", which one batch writes in all families: family 0 has ",
                    TextOf(expected_.Load({0, i})), ", family ", family, " ", TextOf(state)));
      }
      if (state.generation > newest.generation) newest = state;
    }
    // From here on all families have the same word, so the next batch continues from one state.
    for (int family = 0; family < families; family++) expected_.Store({family, i}, newest);
  }
}

}  // namespace

void VerifyAll(Shared* shared, Random64* random) {
  assert(shared != nullptr && random != nullptr);
  Verifier verifier(shared);
  // The draw differs from run to run, and a mistake that only one kind of read shows is found after
  // a few runs.
  for (int family = 0; family < shared->db->families(); family++) {
    switch (random->Uniform(4)) {
      case 0: verifier.ByIterator(family, /*is_forward=*/true); break;
      case 1: verifier.ByIterator(family, /*is_forward=*/false); break;
      case 2: verifier.ByGet(family); break;
      default: verifier.ByMultiGet(family); break;
    }
  }
  verifier.Mirrored();
}

}  // namespace ashlar::stress
