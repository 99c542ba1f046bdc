// SPDX-License-Identifier: Apache-2.0
//
// The C API: single writes.
//
// Each function makes one write. Keys and values are copied before the function returns. The
// functions with _ts are for families whose keys have timestamps.
#include "ashlar/c/write.h"

#include <cassert>

#include "capi/handles.h"

using ashlar::capi::Failed;
using ashlar::capi::FamilyOf;
using ashlar::capi::OptionsIn;
using ashlar::capi::Text;

void ashlar_put(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key, size_t keylen,
                const char* val, size_t vallen, char** errptr) {
  assert(db != nullptr);
  Failed(errptr, db->rep->Put(OptionsIn(options), Text(key, keylen), Text(val, vallen)));
}

void ashlar_put_cf(ashlar_t* db, const ashlar_writeoptions_t* options,
                   ashlar_column_family_handle_t* column_family, const char* key, size_t keylen,
                   const char* val, size_t vallen, char** errptr) {
  assert(db != nullptr);
  Failed(errptr, db->rep->Put(OptionsIn(options), FamilyOf(db->rep, column_family),
                              Text(key, keylen), Text(val, vallen)));
}

void ashlar_put_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key,
                        size_t keylen, const char* ts, size_t tslen, const char* val, size_t vallen,
                        char** errptr) {
  Failed(errptr,
         db->rep->Put(OptionsIn(options), Text(key, keylen), Text(ts, tslen), Text(val, vallen)));
}

void ashlar_put_cf_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options,
                           ashlar_column_family_handle_t* column_family, const char* key,
                           size_t keylen, const char* ts, size_t tslen, const char* val,
                           size_t vallen, char** errptr) {
  Failed(errptr, db->rep->Put(OptionsIn(options), FamilyOf(db->rep, column_family),
                              Text(key, keylen), Text(ts, tslen), Text(val, vallen)));
}

void ashlar_delete(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key,
                   size_t keylen, char** errptr) {
  Failed(errptr, db->rep->Delete(OptionsIn(options), Text(key, keylen)));
}

void ashlar_delete_cf(ashlar_t* db, const ashlar_writeoptions_t* options,
                      ashlar_column_family_handle_t* column_family, const char* key, size_t keylen,
                      char** errptr) {
  Failed(errptr,
         db->rep->Delete(OptionsIn(options), FamilyOf(db->rep, column_family), Text(key, keylen)));
}

void ashlar_delete_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key,
                           size_t keylen, const char* ts, size_t tslen, char** errptr) {
  Failed(errptr, db->rep->Delete(OptionsIn(options), Text(key, keylen), Text(ts, tslen)));
}

void ashlar_delete_cf_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options,
                              ashlar_column_family_handle_t* column_family, const char* key,
                              size_t keylen, const char* ts, size_t tslen, char** errptr) {
  Failed(errptr, db->rep->Delete(OptionsIn(options), FamilyOf(db->rep, column_family),
                                 Text(key, keylen), Text(ts, tslen)));
}

void ashlar_singledelete(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key,
                         size_t keylen, char** errptr) {
  Failed(errptr, db->rep->SingleDelete(OptionsIn(options), Text(key, keylen)));
}

void ashlar_singledelete_cf(ashlar_t* db, const ashlar_writeoptions_t* options,
                            ashlar_column_family_handle_t* column_family, const char* key,
                            size_t keylen, char** errptr) {
  Failed(errptr, db->rep->SingleDelete(OptionsIn(options), FamilyOf(db->rep, column_family),
                                       Text(key, keylen)));
}

void ashlar_singledelete_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options,
                                 const char* key, size_t keylen, const char* ts, size_t tslen,
                                 char** errptr) {
  Failed(errptr, db->rep->SingleDelete(OptionsIn(options), Text(key, keylen), Text(ts, tslen)));
}

void ashlar_singledelete_cf_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options,
                                    ashlar_column_family_handle_t* column_family, const char* key,
                                    size_t keylen, const char* ts, size_t tslen, char** errptr) {
  Failed(errptr, db->rep->SingleDelete(OptionsIn(options), FamilyOf(db->rep, column_family),
                                       Text(key, keylen), Text(ts, tslen)));
}

// Deletes the keys from start_key to before end_key.
void ashlar_delete_range_cf(ashlar_t* db, const ashlar_writeoptions_t* options,
                            ashlar_column_family_handle_t* column_family, const char* start_key,
                            size_t start_key_len, const char* end_key, size_t end_key_len,
                            char** errptr) {
  assert(db != nullptr);
  Failed(errptr, db->rep->DeleteRange(OptionsIn(options), FamilyOf(db->rep, column_family),
                                      Text(start_key, start_key_len), Text(end_key, end_key_len)));
}

void ashlar_merge(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key,
                  size_t keylen, const char* val, size_t vallen, char** errptr) {
  Failed(errptr, db->rep->Merge(OptionsIn(options), Text(key, keylen), Text(val, vallen)));
}

void ashlar_merge_cf(ashlar_t* db, const ashlar_writeoptions_t* options,
                     ashlar_column_family_handle_t* column_family, const char* key, size_t keylen,
                     const char* val, size_t vallen, char** errptr) {
  Failed(errptr, db->rep->Merge(OptionsIn(options), FamilyOf(db->rep, column_family),
                                Text(key, keylen), Text(val, vallen)));
}

// The batch stays that of the program and may be written again.
void ashlar_write(ashlar_t* db, const ashlar_writeoptions_t* options, ashlar_writebatch_t* batch,
                  char** errptr) {
  assert(db != nullptr);
  Failed(errptr, db->rep->Write(OptionsIn(options), &batch->rep));
}
