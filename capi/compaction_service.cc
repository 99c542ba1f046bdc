// SPDX-License-Identifier: Apache-2.0
//
// The C API: compactions in other processes.
//
// The handle of a job's facts is a pointer to the engine's own object, valid during the callback.
// The functions of the program are called by the threads of compactions, several at once.
#include <cassert>

#include "ashlar/c/compaction_service.h"

#include "capi/callbacks.h"
#include "capi/listener_handle.h"
#include "capi/option_handles.h"

using ashlar::CompactionServiceJobInfo;
using ashlar::CompactionServiceJobStatus;
using ashlar::CompactionServiceOptionsOverride;
using ashlar::CompactionServiceScheduleResponse;
using ashlar::DB;
using ashlar::Status;
using ashlar::capi::Copy;
using ashlar::capi::Failed;
using ashlar::capi::OptionsIn;
using ashlar::capi::Text;

struct ashlar_compaction_service_options_override_t {
  CompactionServiceOptionsOverride rep;
};
struct ashlar_compactionservice_scheduleresponse_t {
  CompactionServiceScheduleResponse rep;
};

namespace ashlar::capi {
namespace {

const CompactionServiceJobInfo& Job(const ashlar_compactionservice_jobinfo_t* handle) {
  assert(handle != nullptr);
  return *reinterpret_cast<const CompactionServiceJobInfo*>(handle);
}

// Belongs to the object that contains it.
const char* JobText(const std::string& text, size_t* length) {
  assert(length != nullptr);
  *length = text.size();
  return text.c_str();
}

// Reports a number that is no status.
bool InvalidStatus(int status, char** errptr) {
  // The enumerators are consecutive, so the bounds decide which numbers are valid.
  const bool valid = status >= ashlar_compactionservice_jobstatus_success &&
                     status <= ashlar_compactionservice_jobstatus_use_local;
  return !valid && Failed(errptr, Status::InvalidArgument("compaction service: no such status",
                                                          std::to_string(status)));
}

// Calls the functions of the program. `schedule` and `wait` are required.
class ProgramCompactionService : public CompactionService {
 public:
  ProgramCompactionService(void* state, void (*destructor)(void*), const char* name)
      : program_(state, destructor, nullptr), name_(name == nullptr ? "" : name) {}

  const char* Name() const override { return name_.c_str(); }

  CompactionServiceScheduleResponse Schedule(const CompactionServiceJobInfo& info,
                                             const std::string& input) override {
    // The program creates the response, and the engine's side destroys it.
    const std::unique_ptr<ashlar_compactionservice_scheduleresponse_t> response(schedule(
        program_.state(), reinterpret_cast<const ashlar_compactionservice_jobinfo_t*>(&info),
        input.data(), input.size()));
    // A program that gives no response could not start the job; the database then reports the
    // failure of the compaction.
    if (response == nullptr) {
      return CompactionServiceScheduleResponse(CompactionServiceJobStatus::kFailure);
    }
    return response->rep;
  }

  CompactionServiceJobStatus Wait(const std::string& scheduled_job_id,
                                  std::string* result) override {
    char* text = nullptr;
    size_t length = 0;
    const int status = wait(program_.state(), scheduled_job_id.c_str(), &text, &length);
    const Slice bytes = Text(text, length);
    assert(result != nullptr);
    result->assign(bytes.data(), bytes.size());
    // The text of the program is from malloc().
    std::free(text);
    return InvalidStatus(status, nullptr) ? CompactionServiceJobStatus::kFailure
                                          : static_cast<CompactionServiceJobStatus>(status);
  }

  void CancelAwaitingJobs() override {
    // The program may have no jobs that wait, and then needs no such function.
    if (cancel_awaiting_jobs != nullptr) cancel_awaiting_jobs(program_.state());
  }

  void OnInstallation(const std::string& scheduled_job_id,
                      CompactionServiceJobStatus status) override {
    if (on_installation == nullptr) return;
    on_installation(program_.state(), scheduled_job_id.c_str(), static_cast<int>(status));
  }

  ashlar_compaction_service_schedule_cb schedule = nullptr;
  ashlar_compaction_service_wait_cb wait = nullptr;
  // May be null.
  ashlar_compaction_service_cancel_awaiting_jobs_cb cancel_awaiting_jobs = nullptr;
  ashlar_compaction_service_on_installation_cb on_installation = nullptr;

