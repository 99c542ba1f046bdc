// SPDX-License-Identifier: Apache-2.0
//
// Splice describes the difference between two sequences: which elements are removed and which are
// inserted. Applying it copies the unchanged ranges as they are, without work for each element.
#pragma once

#include <cassert>
#include <cstddef>
#include <vector>

namespace ashlar {

template <typename T>
struct Splice {
  struct Insertion {
    // Index in the base of the element to insert before, or the size of the base.
    size_t before = 0;
    T value;
  };
  std::vector<size_t> removed;      // indexes in the base, ascending
  std::vector<Insertion> inserted;  // in the order of the result

  bool empty() const { return removed.empty() && inserted.empty(); }

  // `project` converts an inserted value to an element.
  template <typename U, typename Project>
  std::vector<U> Apply(const std::vector<U>& base, Project project) const {
    assert(removed.size() <= base.size());
    std::vector<U> result;
    result.reserve(base.size() - removed.size() + inserted.size());
    auto next_removed = removed.begin();
    size_t next = 0;
    const auto copy_until = [&](size_t end) {
      assert(next <= end);
      assert(end <= base.size());
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
