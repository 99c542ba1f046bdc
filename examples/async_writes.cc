// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous writes: two threads each hand in a thousand durable writes without waiting for them.
// A callback counts the writes that are on disk.
//
//   example_async_writes FOLDER
//
// Prints:
//   2000 writes are durable
//   the last one of each thread: 999 999
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "ashlar/async.h"
#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/write_batch.h"

namespace {

void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

// The callbacks use the counter, so it must live until the writer is closed.
void HandIn(ashlar::AsyncWriter* writer, const std::string& name, std::atomic<int>* durable) {
  ashlar::WriteOptions options;
  options.sync = true;
  for (int i = 0; i < 1000; i++) {
    ashlar::WriteBatch batch;
    Require(batch.Put(name, std::to_string(i)));
    const auto count = [durable](const ashlar::Status& status) {
      Require(status);
      (*durable)++;
    };
    Require(writer->Write(options, std::move(batch), count));
  }
}

std::string ValueOf(ashlar::DB* db, const std::string& key) {
  std::string value;
  Require(db->Get(ashlar::ReadOptions(), key, &value));
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  ashlar::Options options;
  options.create_if_missing = true;
  std::unique_ptr<ashlar::DB> db;
  Require(ashlar::DB::Open(options, argv[1], &db));

  std::atomic<int> durable{0};
  std::unique_ptr<ashlar::AsyncWriter> writer;
  Require(ashlar::AsyncWriter::Open(db.get(), ashlar::AsyncWriterOptions(), &writer));
  std::thread first(HandIn, writer.get(), "first", &durable);
  std::thread second(HandIn, writer.get(), "second", &durable);
  first.join();
  second.join();
  Require(writer->Close());  // every callback has returned

  std::printf("%d writes are durable\n", durable.load());
  std::printf("the last one of each thread: %s %s\n", ValueOf(db.get(), "first").c_str(),
              ValueOf(db.get(), "second").c_str());
  Require(db->Close());
  return 0;
}
