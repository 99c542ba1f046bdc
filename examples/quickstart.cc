// SPDX-License-Identifier: Apache-2.0
//
// The API on one page: open, write, read, batch, snapshot, iterate, close.
//
//   example_quickstart FOLDER
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/write_batch.h"

namespace {

// Every call that can fail returns a Status. An example may exit after the first error.
void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
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

  // When the call returns, the write survives a crash of the process. WriteOptions::sync makes it
  // survive a crash of the machine too.
  ashlar::WriteOptions durable;
  durable.sync = true;
  Require(db->Put(durable, "granite", "igneous"));

  // A batch is applied as a whole or not at all.
  ashlar::WriteBatch batch;
  Require(batch.Put("limestone", "sedimentary"));
  Require(batch.Put("marble", "metamorphic"));
  Require(batch.Put("mud", "no stone yet"));
  Require(db->Write(ashlar::WriteOptions(), &batch));

  // A snapshot keeps showing the state at the time when it was taken.
  const ashlar::Snapshot* before = db->GetSnapshot();
  Require(db->Delete(ashlar::WriteOptions(), "mud"));

  std::string value;
  const ashlar::Status now = db->Get(ashlar::ReadOptions(), "mud", &value);
  std::printf("mud now:             %s\n", now.IsNotFound() ? "not found" : value.c_str());
  ashlar::ReadOptions at_snapshot;
  at_snapshot.snapshot = before;
  Require(db->Get(at_snapshot, "mud", &value));
  std::printf("mud in the snapshot: %s\n", value.c_str());
  db->ReleaseSnapshot(before);

  // Keys are sorted. An iterator shows the database as it was when the iterator was created.
  std::unique_ptr<ashlar::Iterator> it(db->NewIterator(ashlar::ReadOptions()));
  std::printf("from \"l\" on:\n");
  for (it->Seek("l"); it->Valid(); it->Next()) {
    std::printf("  %s = %s\n", it->key().ToString().c_str(), it->value().ToString().c_str());
  }
  Require(it->status());
  it.reset();  // iterators must be deleted before the database

  Require(db->Close());
  return 0;
}
