// SPDX-License-Identifier: Apache-2.0
//
// ThreadStatus describes what a background thread is doing; see Env::GetThreadList(). Only flushes
// and compactions are shown, and only those of databases with enable_thread_tracking. Waiting for a
// mutex is not shown. Names and numbers are the same as in RocksDB, because monitoring tools print
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "ashlar/export.h"

namespace ashlar {

// The state of one thread. A plain value.
struct ASHLAR_EXPORT ThreadStatus {
  // Whether this build records the state of threads.
  static const bool kEnabled;

  enum ThreadType : int {
    HIGH_PRIORITY = 0,
    LOW_PRIORITY,
    USER,
    BOTTOM_PRIORITY,
    NUM_THREAD_TYPES
  };

  enum OperationType : int {
    OP_UNKNOWN = 0,
    OP_COMPACTION,
    OP_FLUSH,
    OP_DBOPEN,
    OP_GET,
    OP_MULTIGET,
    OP_DBITERATOR,
    OP_VERIFY_DB_CHECKSUM,
    OP_VERIFY_FILE_CHECKSUMS,
    OP_GETENTITY,
    OP_MULTIGETENTITY,
    OP_GET_FILE_CHECKSUMS_FROM_CURRENT_MANIFEST,
    OP_LAZY_RESOLVE,
    NUM_OP_TYPES
  };

  enum OperationStage : int {
    STAGE_UNKNOWN = 0,
    STAGE_FLUSH_RUN,
    STAGE_FLUSH_WRITE_L0,
    STAGE_COMPACTION_PREPARE,
    STAGE_COMPACTION_RUN,
    STAGE_COMPACTION_PROCESS_KV,
    STAGE_COMPACTION_INSTALL,
    STAGE_COMPACTION_SYNC_FILE,
    STAGE_PICK_MEMTABLES_TO_FLUSH,
    STAGE_MEMTABLE_ROLLBACK,
    STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS,
    NUM_OP_STAGES
  };

  enum CompactionPropertyType : int {
    COMPACTION_JOB_ID = 0,
    COMPACTION_INPUT_OUTPUT_LEVEL,
    COMPACTION_PROP_FLAGS,
    COMPACTION_TOTAL_INPUT_BYTES,
    COMPACTION_BYTES_READ,
    COMPACTION_BYTES_WRITTEN,
    NUM_COMPACTION_PROPERTIES
  };

  enum FlushPropertyType : int {
    FLUSH_JOB_ID = 0,
    FLUSH_BYTES_MEMTABLES,
    FLUSH_BYTES_WRITTEN,
    NUM_FLUSH_PROPERTIES
  };

  static constexpr int kNumOperationProperties =
      std::max(int{NUM_COMPACTION_PROPERTIES}, int{NUM_FLUSH_PROPERTIES});

  enum StateType : int { STATE_UNKNOWN = 0, STATE_MUTEX_WAIT = 1, NUM_STATE_TYPES };

  ThreadStatus(const uint64_t _id, const ThreadType _thread_type, const std::string& _db_name,
               const std::string& _cf_name, const OperationType _operation_type,
               const uint64_t _op_elapsed_micros, const OperationStage _operation_stage,
               const uint64_t _op_props[], const StateType _state_type);

  const uint64_t thread_id;
  const ThreadType thread_type;
  // Empty if the thread is idle; the other fields of the operation are 0 then.
  const std::string db_name;
  const std::string cf_name;
  const OperationType operation_type;
  const uint64_t op_elapsed_micros;
  const OperationStage operation_stage;
  // The meaning depends on operation_type: indexed by CompactionPropertyType or FlushPropertyType.
  uint64_t op_properties[kNumOperationProperties];
  const StateType state_type;

  static std::string GetThreadTypeName(ThreadType thread_type);
  static const std::string& GetOperationName(OperationType op_type);
  static const std::string MicrosToString(uint64_t op_elapsed_time);
  static const std::string& GetOperationStageName(OperationStage stage);
  static const std::string& GetOperationPropertyName(OperationType op_type, int i);
  static std::map<std::string, uint64_t> InterpretOperationProperties(
      OperationType op_type, const uint64_t* op_properties);
  static const std::string& GetStateName(StateType state_type);
};

}  // namespace ashlar
