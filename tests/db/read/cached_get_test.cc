// SPDX-License-Identifier: Apache-2.0
//
// A Get or a MultiGet of up to 32 keys that finds everything in memory only writes to its own stack
// and to the results of the caller: no reference count, no usage counter, no lock, no allocation. A
// step of an iterator writes to the memory of the iterator and, when it enters another block, to
// the reference counts of the two blocks. The tests count every store.
#include <algorithm>
#include <iterator>
#include <thread>

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/iostats_context.h"
#include "ashlar/perf_context.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"
#include "tests/support/write_watch.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

struct Reader {
  DB* db = nullptr;
  ColumnFamilyHandle* family = nullptr;
  std::vector<std::string> keys;
  ReadOptions options;
  PinnableSlice value;

  // Returns how many keys are found.
  static int ReadAll(void* argument) {
    auto* reader = static_cast<Reader*>(argument);
    int found = 0;
    for (const std::string& key : reader->keys) {
      found += reader->db->Get(reader->options, reader->family, key, &reader->value).ok() ? 1 : 0;
      reader->value.Reset();
    }
    return found;
  }
};

// Reads keys of two families with one MultiGet.
struct BatchReader {
  static constexpr size_t kKeys = 32;

  DB* db = nullptr;
  ColumnFamilyHandle* families[kKeys];
  Slice keys[kKeys];
  PinnableSlice values[kKeys];
  Status statuses[kKeys];
  ReadOptions options;

  static int ReadAll(void* argument) {
    auto* reader = static_cast<BatchReader*>(argument);
    reader->db->MultiGet(reader->options, kKeys, reader->families, reader->keys, reader->values,
                         reader->statuses);
    int found = 0;
    for (size_t i = 0; i < kKeys; ++i) {
      found += reader->statuses[i].ok() ? 1 : 0;
      reader->values[i].Reset();
    }
    return found;
  }
};

struct Stepper {
  std::unique_ptr<Iterator> iterator;
  int steps = 0;

  static int Step(void* argument) {
    auto* stepper = static_cast<Stepper*>(argument);
    int done = 0;
    for (; done < stepper->steps && stepper->iterator->Valid(); ++done) stepper->iterator->Next();
    return done;
  }
};

// What the calling thread has for itself, besides its stack: its place among the epochs, and its
// contexts of counters. `more` is memory of the caller.
std::vector<OwnMemory> MemoryOfThread(const OwnMemory& more = {}) {
  return {{epoch_internal::ThisSlot(), sizeof(epoch_internal::Slot)},
          {get_perf_context(), sizeof(PerfContext)},
          {get_iostats_context(), sizeof(IOStatsContext)},
          more};
}

class CachedGetTest : public DbTest {
 protected:
  // Keys in tables of two levels, one in the memtable, and a second family.
  void SetUp() override {
    if (!CanWatchWrites()) return SkipAsImpossible("watching of stores in this build");
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(8 << 20);
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
    for (int i = 0; i < 2000; i++) Put(Key(i), std::string(20, 'v'));
    Compact();
    for (int i = 0; i < 2000; i += 2) Put(Key(i), std::string(20, 'w'));
    Flush();
    Put("in memory", "x");
    other_ = CreateFamily("other");
    for (int i = 0; i < 100; i++) Put(other_, Key(i), std::string(20, 'o'));
    Flush(other_);
  }

  // The stores of a reader thread with warm caches, except those to its own memory.
  std::vector<uintptr_t> SharedStores(const std::vector<std::string>& keys, int expected_found) {
    WatchedRun run;
    std::thread([&] {
      Reader reader;  // on this thread's stack
      reader.db = db_.get();
      reader.family = db_->DefaultColumnFamily();
      reader.keys = keys;
      reader.value.GetSelf()->reserve(64);
      for (int i = 0; i < 20; ++i) Reader::ReadAll(&reader);
      run = WatchStores(
          &Reader::ReadAll, &reader,
          MemoryOfThread({reader.value.GetSelf()->data(), reader.value.GetSelf()->capacity()}));
    }).join();
    EXPECT_TRUE(run.has_ended);
    EXPECT_EQ(run.result, expected_found);
    return run.stores;
  }

