// SPDX-License-Identifier: Apache-2.0
//
// The smallest program a user would write: opens the database named by its argument, writes,
// closes, opens again and reads. Built against the installed package, under either name.
#include <cstdio>
#include <string>

#ifdef CLIENT_OF_ROCKSDB
#include "rocksdb/db.h"
namespace engine = rocksdb;
#else
#include "ashlar/db.h"
namespace engine = ashlar;
#endif

namespace {

int Fail(const char* what, const engine::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  engine::Options options;
  options.create_if_missing = true;
  for (int round = 0; round < 2; round++) {
    engine::DB* db = nullptr;
    engine::Status status = engine::DB::Open(options, argv[1], &db);
    if (!status.ok()) return Fail("open", status);
    const std::string value = "value" + std::to_string(round);
    status = db->Put(engine::WriteOptions(), "key" + std::to_string(round), value);
    if (!status.ok()) return Fail("put", status);
    std::string read;
    status = db->Get(engine::ReadOptions(), "key0", &read);
    if (!status.ok()) return Fail("get", status);
    delete db;
    if (read != "value0") return 1;
  }
  std::printf("%s: ok\n", argv[0]);
  return 0;
}
