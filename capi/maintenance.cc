// SPDX-License-Identifier: Apache-2.0
//
// The C API: flushes, compactions, changes of options and other work on an open database.
//
// Ranges of keys include both ends; a null key is an open end. Work that has no `errptr` in its C
// function drops the status.
#include "ashlar/c/maintenance.h"

#include <atomic>
#include <cassert>
#include <unordered_map>

#include "ashlar/convenience.h"
#include "ashlar/experimental.h"
#include "capi/job_info.h"
#include "capi/option_handles.h"

using ashlar::ColumnFamilyHandle;
using ashlar::DB;
using ashlar::Slice;
using ashlar::Status;
using ashlar::capi::Copy;
using ashlar::capi::Failed;
using ashlar::capi::FamilyOf;
using ashlar::capi::OptionsIn;
using ashlar::capi::Text;

namespace ashlar::capi {
namespace {

// The ends of a range of keys in the form that the engine expects. A null pointer means no bound.
// The bytes belong to the program.
class KeyRange {
 public:
  KeyRange(const char* start, size_t start_length, const char* limit, size_t limit_length)
      : start_(Text(start, start_length)),
        limit_(Text(limit, limit_length)),
        has_start_(start != nullptr),
        has_limit_(limit != nullptr) {}

  const Slice* start() const { return has_start_ ? &start_ : nullptr; }
  const Slice* limit() const { return has_limit_ ? &limit_ : nullptr; }

 private:
  const Slice start_;
  const Slice limit_;
  const bool has_start_;
  const bool has_limit_;
};

std::unordered_map<std::string, std::string> Pairs(int count, const char* const* keys,
                                                   const char* const* values) {
  assert(count <= 0 || (keys != nullptr && values != nullptr));
  std::unordered_map<std::string, std::string> pairs;
  for (int i = 0; i < count; ++i) pairs[keys[i]] = values[i];
  return pairs;
}

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::KeyRange;
using ashlar::capi::Pairs;

void ashlar_flush(ashlar_t* db, const ashlar_flushoptions_t* options, char** errptr) {
  Failed(errptr, db->rep->Flush(OptionsIn(options)));
}

void ashlar_flush_cf(ashlar_t* db, const ashlar_flushoptions_t* options,
                     ashlar_column_family_handle_t* column_family, char** errptr) {
  assert(db != nullptr);
  Failed(errptr, db->rep->Flush(OptionsIn(options), FamilyOf(db->rep, column_family)));
}

void ashlar_flush_cfs(ashlar_t* db, const ashlar_flushoptions_t* options,
                      ashlar_column_family_handle_t** column_family, int num_column_families,
                      char** errptr) {
  assert(db != nullptr);
  assert(num_column_families <= 0 || column_family != nullptr);
  std::vector<ColumnFamilyHandle*> families;
  for (int i = 0; i < num_column_families; ++i) {
    families.push_back(FamilyOf(db->rep, column_family[i]));
  }
  Failed(errptr, db->rep->Flush(OptionsIn(options), families));
}

void ashlar_flush_wal(ashlar_t* db, unsigned char sync, char** errptr) {
  Failed(errptr, db->rep->FlushWAL(sync != 0));
}

void ashlar_flush_wal_with_options(ashlar_t* db, const ashlar_flushwaloptions_t* options,
                                   char** errptr) {
  Failed(errptr, db->rep->FlushWAL(OptionsIn(options)));
}

void ashlar_compact_range(ashlar_t* db, const char* start_key, size_t start_key_len,
                          const char* limit_key, size_t limit_key_len) {
  ashlar_compact_range_cf_opt(db, nullptr, nullptr, start_key, start_key_len, limit_key,
                              limit_key_len);
}

void ashlar_compact_range_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                             const char* start_key, size_t start_key_len, const char* limit_key,
                             size_t limit_key_len) {
  ashlar_compact_range_cf_opt(db, column_family, nullptr, start_key, start_key_len, limit_key,
                              limit_key_len);
}

void ashlar_compact_range_opt(ashlar_t* db, ashlar_compactoptions_t* opt, const char* start_key,
                              size_t start_key_len, const char* limit_key, size_t limit_key_len) {
  ashlar_compact_range_cf_opt(db, nullptr, opt, start_key, start_key_len, limit_key, limit_key_len);
}

void ashlar_compact_range_cf_opt(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                 ashlar_compactoptions_t* opt, const char* start_key,
                                 size_t start_key_len, const char* limit_key,
                                 size_t limit_key_len) {
  assert(db != nullptr);
  const KeyRange range(start_key, start_key_len, limit_key, limit_key_len);
  db->rep
      ->CompactRange(OptionsIn(opt), FamilyOf(db->rep, column_family), range.start(), range.limit())
      // The C function has no argument for an error.
      .PermitUncheckedError();
}

void ashlar_suggest_compact_range(ashlar_t* db, const char* start_key, size_t start_key_len,
                                  const char* limit_key, size_t limit_key_len, char** errptr) {
  ashlar_suggest_compact_range_cf(db, nullptr, start_key, start_key_len, limit_key, limit_key_len,
                                  errptr);
}

void ashlar_suggest_compact_range_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                     const char* start_key, size_t start_key_len,
                                     const char* limit_key, size_t limit_key_len, char** errptr) {
  const KeyRange range(start_key, start_key_len, limit_key, limit_key_len);
  Failed(errptr, ashlar::experimental::SuggestCompactRange(
                     db->rep, FamilyOf(db->rep, column_family), range.start(), range.limit()));
}

