// SPDX-License-Identifier: Apache-2.0
//
// The B-link tree with concurrent insertions and readers. Run these under the thread sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "memtable/blink_tree.h"
#include "tests/memtable/length_first_comparator.h"
#include "util/random.h"

namespace ashlar {
namespace {

using Window = BlinkTree::Window;

// Key i of a thread. Neighbouring keys belong to different threads, so that insertions meet at the
// same place.
std::string SharedKey(int i, int thread, const std::string& prefix) {
  char text[48];
  snprintf(text, sizeof(text), "%s%08d%02d", prefix.c_str(), i, thread);
  return text;
}

struct ConcurrentCase {
  const char* name;
  const Comparator* comparator;
  const char* tree_prefix;
  const char* key_prefix;
  bool is_random;
  uint32_t fanout = BlinkTree::kMaxFanout;
};

class ConcurrentBlinkTree : public testing::TestWithParam<ConcurrentCase> {};

// Every key is looked up as soon as its insertion has returned, by another thread as well.
TEST_P(ConcurrentBlinkTree, FindsEveryKeyWhoseInsertReturned) {
  constexpr int kThreads = 4, kKeys = 3000;
  const ConcurrentCase& setup = GetParam();
  ConcurrentArena arena;
  BlinkTree tree(InternalKeyComparator(setup.comparator), setup.tree_prefix, &arena, setup.fanout);
  const uint64_t trailer = PackTrailer(5, kTypeValue);
  std::vector<int> order(kKeys);
  Random64 random(17);
  for (int i = 0; i < kKeys; ++i) {
    order[static_cast<size_t>(i)] = i;
    if (setup.is_random) {
      std::swap(order[static_cast<size_t>(i)], order[random.Uniform(static_cast<uint64_t>(i) + 1)]);
    }
  }
  std::atomic<int> done[kThreads] = {};
  std::atomic<int> missing{0};
  const auto expect_found = [&](const std::string& key) {
    const MemTableEntry* entry = tree.Find(tree.At(key, trailer)).entry;
    if (entry == nullptr || entry->user_key() != key) missing.fetch_add(1);
    Window window;
    tree.Seek(tree.At(key, trailer), &window);
    if (!window.IsValid() || window.entries[window.index] != entry) missing.fetch_add(1);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const int other = (t + 1) % kThreads;
      for (int i = 0; i < kKeys; ++i) {
        const std::string key = SharedKey(order[static_cast<size_t>(i)], t, setup.key_prefix);
        tree.Insert(tree.At(key, trailer), key, /*exclusive=*/false);
        expect_found(key);
        done[t].store(i + 1, std::memory_order_release);
        if (const int n = done[other].load(std::memory_order_acquire); n > 0) {
          expect_found(SharedKey(order[static_cast<size_t>(n - 1)], other, setup.key_prefix));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missing.load(), 0);

  int count = 0;
  Window window;
  for (tree.SeekToFirst(&window); window.IsValid(); tree.Next(&window), ++count) {
    ASSERT_EQ(window.entries[window.index]->user_key(), window.entries[window.index]->value());
  }
  EXPECT_EQ(count, kThreads * kKeys);
  tree.CheckInvariants();
}

INSTANTIATE_TEST_SUITE_P(
    Orders, ConcurrentBlinkTree,
    testing::Values(ConcurrentCase{"ascending", BytewiseComparator(), "", "", false},
                    ConcurrentCase{"random", BytewiseComparator(), "", "", true},
                    ConcurrentCase{"reverse", ReverseBytewiseComparator(), "", "", true},
                    ConcurrentCase{"custom", &kLengthFirst, "", "", true},
                    ConcurrentCase{"equal_heads", BytewiseComparator(), "", "12345678", true},
                    ConcurrentCase{"small_nodes", BytewiseComparator(), "", "", true, 3},
                    ConcurrentCase{"prefix", BytewiseComparator(), "user", "user", true}),
    [](const auto& info) { return std::string(info.param.name); });

// Readers iterate in both directions from random positions, while two writers insert.
void ReadBesideWriters(uint32_t fanout) {
  constexpr int kKeys = 5000;
  ConcurrentArena arena;
  const InternalKeyComparator comparator(BytewiseComparator());
  BlinkTree tree(comparator, "", &arena, fanout);
  // These keys exist all the time.
  for (int i = 0; i < kKeys; i += 10) {
    const std::string key = SharedKey(i, 9, "");
    tree.Insert(tree.At(key, 256), "v", false);
  }
  std::atomic<bool> stop{false};
  std::atomic<int> disorder{0};
  const auto walk = [&](Window* window, bool forward) {
    int missed = 0;
    std::string last;
    for (int i = 0; window->IsValid() && i < 100; ++i) {
      const MemTableEntry* entry = window->entries[window->index];
      const std::string key = entry->user_key().ToString();
      if (!last.empty()) {
        disorder += forward ? key < last : key > last;
        missed += std::abs(std::stoi(key.substr(0, 8)) - std::stoi(last.substr(0, 8))) > 10;
      }
      last = key;
      forward ? tree.Next(window) : tree.Prev(window);
    }
    disorder += missed;
  };
  std::thread reader([&] {
    Random64 random(5);
    while (!stop.load(std::memory_order_acquire)) {
      const std::string from = SharedKey(static_cast<int>(random.Uniform(kKeys)), 0, "");
      Window window;
      tree.Seek(tree.At(from, ~uint64_t{0}), &window);
      if (window.IsValid()) disorder += window.entries[window.index]->user_key().compare(from) < 0;
      walk(&window, true);
      tree.SeekForPrev(tree.At(from, 0), &window);
      if (window.IsValid()) disorder += window.entries[window.index]->user_key().compare(from) > 0;
      walk(&window, false);
      tree.SeekToLast(&window);
      disorder +=
          window.entries[window.index]->user_key().compare(SharedKey(kKeys - 10, 9, "")) < 0;
    }
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < 2; ++t) {
    writers.emplace_back([&, t] {
      Random64 random(static_cast<uint64_t>(t) + 1);
      for (int i = 0; i < 10000; ++i) {
        const std::string key = SharedKey(static_cast<int>(random.Uniform(kKeys)), t, "");
        const uint64_t trailer = PackTrailer(static_cast<uint64_t>(i), kTypeValue);
        tree.Insert(tree.At(key, trailer), "v", false);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop.store(true, std::memory_order_release);
  reader.join();
  EXPECT_EQ(disorder.load(), 0);
  tree.CheckInvariants();
}
TEST(ConcurrentBlinkTreeReaders, SeeAllThatIsThereInOrder) {
  ReadBesideWriters(BlinkTree::kMaxFanout);
}
TEST(ConcurrentBlinkTreeReaders, SeeAllThatIsThereInOrderInSmallNodes) { ReadBesideWriters(4); }

}  // namespace
}  // namespace ashlar
