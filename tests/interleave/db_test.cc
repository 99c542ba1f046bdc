// SPDX-License-Identifier: Apache-2.0
//
// A reader and a writer that flushes; the whole work of the writer may come at any point of the
// reader, and the whole reader at any point of the writer. So a view that is taken in two steps is
// found, whatever the two are.
//
// The writer writes the same number to a key in two families, in one batch, and flushes them, which
// drops the versions that no snapshot sees. So every reader must find the same number in both
// families, and not an older one than when it began. An older table holds 0, which no reader may
// see, and which keeps flushes from setting sequence numbers to zero. Flushes run on the writer's
// thread (SimEnv).
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/write_batch.h"
#include "tests/interleave/interleave.h"
#include "tests/support/sim_machine.h"
#include "util/threads/mutex.h"

namespace ashlar::interleave {
namespace {

using Handles = std::vector<ColumnFamilyHandle*>;

class Database {
 public:
  Database() : machine_(/*seed=*/1, SimMachine::Disk::kPlain) {
    Options options;
    options.env = machine_.env();
    options.create_if_missing = options.create_missing_column_families = true;
    options.disable_auto_compactions = true;
    options.max_open_files = -1;
    options.write_buffer_size = 64 << 10;
    options.stats_dump_period_sec = options.stats_persist_period_sec = 0;
    const std::vector<ColumnFamilyDescriptor> families = {
        {kDefaultColumnFamilyName, ColumnFamilyOptions(options)},
        {"second", ColumnFamilyOptions(options)}};
    Require(DB::Open(options, "/db", families, &handles_, &db_).ok(), "opens");
    WriteAndFlush("0");
    WriteNumber("1");
  }
  ~Database() {
    for (ColumnFamilyHandle* handle : handles_) {
      Require(db_->DestroyColumnFamilyHandle(handle).ok(), "handle");
    }
    db_.reset();
  }

  void WriteNumber(const std::string& number) {
    WriteBatch batch;
    for (ColumnFamilyHandle* handle : handles_) {
      Require(batch.Put(handle, "key", number).ok(), "put");
    }
    Require(db_->Write(WriteOptions(), &batch).ok(), "write");
  }
  // The thread of the writer.
  void WriteAndFlush(const std::string& number) {
    SleepReplacement* const before = SetSleepReplacement(machine_.executor());
    WriteNumber(number);
    Require(db_->Flush(FlushOptions(), handles_).ok(), "flush");
    SetSleepReplacement(before);
  }

  DB* db() { return db_.get(); }
  const Handles& handles() const { return handles_; }

 private:
  SimMachine machine_;
  std::unique_ptr<DB> db_;
  Handles handles_;
};

// The result of Get in a family, "" if the key is not found.
std::string Find(Database* db, ColumnFamilyHandle* handle, const Snapshot* snapshot) {
  ReadOptions options;
  options.snapshot = snapshot;
  std::string value;
  return db->db()->Get(options, handle, "key", &value).ok() ? value : "";
}

std::string FindByIterator(Iterator* it) {
  it->SeekToFirst();
  return it->Valid() ? it->value().ToString() : "";
}

void ExpectFor(void (*read)(Database*), int rounds = 1) {
  // Each flush yields sixteen times to readers, to let their epochs end, and then continues without
  // waiting.
  ExpectAlways({.preemptions = 1, .ignored_yields = 500}, [read, rounds] {
    auto db = std::make_shared<Database>();
    return Scenario{.threads = {[db, read] { read(db.get()); },
                                [db, rounds] {
                                  for (int i = 0; i < rounds; i++)
                                    db->WriteAndFlush(std::to_string(2 + i));
                                }}};
  });
}

TEST(ViewOrders, GetAlwaysFindsTheKey) {
  ExpectFor([](Database* db) {
    Require(Find(db, db->handles()[0], nullptr) >= "1", "the key is always there");
  });
}

TEST(ViewOrders, AnIteratorAlwaysFindsTheKey) {
  ExpectFor([](Database* db) {
    const std::unique_ptr<Iterator> it(db->db()->NewIterator(ReadOptions(), db->handles()[0]));
    const std::string number = FindByIterator(it.get());
    Require(number >= "1", "the key is always there");
    Require(FindByIterator(it.get()) == number, "an iterator sees one moment");
    Require(it->Refresh().ok() && FindByIterator(it.get()) >= number, "and then a later one");
  });
}

TEST(ViewOrders, ASnapshotKeepsItsVersions) {
  ExpectFor([](Database* db) {
    const Snapshot* snapshot = db->db()->GetSnapshot();
    const std::string number = Find(db, db->handles()[0], snapshot);
    Require(number >= "1", "the key is there in a snapshot");
    Require(Find(db, db->handles()[1], snapshot) == number, "a batch is seen as a whole");
    db->db()->ReleaseSnapshot(snapshot);
  });
}

TEST(ViewOrders, MultiGetReadsAllFamiliesAtOneMoment) {
  ExpectFor(
      [](Database* db) {
        const std::vector<Slice> keys(2, "key");
        std::vector<std::string> values;
        for (const Status& status :
             db->db()->MultiGet(ReadOptions(), db->handles(), keys, &values)) {
          Require(status.ok(), "the key is always there");
        }
        Require(values[0] >= "1", "as it was when the call began");
        Require(values[0] == values[1], "a batch is seen as a whole");
      },
      /*rounds=*/2);
}

// Data that skipped the log is not persisted, whenever the reader asks whether there is any.
TEST(ViewOrders, MultiGetOfPersistedDataFindsNoUnloggedData) {
  ExpectAlways({.preemptions = 1}, [] {
    auto database = std::make_shared<Database>();
    const auto write = [database] {
      WriteOptions unlogged;
      unlogged.disableWAL = true;
      Require(database->db()->Put(unlogged, "key", "unlogged").ok(), "put");
    };
    const auto read = [database] {
      ReadOptions options;
      options.read_tier = kPersistedTier;
      const Slice keys[] = {"key", "other"};
      PinnableSlice values[2];
      Status statuses[2];
      database->db()->MultiGet(options, database->handles()[0], 2, keys, values, statuses);
      // Once there is an unlogged write, memtables are skipped, and the table has 0.
      Require(statuses[0].ok() && (values[0] == "0" || values[0] == "1"), "a persisted value");
    };
    return Scenario{.threads = {write, read}};
  });
}

TEST(ViewOrders, NewIteratorsReadAllFamiliesAtOneMoment) {
  ExpectFor(
      [](Database* db) {
        std::vector<Iterator*> iterators;
        Require(db->db()->NewIterators(ReadOptions(), db->handles(), &iterators).ok(), "made");
        const std::unique_ptr<Iterator> first(iterators[0]), second(iterators[1]);
        const std::string number = FindByIterator(first.get());
        Require(number >= "1", "the key is always there");
        Require(FindByIterator(second.get()) == number, "a batch is seen as a whole");
      },
      /*rounds=*/2);
}

}  // namespace
}  // namespace ashlar::interleave
