// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: a checkpoint is a copy of an open database that can itself be opened as a database.
// It consists of hard links, so it takes little time and hardly any space. To make a backup, copy a
// checkpoint to another disk.
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

// The directory must not exist. If it is on another file system, files are copied instead of
// linked.
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
  MakeCheckpoint(db.get(), copy);  // other threads may write meanwhile
  Require(db->Put(ashlar::WriteOptions(), "state", "after"));
  PrintValue("the database", db.get());
  Require(db->Close());

  // A checkpoint is an independent database: tables never change, so the hard links do no harm, and
  // writes to one database do not appear in the other.
  options.create_if_missing = false;
  Require(ashlar::DB::Open(options, copy, &db));
  PrintValue("the checkpoint", db.get());

  // To go back without losing the checkpoint, replace the database by a checkpoint of the
  // checkpoint.
  MakeCheckpoint(db.get(), restored);
  Require(db->Close());
  Require(ashlar::DB::Open(options, restored, &db));
  PrintValue("back from the checkpoint", db.get());
  Require(db->Close());
  return 0;
}
