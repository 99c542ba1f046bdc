// SPDX-License-Identifier: Apache-2.0
//
// The sample databases that RocksDB wrote, with listings of their contents; and functions that
// compare a database, or the files of a directory, with the expectation.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"

namespace ashlar {

// In the order of an iterator.
using Entries = std::vector<std::pair<std::string, std::string>>;

// Names such as "rocksdb-7.8/empty": all of the shared data, or the few in tests/data/db if that is
// missing.
std::vector<std::string> SampleDatabaseNames();

// Unpacks a sample below a new temporary directory; returns the directory of the database.
std::string UnpackSampleDatabase(const std::string& name);

// The rows that RocksDB's iterator returned, by family.
std::map<std::string, Entries> SampleDatabaseEntries(const std::string& name);

// Name and contents of every file in `dir`.
std::map<std::string, std::string> FilesOf(const std::string& dir);

// The names of the files that were added, removed or changed; empty if there are none.
std::string DifferencesBetween(const std::map<std::string, std::string>& before,
                               const std::map<std::string, std::string>& after);

// Reads everything forwards, backwards, by Get, MultiGet and Seek.
testing::AssertionResult HoldsExactly(DB* db, ColumnFamilyHandle* family, const Entries& expected);

}  // namespace ashlar