 private:
  const Program program_;
  const std::string name_;
};

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::InvalidStatus;
using ashlar::capi::Job;
using ashlar::capi::JobText;

// The first owner is the handle, which options take over.
struct ashlar_compactionservice_t {
  std::shared_ptr<ashlar::CompactionService> rep;
};

ashlar_compactionservice_t* ashlar_compactionservice_create(
    void* state, void (*destructor)(void*), ashlar_compaction_service_schedule_cb schedule,
    const char* name, ashlar_compaction_service_wait_cb wait,
    ashlar_compaction_service_cancel_awaiting_jobs_cb cancel_awaiting_jobs,
    ashlar_compaction_service_on_installation_cb on_installation) {
  assert(schedule != nullptr && wait != nullptr);  // required
  auto service = std::make_shared<ashlar::capi::ProgramCompactionService>(state, destructor, name);
  service->schedule = schedule;
  service->wait = wait;
  service->cancel_awaiting_jobs = cancel_awaiting_jobs;
  service->on_installation = on_installation;
  return new ashlar_compactionservice_t{std::move(service)};
}

// Ownership passes to the options, so that the program must not destroy the handle afterwards.
void ashlar_options_set_compaction_service(ashlar_options_t* options,
                                           ashlar_compactionservice_t* service) {
  assert(options != nullptr);
  options->rep.compaction_service = service == nullptr ? nullptr : service->rep;
  // The options have the object now, so only the handle goes.
  delete service;
}

// To be called by the program's schedule function, which returns the result to the engine.
ashlar_compactionservice_scheduleresponse_t* ashlar_compactionservice_scheduleresponse_create(
    const char* scheduled_job_id, int status, char** errptr) {
  // A wrong number must not become an enumerator, because the engine decides by it what it does
  // next.
  if (InvalidStatus(status, errptr)) return nullptr;
  return new ashlar_compactionservice_scheduleresponse_t{
      CompactionServiceScheduleResponse(scheduled_job_id == nullptr ? "" : scheduled_job_id,
                                        static_cast<CompactionServiceJobStatus>(status))};
}

ashlar_compactionservice_scheduleresponse_t*
ashlar_compactionservice_scheduleresponse_create_with_status(int status, char** errptr) {
  return ashlar_compactionservice_scheduleresponse_create(nullptr, status, errptr);
}

int ashlar_compactionservice_scheduleresponse_getstatus(
    const ashlar_compactionservice_scheduleresponse_t* response) {
  assert(response != nullptr);
  return static_cast<int>(response->rep.status);
}

const char* ashlar_compactionservice_scheduleresponse_get_scheduled_job_id(
    const ashlar_compactionservice_scheduleresponse_t* response, size_t* len) {
  assert(response != nullptr);
  return JobText(response->rep.scheduled_job_id, len);
}

// Only for responses that were not returned to the engine, because the engine frees the others.
void ashlar_compactionservice_scheduleresponse_t_destroy(
    ashlar_compactionservice_scheduleresponse_t* response) {
  delete response;
}

// The facts about the job. Texts belong to the job and are valid during the callback; *len becomes
// their length.
const char* ashlar_compactionservice_jobinfo_t_get_db_name(
    const ashlar_compactionservice_jobinfo_t* info, size_t* len) {
  return JobText(Job(info).db_name, len);
}

int ashlar_compactionservice_jobinfo_t_get_base_input_level(
    const ashlar_compactionservice_jobinfo_t* info) {
  return Job(info).base_input_level;
}

uint32_t ashlar_compactionservice_jobinfo_t_get_cf_id(
    const ashlar_compactionservice_jobinfo_t* info) {
  return Job(info).cf_id;
}

const char* ashlar_compactionservice_jobinfo_t_get_cf_name(
    const ashlar_compactionservice_jobinfo_t* info, size_t* len) {
  return JobText(Job(info).cf_name, len);
}

int ashlar_compactionservice_jobinfo_t_get_compaction_reason(
    const ashlar_compactionservice_jobinfo_t* info) {
  return static_cast<int>(Job(info).compaction_reason);
}

const char* ashlar_compactionservice_jobinfo_t_get_db_id(
    const ashlar_compactionservice_jobinfo_t* info, size_t* len) {
  return JobText(Job(info).db_id, len);
}

const char* ashlar_compactionservice_jobinfo_t_get_db_session_id(
    const ashlar_compactionservice_jobinfo_t* info, size_t* len) {
  return JobText(Job(info).db_session_id, len);
}

uint64_t ashlar_compactionservice_jobinfo_t_get_job_id(
    const ashlar_compactionservice_jobinfo_t* info) {
  return Job(info).job_id;
}

int ashlar_compactionservice_jobinfo_t_get_output_level(
    const ashlar_compactionservice_jobinfo_t* info) {
  return Job(info).output_level;
}

int ashlar_compactionservice_jobinfo_t_get_priority(
    const ashlar_compactionservice_jobinfo_t* info) {
  return static_cast<int>(Job(info).priority);
}

unsigned char ashlar_compactionservice_jobinfo_t_is_bottommost_level(
    const ashlar_compactionservice_jobinfo_t* info) {
  return Job(info).bottommost_level;
}

unsigned char ashlar_compactionservice_jobinfo_t_is_full_compaction(
    const ashlar_compactionservice_jobinfo_t* info) {
  return Job(info).is_full_compaction;
}

unsigned char ashlar_compactionservice_jobinfo_t_is_manual_compaction(
    const ashlar_compactionservice_jobinfo_t* info) {
  return Job(info).is_manual_compaction;
}

// The objects that an OPTIONS file cannot contain, for the process that runs the compaction.
ashlar_compaction_service_options_override_t* ashlar_compaction_service_options_override_create() {
  return new ashlar_compaction_service_options_override_t;
}

ashlar_compaction_service_options_override_t*
ashlar_compaction_service_options_override_create_from_options(ashlar_options_t* option) {
  auto* made = new ashlar_compaction_service_options_override_t;
  const ashlar::Options& from = OptionsIn(option);
  CompactionServiceOptionsOverride& rep = made->rep;
  rep.env = from.env;
  rep.file_checksum_gen_factory = from.file_checksum_gen_factory;
  rep.comparator = from.comparator;
  rep.merge_operator = from.merge_operator;
  rep.compaction_filter = from.compaction_filter;
  rep.compaction_filter_factory = from.compaction_filter_factory;
  rep.prefix_extractor = from.prefix_extractor;
  rep.table_factory = from.table_factory;
  rep.sst_partitioner_factory = from.sst_partitioner_factory;
  rep.listeners = from.listeners;
  rep.statistics = from.statistics;
  rep.info_log = from.info_log;
  rep.table_properties_collector_factories = from.table_properties_collector_factories;
  return made;
}

void ashlar_compaction_service_options_override_destroy(
    ashlar_compaction_service_options_override_t* override_options) {
  delete override_options;
}

void ashlar_compaction_service_options_override_set_env(
    ashlar_compaction_service_options_override_t* override_options, ashlar_env_t* env) {
  assert(override_options != nullptr);
  // Null means the environment of the machine, because a worker always needs one.
  override_options->rep.env = env == nullptr ? ashlar::Env::Default() : env->rep;
}

void ashlar_compaction_service_options_override_set_comparator(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_comparator_t* comparator) {
  override_options->rep.comparator = comparator;
}

// The environment, the comparator and the compaction filter stay those of the program, and must
// outlive the compaction. The other objects are taken over or shared, as by the functions for
// options.
void ashlar_compaction_service_options_override_set_merge_operator(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_mergeoperator_t* merge_operator) {
  assert(override_options != nullptr);
  override_options->rep.merge_operator =
      merge_operator == nullptr ? nullptr : merge_operator->TakeOver();
}

void ashlar_compaction_service_options_override_set_compaction_filter(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_compactionfilter_t* compaction_filter) {
  assert(override_options != nullptr);
  override_options->rep.compaction_filter = compaction_filter;
}

void ashlar_compaction_service_options_override_set_compaction_filter_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_compactionfilterfactory_t* compaction_filter_factory) {
  override_options->rep.compaction_filter_factory =
      compaction_filter_factory == nullptr ? nullptr : compaction_filter_factory->TakeOver();
}

void ashlar_compaction_service_options_override_set_prefix_extractor(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_slicetransform_t* prefix_extractor) {
  assert(override_options != nullptr);
  override_options->rep.prefix_extractor = ashlar::capi::TakenObjectOf(prefix_extractor);
}

void ashlar_compaction_service_options_override_set_block_based_table_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_block_based_table_options_t* table_options) {
  assert(override_options != nullptr);
  override_options->rep.table_factory.reset(
      ashlar::NewBlockBasedTableFactory(OptionsIn(table_options)));
}

