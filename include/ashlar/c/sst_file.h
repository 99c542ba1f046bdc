// SPDX-License-Identifier: Apache-2.0
//
// The C API: tables that are written outside of a database, and taken in.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

ashlar_sstfilewriter_t* ashlar_sstfilewriter_create(const ashlar_envoptions_t* env,
                                                    const ashlar_options_t* io_options);

// The same with a comparator, which is not owned.
ashlar_sstfilewriter_t* ashlar_sstfilewriter_create_with_comparator(
    const ashlar_envoptions_t* env, const ashlar_options_t* io_options,
    const ashlar_comparator_t* comparator);

// Begins a file. Keys are added in the order of the comparator, each once.
void ashlar_sstfilewriter_open(ashlar_sstfilewriter_t* writer, const char* name, char** errptr);
void ashlar_sstfilewriter_add(ashlar_sstfilewriter_t* writer, const char* key, size_t keylen,
                              const char* val, size_t vallen, char** errptr);
void ashlar_sstfilewriter_put(ashlar_sstfilewriter_t* writer, const char* key, size_t keylen,
                              const char* val, size_t vallen, char** errptr);
void ashlar_sstfilewriter_put_with_ts(ashlar_sstfilewriter_t* writer, const char* key,
                                      size_t keylen, const char* ts, size_t tslen, const char* val,
                                      size_t vallen, char** errptr);
void ashlar_sstfilewriter_merge(ashlar_sstfilewriter_t* writer, const char* key, size_t keylen,
                                const char* val, size_t vallen, char** errptr);
void ashlar_sstfilewriter_delete(ashlar_sstfilewriter_t* writer, const char* key, size_t keylen,
                                 char** errptr);
void ashlar_sstfilewriter_delete_with_ts(ashlar_sstfilewriter_t* writer, const char* key,
                                         size_t keylen, const char* ts, size_t tslen,
                                         char** errptr);
void ashlar_sstfilewriter_delete_range(ashlar_sstfilewriter_t* writer, const char* begin_key,
                                       size_t begin_keylen, const char* end_key, size_t end_keylen,
                                       char** errptr);

// Completes the file.
void ashlar_sstfilewriter_finish(ashlar_sstfilewriter_t* writer, char** errptr);
void ashlar_sstfilewriter_file_size(ashlar_sstfilewriter_t* writer, uint64_t* file_size);
void ashlar_sstfilewriter_destroy(ashlar_sstfilewriter_t* writer);

// Takes tables in, all or none.
void ashlar_ingest_external_file(ashlar_t* db, const char* const* file_list, size_t list_len,
                                 const ashlar_ingestexternalfileoptions_t* opt, char** errptr);
void ashlar_ingest_external_file_cf(ashlar_t* db, ashlar_column_family_handle_t* handle,
                                    const char* const* file_list, size_t list_len,
                                    const ashlar_ingestexternalfileoptions_t* opt, char** errptr);

ASHLAR_C_END
