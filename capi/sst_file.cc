// SPDX-License-Identifier: Apache-2.0
//
// The C API: tables that are written outside of a database, and taken in.
//
// Keys must be added in ascending order. The file is complete after ashlar_sstfilewriter_finish();
// a writer that is destroyed before deletes it.
#include "ashlar/c/sst_file.h"

#include <cassert>

#include "ashlar/sst_file_writer.h"
#include "capi/callbacks.h"
#include "capi/option_handles.h"

using ashlar::SstFileWriter;
using ashlar::capi::Failed;
using ashlar::capi::FamilyOf;
using ashlar::capi::OptionsIn;
using ashlar::capi::Text;

struct ashlar_sstfilewriter_t {
  SstFileWriter rep;
};

ashlar_sstfilewriter_t* ashlar_sstfilewriter_create(const ashlar_envoptions_t* env,
                                                    const ashlar_options_t* io_options) {
  return new ashlar_sstfilewriter_t{SstFileWriter(OptionsIn(env), OptionsIn(io_options))};
}

ashlar_sstfilewriter_t* ashlar_sstfilewriter_create_with_comparator(
    const ashlar_envoptions_t* env, const ashlar_options_t* io_options,
    const ashlar_comparator_t* comparator) {
  return new ashlar_sstfilewriter_t{
      SstFileWriter(OptionsIn(env), OptionsIn(io_options), comparator)};
}

void ashlar_sstfilewriter_open(ashlar_sstfilewriter_t* writer, const char* name, char** errptr) {
  assert(writer != nullptr);
  assert(name != nullptr);
  Failed(errptr, writer->rep.Open(name));
}

void ashlar_sstfilewriter_add(ashlar_sstfilewriter_t* writer, const char* key, size_t keylen,
                              const char* val, size_t vallen, char** errptr) {
  ashlar_sstfilewriter_put(writer, key, keylen, val, vallen, errptr);
}

void ashlar_sstfilewriter_put(ashlar_sstfilewriter_t* writer, const char* key, size_t keylen,
                              const char* val, size_t vallen, char** errptr) {
  Failed(errptr, writer->rep.Put(Text(key, keylen), Text(val, vallen)));
}

void ashlar_sstfilewriter_put_with_ts(ashlar_sstfilewriter_t* writer, const char* key,
                                      size_t keylen, const char* ts, size_t tslen, const char* val,
                                      size_t vallen, char** errptr) {
  Failed(errptr, writer->rep.Put(Text(key, keylen), Text(ts, tslen), Text(val, vallen)));
}

void ashlar_sstfilewriter_merge(ashlar_sstfilewriter_t* writer, const char* key, size_t keylen,
                                const char* val, size_t vallen, char** errptr) {
  Failed(errptr, writer->rep.Merge(Text(key, keylen), Text(val, vallen)));
}

void ashlar_sstfilewriter_delete(ashlar_sstfilewriter_t* writer, const char* key, size_t keylen,
                                 char** errptr) {
  Failed(errptr, writer->rep.Delete(Text(key, keylen)));
}

void ashlar_sstfilewriter_delete_with_ts(ashlar_sstfilewriter_t* writer, const char* key,
                                         size_t keylen, const char* ts, size_t tslen,
                                         char** errptr) {
  Failed(errptr, writer->rep.Delete(Text(key, keylen), Text(ts, tslen)));
}

void ashlar_sstfilewriter_delete_range(ashlar_sstfilewriter_t* writer, const char* begin_key,
                                       size_t begin_keylen, const char* end_key, size_t end_keylen,
                                       char** errptr) {
  Failed(errptr, writer->rep.DeleteRange(Text(begin_key, begin_keylen), Text(end_key, end_keylen)));
}

void ashlar_sstfilewriter_finish(ashlar_sstfilewriter_t* writer, char** errptr) {
  assert(writer != nullptr);
  Failed(errptr, writer->rep.Finish());
}

void ashlar_sstfilewriter_file_size(ashlar_sstfilewriter_t* writer, uint64_t* file_size) {
  assert(writer != nullptr);
  assert(file_size != nullptr);
  *file_size = writer->rep.FileSize();
}

void ashlar_sstfilewriter_destroy(ashlar_sstfilewriter_t* writer) { delete writer; }

void ashlar_ingest_external_file(ashlar_t* db, const char* const* file_list, size_t list_len,
                                 const ashlar_ingestexternalfileoptions_t* opt, char** errptr) {
  ashlar_ingest_external_file_cf(db, nullptr, file_list, list_len, opt, errptr);
}

void ashlar_ingest_external_file_cf(ashlar_t* db, ashlar_column_family_handle_t* handle,
                                    const char* const* file_list, size_t list_len,
                                    const ashlar_ingestexternalfileoptions_t* opt, char** errptr) {
  assert(db != nullptr);
  assert(list_len == 0 || file_list != nullptr);
  const std::vector<std::string> files(file_list, file_list + list_len);
  Failed(errptr, db->rep->IngestExternalFile(FamilyOf(db->rep, handle), files, OptionsIn(opt)));
}
