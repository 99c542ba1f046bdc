// SPDX-License-Identifier: Apache-2.0
//
// The sample databases that RocksDB wrote, with the listings of what they hold; and comparing a
// database, or the files of a directory, with what they should be.
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

// Names as "rocksdb-7.8/empty": all of the shared data, or the few of tests/data/db where that is
// missing.
std::vector<std::string> SampleDatabaseNames();

// Unpacks a sample below a new temporary directory; returns the database's own directory.
std::string UnpackSampleDatabase(const std::string& name);

// What RocksDB's iterator returned, family by family.
std::map<std::string, Entries> SampleDatabaseEntries(const std::string& name);

// Name and contents of every file in `dir`.
std::map<std::string, std::string> FilesOf(const std::string& dir);

// The names of the files that were added, removed or changed; empty if there are none.
std::string DifferencesBetween(const std::map<std::string, std::string>& before,
                               const std::map<std::string, std::string>& after);

// Reads everything forwards, backwards, by Get, MultiGet and Seek.
testing::AssertionResult HoldsExactly(DB* db, ColumnFamilyHandle* family, const Entries& expected);

}  // namespace ashlar
