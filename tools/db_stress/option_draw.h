// SPDX-License-Identifier: Apache-2.0
//
// Options drawn from a seed: all that may differ from one opening of a database to the next. A draw
// is a text in the options language, so it can be read, and given again by --db_options and
// --family_options; what has no text (caches, the kind of log, operators, filters) is named.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/options.h"
#include "tools/db_stress/settings.h"
#include "util/random.h"
#include "util/result.h"

namespace ashlar::stress {

struct DrawnOptions {
  DBOptions db;
  std::vector<ColumnFamilyOptions> families;  // one each
  std::string text;                           // what was drawn, a line each
  std::unique_ptr<Env> env;                   // behind db.env, or null
};

// Defaults where settings.draw is 0. What the settings give as text comes last.
Result<DrawnOptions> MakeOptions(const Settings& settings);

// A change for SetOptions() or SetDBOptions().
struct OptionChange {
  const char* name;
  std::string value;
};
OptionChange DrawFamilyChange(Random64* random);
OptionChange DrawDbChange(Random64* random);

}  // namespace ashlar::stress
