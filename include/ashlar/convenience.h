// SPDX-License-Identifier: Apache-2.0
//
// Options as text, and helper functions for an open database.
//
// Thread safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/status.h"
#include "ashlar/table.h"
#include "ashlar/types.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;
class MemTableRepFactory;
class ObjectRegistry;
struct BlockBasedTableOptions;
struct ColumnFamilyOptions;
struct DBOptions;
struct EnvOptions;
struct Options;
struct PlainTableOptions;
struct RangeOpt;
struct ReadOptions;

// How option strings are parsed, printed and compared.
struct ASHLAR_EXPORT ConfigOptions {
  ConfigOptions();
  // Uses the Env of the given options.
  explicit ConfigOptions(const DBOptions&);

  // How strictly two sets of options are compared.
  enum SanityLevel : unsigned char {
    kSanityLevelNone = 0x01,
    kSanityLevelLooselyCompatible = 0x02,
    kSanityLevelExactMatch = 0xFF,
  };
  // How much is printed.
  enum Depth {
    kDepthDefault,
    kDepthShallow,   // without the options of nested objects
    kDepthDetailed,  // as kDepthDefault
  };

  // Ignore unknown names instead of returning InvalidArgument.
  bool ignore_unknown_options = false;
  // Ignore known names and objects that this build does not support instead of returning
  // NotSupported.
  bool ignore_unsupported_options = true;
  // Whether backslash escapes are used in values.
  bool input_strings_escaped = true;
  // Call PrepareOptions() of objects that are created from text.
  bool invoke_prepare_options = true;
  // Return InvalidArgument for options that cannot be changed while the database is open.
  bool mutable_options_only = false;
  // Printed between two options.
  std::string delimiter = ";";
  Depth depth = Depth::kDepthDefault;
  SanityLevel sanity_level = SanityLevel::kSanityLevelExactMatch;
  // A hint without effect.
  size_t file_readahead_size = 512 * 1024;
  // Used to read OPTIONS files and to look up environments by name. Never nullptr.
  Env* env;
  // Where objects are looked up by name before the built-in ones: by default a new registry above
  // ObjectRegistry::Default(). nullptr = built-in objects only.
  std::shared_ptr<ObjectRegistry> registry;

  bool IsShallow() const { return depth == Depth::kDepthShallow; }
  bool IsDetailed() const { return depth == Depth::kDepthDetailed; }
  bool IsCheckDisabled() const { return sanity_level == SanityLevel::kSanityLevelNone; }
  bool IsCheckEnabled(SanityLevel level) const {
    return level > SanityLevel::kSanityLevelNone && level <= sanity_level;
  }
};

// Start with the base options and set options from texts. For an unknown name or an invalid value
// they return InvalidArgument with a message that names it, and the result equals the base options.
ASHLAR_EXPORT Status GetColumnFamilyOptionsFromMap(
    const ConfigOptions& config_options, const ColumnFamilyOptions& base_options,
    const std::unordered_map<std::string, std::string>& opts_map, ColumnFamilyOptions* new_options);
ASHLAR_EXPORT Status GetDBOptionsFromMap(
    const ConfigOptions& cfg_options, const DBOptions& base_options,
    const std::unordered_map<std::string, std::string>& opts_map, DBOptions* new_options);
ASHLAR_EXPORT Status GetBlockBasedTableOptionsFromMap(
    const ConfigOptions& config_options, const BlockBasedTableOptions& table_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    BlockBasedTableOptions* new_table_options);
ASHLAR_EXPORT Status GetPlainTableOptionsFromMap(
    const ConfigOptions& config_options, const PlainTableOptions& table_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    PlainTableOptions* new_table_options);

// The same from a single text: "name=value; name={nested=value}".
ASHLAR_EXPORT Status GetColumnFamilyOptionsFromString(const ConfigOptions& config_options,
                                                      const ColumnFamilyOptions& base_options,
                                                      const std::string& opts_str,
                                                      ColumnFamilyOptions* new_options);
ASHLAR_EXPORT Status GetDBOptionsFromString(const ConfigOptions& config_options,
                                            const DBOptions& base_options,
                                            const std::string& opts_str, DBOptions* new_options);
ASHLAR_EXPORT Status GetBlockBasedTableOptionsFromString(
    const ConfigOptions& config_options, const BlockBasedTableOptions& table_options,
    const std::string& opts_str, BlockBasedTableOptions* new_table_options);
ASHLAR_EXPORT Status GetPlainTableOptionsFromString(const ConfigOptions& config_options,
                                                    const PlainTableOptions& table_options,
                                                    const std::string& opts_str,
                                                    PlainTableOptions* new_table_options);
ASHLAR_EXPORT Status GetMemTableRepFactoryFromString(
    const std::string& opts_str, std::unique_ptr<MemTableRepFactory>* new_mem_factory);
// The same for a text with options of the database and of a column family.
ASHLAR_EXPORT Status GetOptionsFromString(const Options& base_options, const std::string& opts_str,
                                          Options* new_options);
ASHLAR_EXPORT Status GetOptionsFromString(const ConfigOptions& config_options,
                                          const Options& base_options, const std::string& opts_str,
                                          Options* new_options);

