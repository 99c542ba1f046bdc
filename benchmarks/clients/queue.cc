// SPDX-License-Identifier: Apache-2.0
//
// A queue in a database: rows are put at the tail; the consumer seeks to the head, reads the row
// and deletes it. So all deleted rows lie before the target of every seek until compactions have
// removed them. Reports seeks and puts per second, and the times of seeks.
//
//   queue --db=FOLDER [--length=100000] [--operations=2000000] [--value_bytes=100] [--remembers=0]
//         [--write_buffer_mb=8] [--range_conversion=0]
//
// The queue is first filled to `length`; an operation puts one row and takes one. With
// --remembers=1 the consumer seeks from the row that it took last, as programs do that avoid
// tombstones; otherwise from the first possible key. --range_conversion is
// min_tombstones_for_range_conversion, which librocksdb does not have before version 11.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/version.h"

#include "benchmarks/clients/client.h"

namespace {

using client::Clock;
using client::Flags;
using client::KeyOf;
using client::Require;

class Queue {
 public:
  Queue(rocksdb::DB* db, const Flags& flags)
      : db_(db), remembers_(flags["remembers"] != 0), value_(flags["value_bytes"], 'v') {}

  void Put() { Require(db_->Put(rocksdb::WriteOptions(), KeyOf(tail_++), value_), "put"); }

  // Returns the microseconds of the seek.
  double Take() {
    const Clock::time_point begin = Clock::now();
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    it->Seek(remembers_ ? KeyOf(head_) : std::string("key"));
    if (!it->Valid()) client::Fail("the queue is empty: " + it->status().ToString());
    if (it->key() != rocksdb::Slice(KeyOf(head_))) {
      client::Fail("not the head: " + it->key().ToString());
    }
    const double nanos = static_cast<double>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
    Require(db_->Delete(rocksdb::WriteOptions(), it->key()), "delete");
    head_++;
    return nanos / 1000;
  }

 private:
  rocksdb::DB* const db_;
  const bool remembers_;
  const std::string value_;
  uint64_t head_ = 0, tail_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"length", 100000},
                     {"operations", 2000000},
                     {"value_bytes", 100},
                     {"remembers", 0},
                     {"write_buffer_mb", 8},
                     {"range_conversion", 0}},
                    argc, argv);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = flags["write_buffer_mb"] << 20;
#if ROCKSDB_MAJOR >= 11
  options.min_tombstones_for_range_conversion = static_cast<uint32_t>(flags["range_conversion"]);
#endif
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(options, flags.db(), &opened), "open");
  const std::unique_ptr<rocksdb::DB> db(opened);
  Queue queue(db.get(), flags);
  for (uint64_t i = 0; i < flags["length"]; i++) queue.Put();
  std::vector<double> seeks;
  seeks.reserve(flags["operations"]);
  const Clock::time_point begin = Clock::now();
  for (uint64_t i = 0; i < flags["operations"]; i++) {
    queue.Put();
    seeks.push_back(queue.Take());
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  double sum = 0;
  for (const double micros : seeks) sum += micros;
  const double count = static_cast<double>(flags["operations"]);
  client::Report("operations", count / seconds, "ops/sec");
  client::Report("seeks alone", count / (sum / 1e6), "ops/sec");
  std::sort(seeks.begin(), seeks.end());
  client::Report("seek, median", seeks[seeks.size() / 2], "micros");
  client::Report("seek, 99.9 %", seeks[seeks.size() * 999 / 1000], "micros");
  client::Report("seek, longest", seeks.back(), "micros");
  return 0;
}
