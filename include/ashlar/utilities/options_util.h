// SPDX-License-Identifier: Apache-2.0
//
// Reads OPTIONS files, which every database keeps in its directory.
//
// Thread safe. Objects that cannot be described as text (comparators, merge operators and other
// objects of the program) stay at their defaults and must be set before the database is opened.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

class Cache;

// Returns the options in the newest OPTIONS file of a database. If `cache` is not null, *cache
// becomes the block cache of all families. NotFound, or IOError with the subcode kPathNotFound, if
// there is no file; InvalidArgument if the file contains something that config_options does not
// permit.
ASHLAR_EXPORT Status LoadLatestOptions(const ConfigOptions& config_options,
                                       const std::string& dbpath, DBOptions* db_options,
                                       std::vector<ColumnFamilyDescriptor>* cf_descs,
                                       std::shared_ptr<Cache>* cache = {});

// The same for a given file.
ASHLAR_EXPORT Status LoadOptionsFromFile(const ConfigOptions& config_options,
                                         const std::string& options_file_name,
                                         DBOptions* db_options,
                                         std::vector<ColumnFamilyDescriptor>* cf_descs,
                                         std::shared_ptr<Cache>* cache = {});

// Returns the name of the newest OPTIONS file, without its directory.
ASHLAR_EXPORT Status GetLatestOptionsFileName(const std::string& dbpath, Env* env,
                                              std::string* options_file_name);

// Checks whether a database could be opened with these options. InvalidArgument if an option
// differs, Corruption if an option of the tables differs; the message names it. What counts as a
// difference depends on config_options.sanity_level; the default is kSanityLevelExactMatch.
ASHLAR_EXPORT Status CheckOptionsCompatibility(const ConfigOptions& config_options,
                                               const std::string& dbpath,
                                               const DBOptions& db_options,
                                               const std::vector<ColumnFamilyDescriptor>& cf_descs);

// The forms of RocksDB 7.8, which newer releases do not have: with this Env, and the defaults of
// ConfigOptions otherwise. The last one compares as kSanityLevelLooselyCompatible asks for.
ASHLAR_EXPORT Status LoadLatestOptions(const std::string& dbpath, Env* env, DBOptions* db_options,
                                       std::vector<ColumnFamilyDescriptor>* cf_descs,
                                       bool ignore_unknown_options = false,
                                       std::shared_ptr<Cache>* cache = {});
ASHLAR_EXPORT Status LoadOptionsFromFile(const std::string& options_file_name, Env* env,
                                         DBOptions* db_options,
                                         std::vector<ColumnFamilyDescriptor>* cf_descs,
                                         bool ignore_unknown_options = false,
                                         std::shared_ptr<Cache>* cache = {});
ASHLAR_EXPORT Status CheckOptionsCompatibility(const std::string& dbpath, Env* env,
                                               const DBOptions& db_options,
                                               const std::vector<ColumnFamilyDescriptor>& cf_descs,
                                               bool ignore_unknown_options = false);

}  // namespace ashlar
