// SPDX-License-Identifier: Apache-2.0
//
// Option sets for the suites: numbers by name, drawn from a seed with extreme settings on purpose,
// written as text and turned into Options. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ashlar/options.h"

namespace ashlar {

class OptionSet {
 public:
  OptionSet() = default;  // small memtables and blocks, everything else plain
  static OptionSet Draw(uint64_t seed);

  uint64_t Get(const std::string& name) const;
  void Set(const std::string& name, uint64_t value) { values_[name] = value; }
  std::string ToString() const;  // "block=64 memtable=4096 ..."
  // Bytewise, reverse, or a custom order: shorter keys first.
  const Comparator* comparator() const;
  // With env set and create_if_missing.
  Options Build(Env* env) const;

 private:
  std::map<std::string, uint64_t> values_;
};

}  // namespace ashlar
