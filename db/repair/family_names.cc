// SPDX-License-Identifier: Apache-2.0
//
// Names that are known divide the list of names into gaps, as their ids divide the ids. Each gap is
// matched by itself.
#include "db/repair/family_names.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Names and ids between two known families.
struct Gap {
  std::vector<std::string> names;
  uint32_t begin = 0;         // the first id that may belong to one of the names
  uint64_t end = 0;           // above the last one; above all ids in the last gap
  std::vector<uint32_t> ids;  // seen in logs or tables
};

// The ids of the gap's names, in the same order; empty if they cannot be determined.
std::vector<uint32_t> IdsOfNames(const Gap& gap) {
  if (gap.ids.size() == gap.names.size()) return gap.ids;
  // As many ids as names. Or the last gap, if its families were created one after the other and
  // none was dropped.
  const bool is_last = gap.end > UINT32_MAX;
  const bool is_dense = gap.end - gap.begin == gap.names.size();
  const bool fits = gap.ids.empty() || gap.ids.back() < gap.begin + gap.names.size();
  if (gap.ids.size() > gap.names.size() || !(is_dense || (is_last && fits))) return {};
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < gap.names.size(); i++) ids.push_back(gap.begin + i);
  return ids;
}

}  // namespace

std::map<uint32_t, std::string> NameFamilies(const std::map<uint32_t, std::string>& known,
                                             const std::set<uint32_t>& ids,
                                             const std::vector<std::string>& names,
                                             uint32_t first_new) {
  std::map<uint32_t, std::string> result = known;
  std::map<std::string, uint32_t> id_of_name;
  for (const auto& [id, name] : known) id_of_name[name] = id;
  // Names without an id so far.
  std::vector<std::string> left;
  // Ends the gap at the id `end`, and adds the names that could be matched.
  const auto close = [&](Gap* gap, uint64_t end) {
    gap->begin = std::max(gap->begin, first_new);
    gap->end = std::max<uint64_t>(gap->begin, end);
    for (const uint32_t id : ids) {
      if (id >= gap->begin && id < end && !known.contains(id)) gap->ids.push_back(id);
    }
    const std::vector<uint32_t> found = IdsOfNames(*gap);
    for (size_t i = 0; i < found.size(); i++) result.emplace(found[i], gap->names[i]);
    if (found.empty()) left.insert(left.end(), gap->names.begin(), gap->names.end());
  };
  Gap gap;
  for (const std::string& name : names) {
    const auto pin = id_of_name.find(name);
    if (pin == id_of_name.end()) {
      gap.names.push_back(name);
    } else if (pin->second >= gap.begin) {  // otherwise the names are not in the order of the ids
      close(&gap, pin->second);
      gap = Gap{};
      gap.begin = pin->second + 1;
    }
  }
  // The last gap has no known family behind it.
  close(&gap, uint64_t{UINT32_MAX} + 1);
  for (const uint32_t id : ids) {
    if (!result.contains(id)) result[id] = StrCat("repaired-family-", id);
  }
  for (const std::string& name : left) {
    // Above all ids in use, so that no dropped family is confused with the new one.
    const uint32_t last = result.empty() ? 0 : std::prev(result.end())->first;
    result[std::max(last + 1, first_new)] = name;
  }
  return result;
}

}  // namespace ashlar
