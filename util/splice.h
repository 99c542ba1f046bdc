// SPDX-License-Identifier: Apache-2.0
//
// Splice says how one sequence becomes another: what leaves it and what comes in between. Applying
// it copies the runs that stay as they are, so that nothing is done to an element that stays.
#pragma once

#include <cassert>
#include <cstddef>
#include <vector>

namespace ashlar {

template <typename T>
struct Splice {
  struct Insertion {
    size_t before = 0;  // this element of the base, or its end
    T value;
  };
  std::vector<size_t> removed;      // indexes in the base, ascending
  std::vector<Insertion> inserted;  // in the order of the result

  bool empty() const { return removed.empty() && inserted.empty(); }

  // `project` makes the element from an inserted value.
  template <typename U, typename Project>
  std::vector<U> Apply(const std::vector<U>& base, Project project) const {
    assert(removed.size() <= base.size());
    std::vector<U> result;
    result.reserve(base.size() - removed.size() + inserted.size());
    auto next_removed = removed.begin();
    size_t next = 0;
    const auto copy_until = [&](size_t end) {
      assert(next <= end && end <= base.size());
      for (; next_removed != removed.end() && *next_removed < end; ++next_removed) {
        result.insert(result.end(), base.begin() + static_cast<ptrdiff_t>(next),
                      base.begin() + static_cast<ptrdiff_t>(*next_removed));
        next = *next_removed + 1;
      }
      result.insert(result.end(), base.begin() + static_cast<ptrdiff_t>(next),
                    base.begin() + static_cast<ptrdiff_t>(end));
      next = end;
    };
    for (const Insertion& insertion : inserted) {
      copy_until(insertion.before);
      result.push_back(project(insertion.value));
    }
    copy_until(base.size());
    return result;
  }
};

}  // namespace ashlar
