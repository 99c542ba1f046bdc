// SPDX-License-Identifier: Apache-2.0
//
// One random program over RocksDB's public API, compiled with the drop-in and with RocksDB: both
// must print the same.
//
//   differential run DIR FIRST LAST [STEPS...]   the programs of seeds FIRST to LAST, each on a
//   fresh
//                                                database, all sessions; only STEPS
//                                                (session:step) if given
//   differential leg DIR SEED SESSION [STEPS...] one session on the database of the sessions
//                                                before; ends by SIGKILL if the program requires it
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "session.h"
#include "shape.h"

namespace differential {
namespace {

constexpr int kSteps = 90;

using Chosen = std::set<std::pair<int, int>>;  // empty: all

// False if the database cannot be opened.
bool RunSession(const Shape& shape, int number, const std::string& dir, const Chosen& chosen,
                bool may_kill) {
  Session session(shape, number, dir);
  if (!session.Open()) return false;
  for (int step = 0; step < kSteps; step++) {
    if (chosen.empty() || chosen.count({number, step}) != 0) session.Step(step);
  }
  session.Finish(/*prints_entries=*/!chosen.empty());
  std::fflush(stdout);
  if (may_kill && session.ends_by_kill()) kill(getpid(), SIGKILL);
  session.Close();
  return true;
}

void RunSeed(uint64_t seed, const std::string& dir, const Chosen& chosen) {
  const Shape shape = ShapeOf(seed);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  for (int i = 0; i < shape.sessions; i++) {
    if (!RunSession(shape, i, dir, chosen, /*may_kill=*/false)) break;
  }
  rocksdb::Options options;
  const rocksdb::Status status = rocksdb::DestroyDB(dir, options);
  if (!status.ok()) std::printf("destroy: %s\n", status.ToString().c_str());
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s run DIR FIRST LAST [S:N...] | leg DIR SEED SESSION [S:N...]\n",
                 argv[0]);
    return 2;
  }
  static char buffer[1 << 20];
  std::setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
  const std::string dir = argv[2];
  const uint64_t first = std::strtoull(argv[3], nullptr, 10);
  const uint64_t second = std::strtoull(argv[4], nullptr, 10);
  Chosen chosen;
  for (int i = 5; i < argc; i++) {
    const char* const colon = std::strchr(argv[i], ':');
    if (colon == nullptr) return 2;
    chosen.insert({std::atoi(argv[i]), std::atoi(colon + 1)});
  }
  if (std::strcmp(argv[1], "leg") == 0) {
    const Shape shape = ShapeOf(first);
    return RunSession(shape, static_cast<int>(second), dir, chosen, /*may_kill=*/true) ? 0 : 1;
  }
  for (uint64_t seed = first; seed <= second; seed++) {
    RunSeed(seed, dir + "/" + std::to_string(seed), chosen);
  }
  return 0;
}

}  // namespace
}  // namespace differential

int main(int argc, char** argv) { return differential::Main(argc, argv); }