// The forms of RocksDB 7.8, which newer releases do not have. input_strings_escaped and
// ignore_unknown_options: as in ConfigOptions; both are false for the texts.
ASHLAR_EXPORT Status GetColumnFamilyOptionsFromMap(
    const ColumnFamilyOptions& base_options,
    const std::unordered_map<std::string, std::string>& opts_map, ColumnFamilyOptions* new_options,
    bool input_strings_escaped = false, bool ignore_unknown_options = false);
ASHLAR_EXPORT Status GetDBOptionsFromMap(
    const DBOptions& base_options, const std::unordered_map<std::string, std::string>& opts_map,
    DBOptions* new_options, bool input_strings_escaped = false,
    bool ignore_unknown_options = false);
ASHLAR_EXPORT Status GetBlockBasedTableOptionsFromMap(
    const BlockBasedTableOptions& table_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    BlockBasedTableOptions* new_table_options, bool input_strings_escaped = false,
    bool ignore_unknown_options = false);
ASHLAR_EXPORT Status GetPlainTableOptionsFromMap(
    const PlainTableOptions& table_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    PlainTableOptions* new_table_options, bool input_strings_escaped = false,
    bool ignore_unknown_options = false);
ASHLAR_EXPORT Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base_options,
                                                      const std::string& opts_str,
                                                      ColumnFamilyOptions* new_options);
ASHLAR_EXPORT Status GetDBOptionsFromString(const DBOptions& base_options,
                                            const std::string& opts_str, DBOptions* new_options);
ASHLAR_EXPORT Status GetBlockBasedTableOptionsFromString(
    const BlockBasedTableOptions& table_options, const std::string& opts_str,
    BlockBasedTableOptions* new_table_options);
ASHLAR_EXPORT Status GetPlainTableOptionsFromString(const PlainTableOptions& table_options,
                                                    const std::string& opts_str,
                                                    PlainTableOptions* new_table_options);

// All options as one text that the functions above read.
ASHLAR_EXPORT Status GetStringFromDBOptions(const ConfigOptions& config_options,
                                            const DBOptions& db_options, std::string* opts_str);
ASHLAR_EXPORT Status GetStringFromDBOptions(std::string* opts_str, const DBOptions& db_options,
                                            const std::string& delimiter = ";  ");
ASHLAR_EXPORT Status GetStringFromColumnFamilyOptions(const ConfigOptions& config_options,
                                                      const ColumnFamilyOptions& cf_options,
                                                      std::string* opts_str);
ASHLAR_EXPORT Status GetStringFromColumnFamilyOptions(std::string* opts_str,
                                                      const ColumnFamilyOptions& cf_options,
                                                      const std::string& delimiter = ";  ");
// Returns the name of a compression type, such as "kZSTD"; InvalidArgument for an unknown number.
ASHLAR_EXPORT Status GetStringFromCompressionType(std::string* compression_str,
                                                  CompressionType compression_type);

// The compression types that this build supports, including kNoCompression.
ASHLAR_EXPORT const std::vector<CompressionType>& GetSupportedCompressions();

// StringToMap() splits a text of options at the top level; MapToString() joins the parts again.
ASHLAR_EXPORT Status StringToMap(const std::string& opts_str,
                                 std::unordered_map<std::string, std::string>* opts_map);
ASHLAR_EXPORT Status MapToString(const std::unordered_map<std::string, std::string>& opts_map,
                                 std::string* opts_str);

// Prevents new flushes and compactions; if `wait` is true, returns when the running ones have
// ended. Afterwards the database serves reads, and writes until the memtables are full; then writes
// return ShutdownInProgress. Data that is written with disableWAL from then on is lost when the
// database is closed.
ASHLAR_EXPORT void CancelAllBackgroundWork(DB* db, bool wait = false);

// Deletes the tables that are entirely inside the range, without writing tombstones. Tables of
// level 0 are kept. A null pointer means no bound. If include_end is true, the end is part of the
// range. Snapshots do not protect the deleted data. InvalidArgument for a null
// column family.
ASHLAR_EXPORT Status DeleteFilesInRange(DB* db, ColumnFamilyHandle* column_family,
                                        const Slice* begin, const Slice* end,
                                        bool include_end = true);
ASHLAR_EXPORT Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family,
                                         const RangeOpt* ranges, size_t n, bool include_end = true);

// A range of keys; a null pointer means no bound. Does not own the keys.
struct RangePtr {
  const Slice* start;
  const Slice* limit;

  RangePtr() : start(nullptr), limit(nullptr) {}
  RangePtr(const Slice* s, const Slice* l) : start(s), limit(l) {}
};
ASHLAR_EXPORT Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family,
                                         const RangePtr* ranges, size_t n, bool include_end = true);

// Verify the checksum of every block of a table file that need not belong to a database.
// largest_seqno: the sequence number that the MANIFEST records for an ingested file, else 0.
ASHLAR_EXPORT Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                                           const std::string& file_path);
ASHLAR_EXPORT Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                                           const ReadOptions& _read_options,
                                           const std::string& file_path,
                                           const SequenceNumber& largest_seqno = 0);

}  // namespace ashlar
