// SPDX-License-Identifier: Apache-2.0
//
// The OPTIONS file: a database stores the options that it was opened with. A program can open it
// again with these options, and can set options from text. Objects that text cannot describe (a
// custom comparator, listeners, a merge operator) must be set by the program before opening.
//
//   example_options_file FOLDER
//
// Prints:
//   family default: write buffer 8388608, 10 bits of filter a key
//   family logs: write buffer 1048576, no filter
//   changed while open: write buffer 2097152
//   in the newest file: write buffer 2097152
//   a typing error: Invalid argument
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "ashlar/utilities/options_util.h"

namespace {

void Require(const ashlar::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

// Creates a database with two families that have different options.
void Make(const std::string& path) {
  ashlar::BlockBasedTableOptions table;
  table.filter_policy.reset(ashlar::NewBloomFilterPolicy(10));
  ashlar::ColumnFamilyOptions main;
  main.write_buffer_size = 8 << 20;
  main.table_factory.reset(ashlar::NewBlockBasedTableFactory(table));

  // The same options from text, for example from a configuration file of the program.
  ashlar::ColumnFamilyOptions logs;
  Require(ashlar::GetColumnFamilyOptionsFromString(
      ashlar::ConfigOptions(), logs, "write_buffer_size=1M; compression=kZSTD", &logs));
  ashlar::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  std::unique_ptr<ashlar::DB> db;
  std::vector<ashlar::ColumnFamilyHandle*> handles;
  Require(ashlar::DB::Open(
      options, path, {{ashlar::kDefaultColumnFamilyName, main}, {"logs", logs}}, &handles, &db));
  for (ashlar::ColumnFamilyHandle* handle : handles) {
    Require(db->DestroyColumnFamilyHandle(handle));
  }
  Require(db->Close());
}

void Print(const ashlar::ColumnFamilyDescriptor& family) {
  const auto* table = family.options.table_factory->GetOptions<ashlar::BlockBasedTableOptions>();
  const bool has_filter = table != nullptr && table->filter_policy != nullptr;
  std::printf("family %s: write buffer %zu, %s\n", family.name.c_str(),
              family.options.write_buffer_size,
              has_filter ? "10 bits of filter a key" : "no filter");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::string path = argv[1];
  Make(path);

  // Loads all families with their options. The block cache is not in the file; the program supplies
  // it.
  const ashlar::ConfigOptions config;
  ashlar::DBOptions options;
  std::vector<ashlar::ColumnFamilyDescriptor> families;
  std::shared_ptr<ashlar::Cache> cache = ashlar::NewLRUCache(64 << 20);
  Require(ashlar::LoadLatestOptions(config, path, &options, &families, &cache));
  for (const ashlar::ColumnFamilyDescriptor& family : families) Print(family);

  std::unique_ptr<ashlar::DB> db;
  std::vector<ashlar::ColumnFamilyHandle*> handles;
  Require(ashlar::DB::Open(options, path, families, &handles, &db));

  // Dynamic options (see docs/options.md) can be changed while the database is open.
  Require(db->SetOptions(handles[1], {{"write_buffer_size", "2M"}}));
  std::printf("changed while open: write buffer %zu\n",
              db->GetOptions(handles[1]).write_buffer_size);
  Require(ashlar::LoadLatestOptions(config, path, &options, &families, &cache));
  std::printf("in the newest file: write buffer %zu\n", families[1].options.write_buffer_size);

  const ashlar::Status status = db->SetOptions(handles[1], {{"write_bufer_size", "2M"}});
  std::printf("a typing error: %s\n",
              status.IsInvalidArgument() ? "Invalid argument" : status.ToString().c_str());
  for (ashlar::ColumnFamilyHandle* handle : handles) {
    Require(db->DestroyColumnFamilyHandle(handle));
  }
  Require(db->Close());
  return 0;
}
