// SPDX-License-Identifier: Apache-2.0
//
// Databases and files of tables without blocks, with RocksDB itself, for tests/interop: linked with
// the installed RocksDB, it knows nothing of Ashlar.
//
//   bare_theirs FAMILY_OPTIONS DB WORD ...
//       put KEY VALUE    delete KEY    flush    compact    ingest FILE
//       get KEY          prints "KEY VALUE" or "KEY none"
//       rows             prints "KEY VALUE" for each, by an iterator
//       file FILE        the words `put` that follow write this file until the word `end`
//
// Tables are mapped, because CuckooTables must be. Exit code 1 and the status if something failed.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"

namespace {

using rocksdb::DB;
using rocksdb::Options;
using rocksdb::Status;

void Require(const Status& status, const std::string& what) {
  if (status.ok()) return;
  std::cout << what << ": " << status.ToString() << "\n";
  std::exit(1);
}

void PrintRows(DB* db) {
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::cout << it->key().ToString() << " " << it->value().ToString() << "\n";
  }
  Require(it->status(), "iterate");
}

// Returns the place of the word behind `end`.
size_t WriteFile(const Options& options, const std::vector<std::string>& words, size_t i) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  Require(writer.Open(words.at(i++)), "open file");
  while (words.at(i) != "end") {
    Require(writer.Put(words.at(i + 1), words.at(i + 2)), "put into file");
    i += 3;
  }
  Require(writer.Finish(), "finish file");
  return i + 1;
}

void Run(const Options& options, const std::vector<std::string>& words) {
  DB* opened = nullptr;
  Require(DB::Open(options, words[0], &opened), "open");
  const std::unique_ptr<DB> db(opened);
  for (size_t i = 1; i < words.size();) {
    const std::string& word = words[i++];
    const auto next = [&] { return words.at(i++); };
    if (word == "put") {
      const std::string key = next(), value = next();
      Require(db->Put(rocksdb::WriteOptions(), key, value), "put");
    } else if (word == "delete") {
      Require(db->Delete(rocksdb::WriteOptions(), next()), "delete");
    } else if (word == "flush") {
      Require(db->Flush(rocksdb::FlushOptions()), "flush");
    } else if (word == "compact") {
      rocksdb::CompactRangeOptions all;
      all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      Require(db->CompactRange(all, nullptr, nullptr), "compact");
    } else if (word == "ingest") {
      Require(db->IngestExternalFile({next()}, rocksdb::IngestExternalFileOptions()), "ingest");
    } else if (word == "get") {
      const std::string key = next();
      std::string value;
      const Status status = db->Get(rocksdb::ReadOptions(), key, &value);
      if (!status.IsNotFound()) Require(status, "get");
      std::cout << key << " " << (status.ok() ? value : "none") << "\n";
    } else if (word == "rows") {
      PrintRows(db.get());
    } else if (word == "file") {
      i = WriteFile(options, words, i);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  Options options;
  Require(rocksdb::GetColumnFamilyOptionsFromString(rocksdb::ConfigOptions(), options, argv[1],
                                                    &options),
          "options");
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.allow_mmap_reads = true;
  Run(options, {argv + 2, argv + argc});
  return 0;
}
