// SPDX-License-Identifier: Apache-2.0
//
// The history of transactions that append their numbers to lists. The lists at the end give the
// order of the writers of each key, and what a transaction has read gives the writer before it and
// the one after it; so the history tells whether there is an order of all transactions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ashlar {

class ListHistory {
 public:
  struct Seen {
    std::map<std::string, std::string> reads;  // before an append of its own
    std::set<std::string> appended;
  };

  // The last attempt of a number is the one that commits. Thread-safe.
  void Note(int number, Seen seen) {
    const std::lock_guard<std::mutex> lock(mutex_);
    committed_[number] = std::move(seen);
  }

  // One list as it is at the end. Each committed append must be in it, and each read must have been
  // a list of its past.
  void AddList(const std::string& name, const std::string& final_list) {
    const std::vector<int> writers = Parse(final_list);
    for (size_t n = 1; n < writers.size(); ++n) {
      AddEdge(writers[n - 1], writers[n], /*is_anti=*/false);
    }
    for (const auto& [number, seen] : committed_) {
      if (seen.appended.contains(name)) {
        ASSERT_EQ(std::count(writers.begin(), writers.end(), number), 1) << "a lost update";
      }
      const auto read = seen.reads.find(name);
      if (read == seen.reads.end()) continue;
      ASSERT_EQ(final_list.substr(0, read->second.size()), read->second) << "a dirty or lost read";
      const size_t length = Parse(read->second).size();
      if (length > 0) AddEdge(writers[length - 1], number, /*is_anti=*/false);
      if (length < writers.size()) AddEdge(number, writers[length], /*is_anti=*/true);
    }
  }

  // How many transactions are in circles, or behind one: none if there is one order of all.
  size_t InCircles() const { return CountInCircles(/*allows_skew=*/false); }
  // The same without circles that snapshots allow: those in which somebody who was overtaken by
  // the next one's write has overtaken another one (write skew).
  size_t InCirclesOfSnapshots() const { return CountInCircles(/*allows_skew=*/true); }

 private:
  // A transaction, and whether the way to it ended with an edge from a reader to a later writer.
  using Place = std::pair<int, bool>;

  static std::vector<int> Parse(const std::string& list) {
    std::vector<int> numbers;
    for (size_t at = 0; at < list.size();) {
      const size_t comma = list.find(',', at);
      numbers.push_back(std::stoi(list.substr(at, comma - at)));
      at = comma + 1;
    }
    return numbers;
  }
  void AddEdge(int from, int to, bool is_anti) {
    if (from != to) edges_.insert({{from, to}, is_anti});
  }
  size_t CountInCircles(bool allows_skew) const {
    std::map<Place, std::set<Place>> before;
    std::set<Place> left;
    for (const auto& [number, seen] : committed_) {
      left.insert({number, false});
      if (allows_skew) left.insert({number, true});
    }
    for (const auto& [ends, is_anti] : edges_) {
      const bool marks = allows_skew && is_anti;
      before[{ends.second, marks}].insert({ends.first, false});
      if (allows_skew && !is_anti) before[{ends.second, false}].insert({ends.first, true});
    }
    // Removes places with nothing before them until none is left.
    for (bool is_progress = true; is_progress;) {
      is_progress = false;
      for (auto it = left.begin(); it != left.end();) {
        bool is_first = true;
        for (const Place& other : before[*it]) is_first = is_first && !left.contains(other);
        it = is_first ? (is_progress = true, left.erase(it)) : std::next(it);
      }
    }
    std::set<int> numbers;
    for (const Place& place : left) numbers.insert(place.first);
    return numbers.size();
  }

  std::mutex mutex_;
  std::map<int, Seen> committed_;
  std::multimap<std::pair<int, int>, bool> edges_;
};

}  // namespace ashlar
