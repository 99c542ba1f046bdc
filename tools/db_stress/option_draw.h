// SPDX-License-Identifier: Apache-2.0
//
// Options drawn from a seed; any of them may differ from one opening of a database to the next. The
// draw is printed as an options string, which can be passed to --db_options and --family_options
// again. Options without a text form (caches, the kind of log, merge operators, filters) are
// printed by name.
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
  std::vector<ColumnFamilyOptions> families;  // one for each family
  std::string text;                           // the draw, a line for the database and each family
  std::unique_ptr<Env> env;                   // owns db.env, or null
};

// Default options if settings.draw is 0. The options strings of the settings override the draw.
Result<DrawnOptions> MakeOptions(const Settings& settings);

// A change for SetOptions() or SetDBOptions().
struct OptionChange {
  const char* name;
  std::string value;
};
OptionChange DrawFamilyChange(Random64* random);
OptionChange DrawDbChange(Random64* random);

}  // namespace ashlar::stress