void ashlar_compact_files(ashlar_t* db, const ashlar_compaction_options_t* options,
                          const char* const* input_file_names, size_t num_input_file_names,
                          int output_level, int output_path_id, char*** output_file_names,
                          size_t* num_output_file_names,
                          ashlar_compactionjobinfo_t* compaction_job_info, char** errptr) {
  ashlar_compact_files_cf(db, nullptr, options, input_file_names, num_input_file_names,
                          output_level, output_path_id, output_file_names, num_output_file_names,
                          compaction_job_info, errptr);
}

void ashlar_compact_files_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                             const ashlar_compaction_options_t* options,
                             const char* const* input_file_names, size_t num_input_file_names,
                             int output_level, int output_path_id, char*** output_file_names,
                             size_t* num_output_file_names,
                             ashlar_compactionjobinfo_t* compaction_job_info, char** errptr) {
  assert(db != nullptr);
  assert(num_input_file_names == 0 || input_file_names != nullptr);
  const std::vector<std::string> inputs(input_file_names, input_file_names + num_input_file_names);
  std::vector<std::string> outputs;
  // Defined results also after an error.
  if (num_output_file_names != nullptr) *num_output_file_names = 0;
  if (output_file_names != nullptr) *output_file_names = nullptr;
  if (Failed(errptr, db->rep->CompactFiles(OptionsIn(options), FamilyOf(db->rep, column_family),
                                           inputs, output_level, output_path_id, &outputs,
                                           ashlar::capi::Info(compaction_job_info)))) {
    return;
  }
  if (num_output_file_names != nullptr) *num_output_file_names = outputs.size();
  if (output_file_names == nullptr || outputs.empty()) return;
  *output_file_names = static_cast<char**>(std::malloc(sizeof(char*) * outputs.size()));
  for (size_t i = 0; i < outputs.size(); ++i) (*output_file_names)[i] = Copy(outputs[i]);
}

// Frees the array and the names in it, which ashlar_compact_files() has allocated.
void ashlar_compact_files_output_file_names_destroy(char** output_file_names,
                                                    size_t num_output_file_names) {
  if (output_file_names == nullptr) return;
  for (size_t i = 0; i < num_output_file_names; ++i) std::free(output_file_names[i]);
  std::free(output_file_names);
}

void ashlar_wait_for_compact(ashlar_t* db, ashlar_wait_for_compact_options_t* options,
                             char** errptr) {
  assert(db != nullptr);
  Failed(errptr, db->rep->WaitForCompact(OptionsIn(options)));
}

