// SPDX-License-Identifier: Apache-2.0
//
// The handle of an event listener.
#pragma once

#include <cassert>
#include <memory>
#include <utility>

#include "ashlar/listener.h"
#include "capi/callbacks.h"
#include "capi/job_info.h"

namespace ashlar::capi {

// Calls those functions of a C program that are not null. The functions are set before options get
// the listener, and do not change afterwards.
class ProgramListener : public EventListener {
 public:
  ProgramListener(void* state, void (*destructor)(void*)) : program_(state, destructor, nullptr) {}

  void OnFlushBegin(DB* db, const FlushJobInfo& info) override {
    CallWithDatabase(on_flush_begin, db, info);
  }
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override {
    CallWithDatabase(on_flush_completed, db, info);
  }
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override {
    CallWithDatabase(on_compaction_begin, db, info);
  }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override {
    CallWithDatabase(on_compaction_completed, db, info);
  }
  void OnSubcompactionBegin(const SubcompactionJobInfo& info) override {
    Call(on_subcompaction_begin, info);
  }
  void OnSubcompactionCompleted(const SubcompactionJobInfo& info) override {
    Call(on_subcompaction_completed, info);
  }
  void OnExternalFileIngested(DB* db, const ExternalFileIngestionInfo& info) override {
    CallWithDatabase(on_external_file_ingested, db, info);
  }
  void OnStallConditionsChanged(const WriteStallInfo& info) override {
    Call(on_stall_conditions_changed, info);
  }
  void OnMemTableSealed(const MemTableInfo& info) override { Call(on_memtable_sealed, info); }
  void OnBackgroundError(BackgroundErrorReason reason, Status* bg_error) override {
    if (on_background_error == nullptr) return;
    assert(bg_error != nullptr);
    on_background_error(program_.state(), static_cast<uint32_t>(reason),
                        reinterpret_cast<ashlar_status_ptr_t*>(bg_error));
  }

  ashlar_on_flush_begin_cb on_flush_begin = nullptr;
  ashlar_on_flush_completed_cb on_flush_completed = nullptr;
  ashlar_on_compaction_begin_cb on_compaction_begin = nullptr;
  ashlar_on_compaction_completed_cb on_compaction_completed = nullptr;
  ashlar_on_subcompaction_begin_cb on_subcompaction_begin = nullptr;
  ashlar_on_subcompaction_completed_cb on_subcompaction_completed = nullptr;
  ashlar_on_external_file_ingested_cb on_external_file_ingested = nullptr;
  ashlar_on_background_error_cb on_background_error = nullptr;
  ashlar_on_stall_conditions_changed_cb on_stall_conditions_changed = nullptr;
  ashlar_on_memtable_sealed_cb on_memtable_sealed = nullptr;

 private:
  template <typename Function, typename Facts>
  void Call(Function function, const Facts& info) {
    if (function != nullptr) function(program_.state(), Handle(info));
  }
  template <typename Function, typename Facts>
  void CallWithDatabase(Function function, DB* db, const Facts& info) {
    if (function == nullptr) return;
    assert(db != nullptr);
    // A handle for this call only. Family handles that the program made with it become empty at its
    // end.
    ashlar_t handle{db, std::make_shared<FamilyHandles>()};
    function(program_.state(), &handle, Handle(info));
    handle.families->DestroyAll();
  }

  const Program program_;
};

}  // namespace ashlar::capi

struct ashlar_eventlistener_t : public ashlar::capi::Shareable<ashlar_eventlistener_t> {
  explicit ashlar_eventlistener_t(std::shared_ptr<ashlar::capi::ProgramListener> listener)
      : rep(std::move(listener)) {}

  const std::shared_ptr<ashlar::capi::ProgramListener> rep;
};
