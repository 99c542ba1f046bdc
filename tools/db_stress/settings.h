// SPDX-License-Identifier: Apache-2.0
//
// The command line of db_stress, and its help text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lib/command_line.h"
#include "util/result.h"

namespace ashlar::stress {

// How batches are written, and what the database is opened as.
enum class Transactions : uint8_t {
  kNone,        // as write batches
  kLocking,     // TransactionDB; half of them are prepared first
  kOptimistic,  // OptimisticTransactionDB
};

struct Settings {
  std::string db;
  std::string expected;    // file of the expected states
  int families = 4;        // the last one is dropped and created again from time to time
  uint64_t keys = 10'000;  // of each family
  int threads = 8;
  double seconds = 10;
  uint64_t ops_per_thread = 0;  // 0: run for `seconds`
  uint64_t seed = 0;            // of the operations
  uint64_t draw = 0;            // seed of the options; 0: default options
  std::string db_options;       // options strings that override the draw
  std::string family_options;
  size_t value_bytes = 100;
  int sync_percent = 2;
  int watchdog_seconds = 60;
  Transactions transactions = Transactions::kNone;
  int txn_write_policy = 0;  // with kLocking; a TxnDBWritePolicy
  bool destroys = false;
  bool verifies_only = false;
  bool skips_verification = false;
  bool tests_secondary = false;                     // compare every key in a secondary at the end
  std::map<std::string, int, std::less<>> weights;  // by operation; only those that were given
  // By operation, only those that were given: one call of so many is this operation, 0: none. Then
  // the weight is not used.
  std::map<std::string, uint64_t, std::less<>> one_in;
};

// InvalidArgument names the wrong flag. `operations` are the names that --weights may contain.
Result<Settings> ParseSettings(const CommandLine& line,
                               const std::vector<std::string_view>& operations);

// `operations` has a line of help for each operation.
std::string HelpText(const std::string& operations);

}  // namespace ashlar::stress
