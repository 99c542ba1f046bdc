// SPDX-License-Identifier: Apache-2.0
//
// The C API: traces of calls.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Begin and end a trace in a new file. Traces of file operations and of block caches are not built
// yet ("Not implemented").
void ashlar_start_trace(ashlar_t* db, ashlar_env_t* env, const ashlar_envoptions_t* env_options,
                        const ashlar_trace_options_t* options, const char* trace_path,
                        char** errptr);
void ashlar_end_trace(ashlar_t* db, char** errptr);
void ashlar_start_io_trace(ashlar_t* db, ashlar_env_t* env, const ashlar_envoptions_t* env_options,
                           const ashlar_trace_options_t* options, const char* trace_path,
                           char** errptr);
void ashlar_end_io_trace(ashlar_t* db, char** errptr);
void ashlar_start_block_cache_trace(ashlar_t* db, ashlar_env_t* env,
                                    const ashlar_envoptions_t* env_options,
                                    const ashlar_trace_options_t* options, const char* trace_path,
                                    char** errptr);
void ashlar_start_block_cache_trace_with_options(
    ashlar_t* db, ashlar_env_t* env, const ashlar_envoptions_t* env_options,
    const ashlar_block_cache_trace_options_t* options,
    const ashlar_block_cache_trace_writer_options_t* writer_options, const char* trace_path,
    char** errptr);
void ashlar_end_block_cache_trace(ashlar_t* db, char** errptr);

// Read the records of a trace. A record is freed; null after the last one, with an error.
ashlar_trace_reader_t* ashlar_trace_reader_create(ashlar_env_t* env,
                                                  const ashlar_envoptions_t* env_options,
                                                  const char* trace_path, char** errptr);
char* ashlar_trace_reader_read(ashlar_trace_reader_t* reader, size_t* size, char** errptr);
void ashlar_trace_reader_reset(ashlar_trace_reader_t* reader, char** errptr);
void ashlar_trace_reader_close(ashlar_trace_reader_t* reader, char** errptr);
void ashlar_trace_reader_destroy(ashlar_trace_reader_t* reader);

// Repeats the calls of a trace: prepare, then replay. The families of the trace are looked for
// among those of the array.
ashlar_replayer_t* ashlar_new_default_replayer(ashlar_t* db,
                                               ashlar_column_family_handle_t** column_families,
                                               size_t num_column_families, ashlar_env_t* env,
                                               const ashlar_envoptions_t* env_options,
                                               const char* trace_path, char** errptr);
void ashlar_replayer_prepare(ashlar_replayer_t* replayer, char** errptr);
uint64_t ashlar_replayer_get_header_timestamp(const ashlar_replayer_t* replayer);
void ashlar_replayer_replay(ashlar_replayer_t* replayer, const ashlar_replay_options_t* options,
                            char** errptr);
void ashlar_replayer_destroy(ashlar_replayer_t* replayer);
ashlar_replay_options_t* ashlar_replay_options_create(void);
void ashlar_replay_options_destroy(ashlar_replay_options_t* options);
void ashlar_replay_options_set_num_threads(ashlar_replay_options_t* options, uint32_t num_threads);
uint32_t ashlar_replay_options_get_num_threads(ashlar_replay_options_t* options);
void ashlar_replay_options_set_fast_forward(ashlar_replay_options_t* options, double fast_forward);
double ashlar_replay_options_get_fast_forward(ashlar_replay_options_t* options);

ASHLAR_C_END