void ashlar_compaction_service_options_override_set_cuckoo_table_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_cuckoo_table_options_t* table_options) {
  override_options->rep.table_factory.reset(
      ashlar::NewCuckooTableFactory(OptionsIn(table_options)));
}

void ashlar_compaction_service_options_override_set_statistics(
    ashlar_compaction_service_options_override_t* override_options, ashlar_options_t* options) {
  assert(override_options != nullptr);
  // Statistics are shared with the options: both count into the same object.
  override_options->rep.statistics = OptionsIn(options).statistics;
}

void ashlar_compaction_service_options_override_set_info_log(
    ashlar_compaction_service_options_override_t* override_options, ashlar_logger_t* logger) {
  override_options->rep.info_log = ashlar::capi::ObjectIn(logger);
}

void ashlar_compaction_service_options_override_set_option(
    ashlar_compaction_service_options_override_t* override_options, const char* key,
    const char* value) {
  assert(override_options != nullptr);
  assert(key != nullptr);
  assert(value != nullptr);
  // A later value for the same name replaces the earlier one. The text is checked when the worker
  // opens the database.
  override_options->rep.options_map[key] = value;
}

void ashlar_compaction_service_options_override_set_file_checksum_gen_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_file_checksum_gen_factory_t* factory) {
  override_options->rep.file_checksum_gen_factory = ashlar::capi::ObjectIn(factory);
}