  // The same for a batch of such keys, every fourth of them in the other family.
  std::vector<uintptr_t> StoresOfBatch(const std::vector<std::string>& keys, int expected_found) {
    WatchedRun run;
    std::thread([&] {
      BatchReader reader;
      reader.db = db_.get();
      std::vector<OwnMemory> own = MemoryOfThread();
      for (size_t i = 0; i < BatchReader::kKeys; ++i) {
        reader.keys[i] = keys[i % keys.size()];
        reader.families[i] = i % 4 == 3 ? other_ : db_->DefaultColumnFamily();
        std::string* const self = reader.values[i].GetSelf();
        self->reserve(64);
        own.push_back({self->data(), self->capacity()});
      }
      for (int i = 0; i < 20; ++i) BatchReader::ReadAll(&reader);
      run = WatchStores(&BatchReader::ReadAll, &reader, own);
    }).join();
    EXPECT_TRUE(run.has_ended);
    EXPECT_EQ(run.result, expected_found);
    return run.stores;
  }

  // The addresses to which two iterators store that make the same steps from the same key. They
  // only have in common what all readers share.
  std::vector<uintptr_t> StoresOfSteps(const std::string& from, int steps) {
    std::vector<uintptr_t> stores[2];
    std::thread([&] {
      Stepper steppers[2];
      for (Stepper& stepper : steppers) {
        stepper.iterator.reset(db_->NewIterator(ReadOptions()));
        stepper.steps = steps;
        for (int i = 0; i < 5; ++i) {
          stepper.iterator->Seek(from);
          Stepper::Step(&stepper);
        }
        stepper.iterator->Seek(from);
        stepper.iterator->Next();
      }
      for (int i = 0; i < 2; ++i) {
        const WatchedRun run = WatchStores(&Stepper::Step, &steppers[i], MemoryOfThread());
        EXPECT_TRUE(run.has_ended);
        EXPECT_EQ(run.result, steps);
        EXPECT_FALSE(run.stores.empty());  // an iterator writes to its own memory
        stores[i] = run.stores;
        std::sort(stores[i].begin(), stores[i].end());
      }
    }).join();
    std::vector<uintptr_t> shared;
    std::set_intersection(stores[0].begin(), stores[0].end(), stores[1].begin(), stores[1].end(),
                          std::back_inserter(shared));
    return shared;
  }

  ColumnFamilyHandle* other_ = nullptr;
};

TEST_F(CachedGetTest, TheWatchSeesAStoreThatIsTakenBack) {
  WatchedRun run;
  const auto count = std::make_unique<volatile int>(1);
  std::thread([&] {
    run = WatchStores(
        [](void* p) {
          auto* n = static_cast<volatile int*>(p);
          *n = *n + 1;
          *n = *n - 1;
          return int{*n};
        },
        const_cast<int*>(count.get()), {});
  }).join();
  EXPECT_TRUE(run.has_ended);
  EXPECT_EQ(run.result, 1);
  EXPECT_EQ(run.stores.size(), 2u);
}

TEST_F(CachedGetTest, WritesNoSharedMemoryWhenTheKeyIsInATable) {
  EXPECT_EQ(SharedStores({Key(0), Key(777), Key(1998)}, 3), std::vector<uintptr_t>());
}

TEST_F(CachedGetTest, WritesNoSharedMemoryWhenTheKeyIsInTheMemTable) {
  EXPECT_EQ(SharedStores({"in memory"}, 1), std::vector<uintptr_t>());
}

TEST_F(CachedGetTest, WritesNoSharedMemoryWhenThereIsNoSuchKey) {
  EXPECT_EQ(SharedStores({"missing", Key(500) + "x", "zzz"}, 0), std::vector<uintptr_t>());
}

TEST_F(CachedGetTest, ABatchWritesNoMemoryButItsOwn) {
  std::vector<std::string> keys;
  for (int i = 0; i < 32; i++) keys.push_back(Key(i * 7 % 100));
  EXPECT_EQ(StoresOfBatch(keys, 32), std::vector<uintptr_t>());
}

TEST_F(CachedGetTest, ABatchOfAbsentAndDuplicateKeysWritesNoMemoryButItsOwn) {
  const std::vector<std::string> keys = {"missing", Key(500) + "x", "in memory", Key(1998),
                                         Key(1998), "zzz",          Key(1),      "a"};
  // Two of the eight keys are read from the other family, which has neither of them.
  EXPECT_EQ(StoresOfBatch(keys, 4 * 3), std::vector<uintptr_t>());
}

TEST_F(CachedGetTest, AStepInsideABlockWritesNoSharedMemory) {
  EXPECT_EQ(StoresOfSteps(Key(0), 30), std::vector<uintptr_t>());
}

// The watch finds stores to shared memory: the reference counts of the blocks.
TEST_F(CachedGetTest, AStepToAnotherBlockWritesItsReferencesAlone) {
  const size_t stores = StoresOfSteps(Key(105), 35).size();
  EXPECT_GT(stores, 0u);
  EXPECT_LT(stores, 12u) << "one or two of the 35 steps go to another block";
}

}  // namespace
}  // namespace ashlar
