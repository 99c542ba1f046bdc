// SPDX-License-Identifier: Apache-2.0
//
// The C API: traces of calls.
//
// The engine owns the writer of a trace, and closes the file when the trace ends. A reader or
// replayer belongs to its handle.
#include "ashlar/c/tracing.h"

#include <cassert>

#include "ashlar/block_cache_trace_writer.h"
#include "ashlar/trace_reader_writer.h"
#include "ashlar/utilities/replayer.h"
#include "capi/option_handles.h"

using ashlar::Env;
using ashlar::EnvOptions;
using ashlar::NewBlockCacheTraceWriter;
using ashlar::NewFileTraceWriter;
using ashlar::Replayer;
using ashlar::TraceReader;
using ashlar::TraceWriter;
using ashlar::capi::Copy;
using ashlar::capi::Failed;
using ashlar::capi::OptionsIn;

struct ashlar_trace_reader_t {
  std::unique_ptr<TraceReader> rep;
};
struct ashlar_replay_options_t {
  ashlar::ReplayOptions rep;
};
struct ashlar_replayer_t {
  std::unique_ptr<Replayer> rep;
};

namespace ashlar::capi {
namespace {

Env* EnvIn(const ashlar_env_t* env) { return env == nullptr ? Env::Default() : env->rep; }

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::EnvIn;

void ashlar_start_trace(ashlar_t* db, ashlar_env_t* env, const ashlar_envoptions_t* env_options,
                        const ashlar_trace_options_t* options, const char* trace_path,
                        char** errptr) {
  assert(db != nullptr);
  assert(trace_path != nullptr);
  std::unique_ptr<TraceWriter> writer;
  if (Failed(errptr, NewFileTraceWriter(EnvIn(env), OptionsIn(env_options), trace_path, &writer)))
    return;
  Failed(errptr, db->rep->StartTrace(OptionsIn(options), std::move(writer)));
}

void ashlar_end_trace(ashlar_t* db, char** errptr) { Failed(errptr, db->rep->EndTrace()); }

void ashlar_start_io_trace(ashlar_t* db, ashlar_env_t* env, const ashlar_envoptions_t* env_options,
                           const ashlar_trace_options_t* options, const char* trace_path,
                           char** errptr) {
  assert(db != nullptr);
  assert(trace_path != nullptr);
  std::unique_ptr<TraceWriter> writer;
  if (Failed(errptr, NewFileTraceWriter(EnvIn(env), OptionsIn(env_options), trace_path, &writer)))
    return;
  Failed(errptr, db->rep->StartIOTrace(OptionsIn(options), std::move(writer)));
}

void ashlar_end_io_trace(ashlar_t* db, char** errptr) { Failed(errptr, db->rep->EndIOTrace()); }

void ashlar_start_block_cache_trace(ashlar_t* db, ashlar_env_t* env,
                                    const ashlar_envoptions_t* env_options,
                                    const ashlar_trace_options_t* options, const char* trace_path,
                                    char** errptr) {
  assert(db != nullptr);
  assert(trace_path != nullptr);
  std::unique_ptr<TraceWriter> writer;
  if (Failed(errptr, NewFileTraceWriter(EnvIn(env), OptionsIn(env_options), trace_path, &writer)))
    return;
  Failed(errptr, db->rep->StartBlockCacheTrace(OptionsIn(options), std::move(writer)));
}

void ashlar_start_block_cache_trace_with_options(
    ashlar_t* db, ashlar_env_t* env, const ashlar_envoptions_t* env_options,
    const ashlar_block_cache_trace_options_t* options,
    const ashlar_block_cache_trace_writer_options_t* writer_options, const char* trace_path,
    char** errptr) {
  assert(db != nullptr);
  assert(trace_path != nullptr);
  std::unique_ptr<TraceWriter> writer;
  if (Failed(errptr, NewFileTraceWriter(EnvIn(env), OptionsIn(env_options), trace_path, &writer)))
    return;
  Failed(errptr, db->rep->StartBlockCacheTrace(
                     OptionsIn(options),
                     NewBlockCacheTraceWriter(EnvIn(env)->GetSystemClock().get(),
                                              OptionsIn(writer_options), std::move(writer))));
}

void ashlar_end_block_cache_trace(ashlar_t* db, char** errptr) {
  Failed(errptr, db->rep->EndBlockCacheTrace());
}

ashlar_trace_reader_t* ashlar_trace_reader_create(ashlar_env_t* env,
                                                  const ashlar_envoptions_t* env_options,
                                                  const char* trace_path, char** errptr) {
  assert(trace_path != nullptr);
  std::unique_ptr<TraceReader> reader;
  if (Failed(errptr,
             ashlar::NewFileTraceReader(EnvIn(env), OptionsIn(env_options), trace_path, &reader)))
    return nullptr;
  return new ashlar_trace_reader_t{std::move(reader)};
}

char* ashlar_trace_reader_read(ashlar_trace_reader_t* reader, size_t* size, char** errptr) {
  assert(reader != nullptr);
  assert(size != nullptr);
  *size = 0;
  std::string record;
  if (Failed(errptr, reader->rep->Read(&record))) return nullptr;
  return Copy(record, size);
}

void ashlar_trace_reader_reset(ashlar_trace_reader_t* reader, char** errptr) {
  Failed(errptr, reader->rep->Reset());
}

void ashlar_trace_reader_close(ashlar_trace_reader_t* reader, char** errptr) {
  assert(reader != nullptr);
  Failed(errptr, reader->rep->Close());
}

void ashlar_trace_reader_destroy(ashlar_trace_reader_t* reader) { delete reader; }

ashlar_replay_options_t* ashlar_replay_options_create() { return new ashlar_replay_options_t; }
void ashlar_replay_options_destroy(ashlar_replay_options_t* options) { delete options; }

void ashlar_replay_options_set_num_threads(ashlar_replay_options_t* options, uint32_t num_threads) {
  options->rep.num_threads = num_threads;
}

uint32_t ashlar_replay_options_get_num_threads(ashlar_replay_options_t* options) {
  return options->rep.num_threads;
}

void ashlar_replay_options_set_fast_forward(ashlar_replay_options_t* options, double fast_forward) {
  options->rep.fast_forward = fast_forward;
}

double ashlar_replay_options_get_fast_forward(ashlar_replay_options_t* options) {
  return options->rep.fast_forward;
}

ashlar_replayer_t* ashlar_new_default_replayer(ashlar_t* db,
                                               ashlar_column_family_handle_t** column_families,
                                               size_t num_column_families, ashlar_env_t* env,
                                               const ashlar_envoptions_t* env_options,
                                               const char* trace_path, char** errptr) {
  assert(db != nullptr);
  assert(trace_path != nullptr);
  assert(num_column_families == 0 || column_families != nullptr);
  std::vector<ashlar::ColumnFamilyHandle*> families;
  for (size_t i = 0; i < num_column_families; ++i) {
    families.push_back(ashlar::capi::FamilyOf(db->rep, column_families[i]));
  }
  std::unique_ptr<TraceReader> reader;
  std::unique_ptr<Replayer> replayer;
  if (Failed(errptr,
             ashlar::NewFileTraceReader(EnvIn(env), OptionsIn(env_options), trace_path, &reader)) ||
      Failed(errptr, db->rep->NewDefaultReplayer(families, std::move(reader), &replayer))) {
    return nullptr;
  }
  return new ashlar_replayer_t{std::move(replayer)};
}

void ashlar_replayer_prepare(ashlar_replayer_t* replayer, char** errptr) {
  Failed(errptr, replayer->rep->Prepare());
}

uint64_t ashlar_replayer_get_header_timestamp(const ashlar_replayer_t* replayer) {
  return replayer->rep->GetHeaderTimestamp();
}

void ashlar_replayer_replay(ashlar_replayer_t* replayer, const ashlar_replay_options_t* options,
                            char** errptr) {
  assert(replayer != nullptr);
  Failed(errptr, replayer->rep->Replay(OptionsIn(options), nullptr));
}

void ashlar_replayer_destroy(ashlar_replayer_t* replayer) { delete replayer; }
