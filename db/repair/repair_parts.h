// SPDX-License-Identifier: Apache-2.0
//
// The private parts of Repair, for its source files.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/table_properties.h"
#include "db/repair/repair.h"
#include "env/filename.h"

namespace ashlar {

// The files that were found, by kind.
struct Repair::Files {
  void Add(const std::string& dir, const std::string& name, FileNumber number, FileType type) {
    if (type == kTableFile) tables[number] = dir + "/" + name;
    if (type == kBlobFile) blobs[number] = dir + "/" + name;
    if (type == kDescriptorFile) manifests.push_back(dir + "/" + name);
    if (type == kOptionsFile) newest_options = std::max(newest_options, number);
  }

  std::set<std::string> dirs;  // of tables, and the database's own; those that exist
  std::map<FileNumber, std::string> tables, blobs;  // paths
  std::vector<FileNumber> logs;                     // ascending
  std::vector<std::string> manifests;
  FileNumber newest_options = 0;  // 0: none
};

// A table in one of the directories that no usable MANIFEST explains.
struct Repair::Stray {
  FileNumber number = 0;
  std::string path;
  TableProperties properties;
  FileMetadata meta;  // without a place; set by DescribeStray()

  // Tables that were not written by a database (SstFileWriter) have an id that means "no family".
  bool HasFamily() const { return properties.column_family_id < UINT32_MAX / 2; }
  uint32_t FamilyId() const {
    return HasFamily() ? static_cast<uint32_t>(properties.column_family_id) : 0;
  }
};

// What is known about a family, and what the new MANIFEST will say about it.
struct Repair::Family {
  explicit Family(const Comparator* order) : comparator(order) {}

  uint32_t id = 0;
  std::string name;
  InternalKeyComparator comparator;
  ColumnFamilyOptions given_options;  // to open it with
  std::shared_ptr<const ColumnFamilyOptions> options;
  std::vector<std::string> dirs;           // of its tables, by path id
  const FamilyContent* content = nullptr;  // in the MANIFEST; null: it does not name the family
  bool has_losses = false;                 // a table is missing or damaged
  // The greatest sequence numbers in its tables: those that the MANIFEST names, and the others
  // without those that were ingested.
  SequenceNumber largest_named = 0, largest_flushed = 0;
  std::vector<Stray*> strays;  // in the order of their numbers
  std::vector<PlacedTable> tables;
  std::map<FileNumber, BlobFileContent> blobs;
  FileNumber log_number = 0;
};

}  // namespace ashlar