void ashlar_delete_file_in_range(ashlar_t* db, const char* start_key, size_t start_key_len,
                                 const char* limit_key, size_t limit_key_len, char** errptr) {
  ashlar_delete_file_in_range_cf(db, nullptr, start_key, start_key_len, limit_key, limit_key_len,
                                 errptr);
}

void ashlar_delete_file_in_range_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                    const char* start_key, size_t start_key_len,
                                    const char* limit_key, size_t limit_key_len, char** errptr) {
  assert(db != nullptr);
  const KeyRange range(start_key, start_key_len, limit_key, limit_key_len);
  Failed(errptr, ashlar::DeleteFilesInRange(db->rep, FamilyOf(db->rep, column_family),
                                            range.start(), range.limit()));
}

void ashlar_disable_file_deletions(ashlar_t* db, char** errptr) {
  Failed(errptr, db->rep->DisableFileDeletions());
}

void ashlar_enable_file_deletions(ashlar_t* db, char** errptr) {
  Failed(errptr, db->rep->EnableFileDeletions());
}

void ashlar_disable_manual_compaction(ashlar_t* db) { db->rep->DisableManualCompaction(); }
void ashlar_enable_manual_compaction(ashlar_t* db) { db->rep->EnableManualCompaction(); }

void ashlar_pause_background_work(ashlar_t* db, char** errptr) {
  Failed(errptr, db->rep->PauseBackgroundWork());
}

void ashlar_continue_background_work(ashlar_t* db, char** errptr) {
  Failed(errptr, db->rep->ContinueBackgroundWork());
}

// The names and values are texts, as in an OPTIONS file. Either all of them take effect or none.
void ashlar_set_options(ashlar_t* db, int count, const char* const keys[],
                        const char* const values[], char** errptr) {
  ashlar_set_options_cf(db, nullptr, count, keys, values, errptr);
}

void ashlar_set_options_cf(ashlar_t* db, ashlar_column_family_handle_t* handle, int count,
                           const char* const keys[], const char* const values[], char** errptr) {
  assert(db != nullptr);
  Failed(errptr, db->rep->SetOptions(FamilyOf(db->rep, handle), Pairs(count, keys, values)));
}

void ashlar_set_db_options(ashlar_t* db, int count, const char* const keys[],
                           const char* const values[], char** errptr) {
  assert(db != nullptr);
  Failed(errptr, db->rep->SetDBOptions(Pairs(count, keys, values)));
}

void ashlar_verify_checksum(ashlar_t* db, char** errptr) {
  ashlar_verify_checksum_with_options(db, nullptr, errptr);
}

void ashlar_verify_checksum_with_options(ashlar_t* db, const ashlar_readoptions_t* options,
                                         char** errptr) {
  Failed(errptr, db->rep->VerifyChecksum(OptionsIn(options)));
}

void ashlar_verify_file_checksums(ashlar_t* db, char** errptr) {
  ashlar_verify_file_checksums_with_options(db, nullptr, errptr);
}

void ashlar_verify_file_checksums_with_options(ashlar_t* db, const ashlar_readoptions_t* options,
                                               char** errptr) {
  Failed(errptr, db->rep->VerifyFileChecksums(OptionsIn(options)));
}

void ashlar_increase_full_history_ts_low(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                         const char* ts_low, size_t ts_lowlen, char** errptr) {
  Failed(errptr, db->rep->IncreaseFullHistoryTsLow(FamilyOf(db->rep, column_family),
                                                   Text(ts_low, ts_lowlen).ToString()));
}

char* ashlar_get_full_history_ts_low(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                     size_t* ts_lowlen, char** errptr) {
  std::string timestamp;
  const Status s = db->rep->GetFullHistoryTsLow(FamilyOf(db->rep, column_family), &timestamp);
  return ashlar::capi::CopyOfRead(s, timestamp, ts_lowlen, errptr);
}
