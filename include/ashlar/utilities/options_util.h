// SPDX-License-Identifier: Apache-2.0
//
// Reading OPTIONS files, which every database keeps beside its data.
//
// Functions may be called from many threads at once. What text cannot carry (comparators, merge
// operators and other objects of the user) stays at its default and must be set before opening.
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

// The options of the newest OPTIONS file of a database. *cache, if given, becomes the block cache
// of all families. NotFound or IOError(kPathNotFound) without a file; InvalidArgument for what
// config_options does not let pass.
ASHLAR_EXPORT Status LoadLatestOptions(const ConfigOptions& config_options,
                                       const std::string& dbpath, DBOptions* db_options,
                                       std::vector<ColumnFamilyDescriptor>* cf_descs,
                                       std::shared_ptr<Cache>* cache = {});

// The same of one file.
ASHLAR_EXPORT Status LoadOptionsFromFile(const ConfigOptions& config_options,
                                         const std::string& options_file_name,
                                         DBOptions* db_options,
                                         std::vector<ColumnFamilyDescriptor>* cf_descs,
                                         std::shared_ptr<Cache>* cache = {});

// Name of the newest OPTIONS file, without its directory.
ASHLAR_EXPORT Status GetLatestOptionsFileName(const std::string& dbpath, Env* env,
                                              std::string* options_file_name);

// Whether a database could be opened with these options: InvalidArgument names what differs;
// Corruption, which of the tables' options. These matter to kSanityLevelExactMatch, the default.
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
