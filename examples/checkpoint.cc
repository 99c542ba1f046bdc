// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint: a copy of a running database, openable like any other, made of hard links, so that
// it takes a moment and hardly any space. The base of every backup: copy the checkpoint away.
//
//   example_checkpoint FOLDER
//
// Prints:
//   the database: after
//   the checkpoint: before
//   back from the checkpoint: before
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/utilities/checkpoint.h"

namespace {

void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

void PrintValue(const char* what, ashlar::DB* db) {
  std::string value;
  Require(db->Get(ashlar::ReadOptions(), "state", &value));
  std::printf("%s: %s\n", what, value.c_str());
}

// The folder must not exist, and be on the same file system for hard links; else files are copied.
void MakeCheckpoint(ashlar::DB* db, const std::string& path) {
  ashlar::Checkpoint* made = nullptr;
  Require(ashlar::Checkpoint::Create(db, &made));
  const std::unique_ptr<ashlar::Checkpoint> checkpoint(made);
  Require(checkpoint->CreateCheckpoint(path));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::string path = argv[1], copy = path + ".checkpoint", restored = path + ".restored";
  ashlar::Options options;
  options.create_if_missing = true;
  std::unique_ptr<ashlar::DB> db;
  Require(ashlar::DB::Open(options, path, &db));
  Require(db->Put(ashlar::WriteOptions(), "state", "before"));
  MakeCheckpoint(db.get(), copy);  // writers may go on meanwhile
  Require(db->Put(ashlar::WriteOptions(), "state", "after"));
  PrintValue("the database", db.get());
  Require(db->Close());

  // A checkpoint is a database of its own: tables are never changed once they are written, so links
  // do no harm, and what is written to one is not in the other.
  options.create_if_missing = false;
  Require(ashlar::DB::Open(options, copy, &db));
  PrintValue("the checkpoint", db.get());

  // Going back without giving up the checkpoint: a checkpoint of it takes the place of the
  // database.
  MakeCheckpoint(db.get(), restored);
  Require(db->Close());
  Require(ashlar::DB::Open(options, restored, &db));
  PrintValue("back from the checkpoint", db.get());
  Require(db->Close());
  return 0;
}
