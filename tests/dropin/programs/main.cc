// SPDX-License-Identifier: Apache-2.0
//
// Runs the counterparts of programs, each in a folder of its own: all of them, or the named ones.
//
//   programs [NAME...]
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "tests/dropin/programs/program.h"

namespace {

struct Program {
  const char* name;
  void (*run)(const std::string& folder);
};

const Program kPrograms[] = {
    {"kvrocks", programs::Kvrocks},
    {"pika", programs::Pika},
    {"pegasus", programs::Pegasus},
    {"nebula", programs::Nebula},
    {"memgraph", programs::Memgraph},
    {"myrocks", programs::MyRocks},
    {"baikaldb", programs::BaikalDb},
    {"clickhouse", programs::ClickHouse},
    {"ceph", programs::Ceph},
    {"foundationdb", programs::FoundationDb},
    {"ton", programs::Ton},
    {"osquery", programs::Osquery},
    {"level", programs::NodeLevel},
    {"erlang-rocksdb", programs::Erlang},
    {"rocksdb-js", programs::RocksdbJs},
    {"ycsb-cpp", programs::YcsbCpp},
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  std::string root = (std::filesystem::temp_directory_path() / "programs_XXXXXX").string();
  REQUIRE(mkdtemp(root.data()) != nullptr);
  size_t count = 0;
  for (const Program& program : kPrograms) {
    if (!wanted.empty() && std::count(wanted.begin(), wanted.end(), program.name) == 0) continue;
    std::printf("%s\n", program.name);
    std::fflush(stdout);  // the last line names the program that fails
    const std::string folder = root + "/" + program.name;
    std::filesystem::create_directory(folder);
    program.run(folder);
    ++count;
  }
  std::filesystem::remove_all(root);
  REQUIRE(count == (wanted.empty() ? std::size(kPrograms) : wanted.size()));
  std::printf("programs: %zu ok\n", count);
  return 0;
}
