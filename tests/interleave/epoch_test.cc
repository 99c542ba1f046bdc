// SPDX-License-Identifier: Apache-2.0
//
// Epochs: nothing is freed while a reader uses it. The reader announces itself with an ordinary
// store, which the exploration may delay; the membarrier of the reclaimer makes that safe.
#include "util/threads/epoch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "tests/interleave/interleave.h"
#include "tests/support/retired_call.h"

namespace ashlar::interleave {
namespace {

struct Object : EpochRetired {
  std::atomic<bool> is_alive{true};
};

struct Shared {
  Object objects[3];
  std::atomic<Object*> head{&objects[0]};

  void Read() {
    EpochGuard guard;
    Object* object = head.load(std::memory_order_acquire);
    Require(object->is_alive.load(), "what is found in an epoch lives");
    Require(object->is_alive.load(), "until it ends");
  }
  void Replace(int next) {
    Object* old = head.exchange(&objects[next], std::memory_order_acq_rel);
    EpochRetire(old, [](EpochRetired* p) { static_cast<Object*>(p)->is_alive.store(false); });
    EpochReclaim();
  }
};

TEST(EpochOrders, NothingIsFreedUnderAReader) {
  ExpectAlways({.preemptions = 3, .delays_stores = true}, [] {
    auto shared = std::make_shared<Shared>();
    return Scenario{.threads = {[shared] { shared->Read(); }, [shared] { shared->Replace(1); }},
                    .check = [] { EpochDrain(); }};
  });
}

TEST(EpochOrders, NothingIsFreedUnderAReturningReaderWhileTwoReplace) {
  ExpectAlways({.preemptions = 2, .delays_stores = true}, [] {
    auto shared = std::make_shared<Shared>();
    return Scenario{.threads = {[shared] {
                                  shared->Read();
                                  shared->Read();
                                },
                                [shared] {
                                  shared->Replace(1);
                                  shared->Replace(2);
                                }},
                    .check = [] { EpochDrain(); }};
  });
}

TEST(EpochOrders, TwoReclaimersFreeEachObjectOnce) {
  ExpectAlways({.preemptions = 2}, [] {
    auto count = std::make_shared<std::atomic<int>>(0);
    const auto run = [count] {
      RetireCall([count] { count->fetch_add(1); });
      EpochReclaim();
    };
    return Scenario{.threads = {run, run}, .check = [count] {
                      EpochDrain();
                      Require(count->load() == 2, "each once");
                    }};
  });
}

}  // namespace
}  // namespace ashlar::interleave