void ashlar_compaction_service_options_override_set_sst_partitioner_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_sst_partitioner_factory_t* factory) {
  override_options->rep.sst_partitioner_factory = ashlar::capi::ObjectIn(factory);
}

void ashlar_compaction_service_options_override_add_event_listener(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_eventlistener_t* event_listener) {
  assert(event_listener != nullptr);
  override_options->rep.listeners.push_back(ashlar::capi::TakenObjectOf(event_listener));
}

void ashlar_compaction_service_options_override_add_table_properties_collector_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_table_properties_collector_factory_t* factory) {
  if (factory == nullptr) return;
  override_options->rep.table_properties_collector_factories.push_back(factory->rep);
}

// Runs one compaction. The result is the text that the database waits for; the program frees it
// with ashlar_free().
char* ashlar_open_and_compact(const char* db_path, const char* output_directory, const char* input,
                              size_t input_len, size_t* output_len,
                              const ashlar_compaction_service_options_override_t* override_options,
                              char** errptr) {
  return ashlar_open_and_compact_with_options(nullptr, db_path, output_directory, input, input_len,
                                              output_len, override_options, errptr);
}

char* ashlar_open_and_compact_with_options(
    const ashlar_open_and_compact_options_t* options, const char* db_path,
    const char* output_directory, const char* input, size_t input_len, size_t* output_len,
    const ashlar_compaction_service_options_override_t* override_options, char** errptr) {
  assert(db_path != nullptr);
  assert(output_directory != nullptr);
  std::string output;
  // The text of the job is copied, because OpenAndCompact() takes a string, and an input of the
  // program may contain zero bytes.
  const Status s =
      DB::OpenAndCompact(OptionsIn(options), db_path, output_directory,
                         Text(input, input_len).ToString(), &output, OptionsIn(override_options));
  return ashlar::capi::CopyOfRead(s, output, output_len, errptr);
}

void ashlar_options_add_table_properties_collector_factory(
    ashlar_options_t* options, ashlar_table_properties_collector_factory_t* factory) {
  if (factory == nullptr) return;
  options->rep.table_properties_collector_factories.push_back(factory->rep);
}

void ashlar_table_properties_collector_factory_destroy(
    ashlar_table_properties_collector_factory_t* factory) {
  delete factory;
}
