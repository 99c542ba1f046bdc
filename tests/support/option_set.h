// SPDX-License-Identifier: Apache-2.0
//
// Option sets for the suites: numbers by name, drawn from a seed with extreme settings on purpose,
// written as text and turned into Options. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/table.h"

namespace ashlar {

class OptionSet {
 public:
  OptionSet() = default;  // small memtables and blocks, everything else plain
  // Risky ones change what a crash may leave, or where files lie.
  static OptionSet Draw(uint64_t seed, bool also_risky = false);
  static OptionSet Parse(const std::string& text);  // as ToString() writes it

  uint64_t Get(const std::string& name) const;
  void Set(const std::string& name, uint64_t value) { values_[name] = value; }
  std::vector<std::string> ChangedNames() const;  // those that differ from the plain set
  std::string ToString() const;                   // "block=64 memtable=4096 ...": the changed ones
  // Bytewise, reverse, or a custom order: shorter keys first.
  const Comparator* comparator() const;
  // With env set and create_if_missing.
  Options Build(Env* env) const;

 private:
  static uint64_t Plain(const std::string& name);
  void SetDbOptions(Options* options) const;
  void SetFamilyOptions(Options* options) const;
  void SetMemtableOptions(Options* options) const;
  void SetBlobOptions(Options* options) const;
  BlockBasedTableOptions TableOptions() const;

  std::map<std::string, uint64_t> values_;
};

}  // namespace ashlar
