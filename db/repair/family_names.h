// SPDX-License-Identifier: Apache-2.0
//
// The names of column families of which only the id is known. WALs have ids; OPTIONS files have
// names in the order of the ids. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ashlar {

// Names for the ids in `known` (which keep theirs) and in `ids`, and ids for all of `names`, which
// come in the order of their ids. Where names and ids do not determine each other, an id gets the
// name "repaired-family-<id>", and a name gets an id above all others. No name gets an id below
// `first_new`: those that are not known belonged to families that were dropped.
std::map<uint32_t, std::string> NameFamilies(const std::map<uint32_t, std::string>& known,
                                             const std::set<uint32_t>& ids,
                                             const std::vector<std::string>& names,
                                             uint32_t first_new = 1);

}  // namespace ashlar
