// SPDX-License-Identifier: Apache-2.0
//
// Option sets for the suites: named numbers, drawn from a seed with deliberately extreme values,
// written as text and converted into Options. Threads: one at a time.
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
  OptionSet() = default;  // small memtables and blocks, everything else default
  // Risky options change what a crash may leave, or the directories of files.
  static OptionSet Draw(uint64_t seed, bool also_risky = false);
  static OptionSet Parse(const std::string& text);  // the form of ToString()

  uint64_t Get(const std::string& name) const;
  void Set(const std::string& name, uint64_t value) { values_[name] = value; }
  std::vector<std::string> ChangedNames()
      const;                     // the names whose values differ from the default set
  std::string ToString() const;  // "block=64 memtable=4096 ...": the changed values
  // Bytewise, reverse, or a custom order: shorter keys first.
  const Comparator* comparator() const;
  // With env and create_if_missing set.
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
