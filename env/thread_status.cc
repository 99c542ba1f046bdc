// SPDX-License-Identifier: Apache-2.0
//
// Names of the values in a ThreadStatus. thread_list.h collects the values.
#include "ashlar/thread_status.h"

#include <array>
#include <cstdio>

namespace ashlar {

const bool ThreadStatus::kEnabled = true;

ThreadStatus::ThreadStatus(const uint64_t _id, const ThreadType _thread_type,
                           const std::string& _db_name, const std::string& _cf_name,
                           const OperationType _operation_type, const uint64_t _op_elapsed_micros,
                           const OperationStage _operation_stage, const uint64_t _op_props[],
                           const StateType _state_type)
    : thread_id(_id),
      thread_type(_thread_type),
      db_name(_db_name),
      cf_name(_cf_name),
      operation_type(_operation_type),
      op_elapsed_micros(_op_elapsed_micros),
      operation_stage(_operation_stage),
      state_type(_state_type) {
  std::copy(_op_props, _op_props + kNumOperationProperties, op_properties);
}

namespace {

// The name at `index` of a table, or "Unknown" for a number that the table does not have.
template <size_t kSize>
const std::string& NameIn(const std::array<std::string, kSize>& names, int index) {
  static const auto* unknown = new std::string("Unknown");
  return index >= 0 && static_cast<size_t>(index) < kSize ? names[static_cast<size_t>(index)]
                                                          : *unknown;
}

}  // namespace

std::string ThreadStatus::GetThreadTypeName(ThreadType thread_type) {
  switch (thread_type) {
    case HIGH_PRIORITY: return "High Pri";
    case LOW_PRIORITY: return "Low Pri";
    case USER: return "User";
    case BOTTOM_PRIORITY: return "Bottom Pri";
    default: return "Unknown";
  }
}

const std::string& ThreadStatus::GetOperationName(OperationType op_type) {
  static const auto* names =
      new std::array<std::string, NUM_OP_TYPES>{"",
                                                "Compaction",
                                                "Flush",
                                                "DBOpen",
                                                "Get",
                                                "MultiGet",
                                                "DBIterator",
                                                "VerifyDBChecksum",
                                                "VerifyFileChecksums",
                                                "GetEntity",
                                                "MultiGetEntity",
                                                "GetFileChecksumsFromCurrentManifest",
                                                "LazyResolve"};
  return NameIn(*names, op_type);
}

const std::string ThreadStatus::MicrosToString(uint64_t op_elapsed_time) {
  if (op_elapsed_time == 0) return "";
  if (op_elapsed_time < 10'000) return std::to_string(op_elapsed_time) + " us";
  const auto micros = static_cast<double>(op_elapsed_time);
  char text[64];
  if (op_elapsed_time < 10'000'000) {
    snprintf(text, sizeof(text), "%.3f ms", micros / 1e3);
  } else if (op_elapsed_time < 60'000'000) {
    snprintf(text, sizeof(text), "%.3f sec", micros / 1e6);
  } else {
    const uint64_t minutes = op_elapsed_time / 60'000'000;
    const double seconds = (micros - static_cast<double>(minutes) * 60e6) / 1e6;
    if (minutes < 60) {
      snprintf(text, sizeof(text), "%02u:%05.3f M:S", static_cast<unsigned>(minutes), seconds);
    } else {
      snprintf(text, sizeof(text), "%02llu:%02u:%05.3f H:M:S",
               static_cast<unsigned long long>(minutes / 60), static_cast<unsigned>(minutes % 60),
               seconds);
    }
  }
  return text;
}

const std::string& ThreadStatus::GetOperationStageName(OperationStage stage) {
  static const auto* names =
      new std::array<std::string, NUM_OP_STAGES>{"",
                                                 "FlushJob::Run",
                                                 "FlushJob::WriteLevel0Table",
                                                 "CompactionJob::Prepare",
                                                 "CompactionJob::Run",
                                                 "CompactionJob::ProcessKeyValueCompaction",
                                                 "CompactionJob::Install",
                                                 "CompactionJob::FinishCompactionOutputFile",
                                                 "MemTableList::PickMemtablesToFlush",
                                                 "MemTableList::RollbackMemtableFlush",
                                                 "MemTableList::TryInstallMemtableFlushResults"};
  return NameIn(*names, stage);
}

const std::string& ThreadStatus::GetOperationPropertyName(OperationType op_type, int i) {
  static const auto* compaction = new std::array<std::string, NUM_COMPACTION_PROPERTIES>{
      "JobID",           "InputOutputLevel", "Manual/Deletion/Trivial",
      "TotalInputBytes", "BytesRead",        "BytesWritten"};
  static const auto* flush =
      new std::array<std::string, NUM_FLUSH_PROPERTIES>{"JobID", "BytesMemtables", "BytesWritten"};
  static const auto* none = new std::string;
  if (op_type == OP_COMPACTION) return NameIn(*compaction, i);
  if (op_type == OP_FLUSH) return NameIn(*flush, i);
  return *none;
}

// `op_properties` has kNumOperationProperties numbers. Levels and flags are packed into one number
// each.
std::map<std::string, uint64_t> ThreadStatus::InterpretOperationProperties(
    OperationType op_type, const uint64_t* op_properties) {
  std::map<std::string, uint64_t> result;
  const int count = op_type == OP_COMPACTION ? int{NUM_COMPACTION_PROPERTIES}
                    : op_type == OP_FLUSH    ? int{NUM_FLUSH_PROPERTIES}
                                             : 0;
  for (int i = 0; i < count; ++i) {
    if (op_type == OP_COMPACTION && i == COMPACTION_INPUT_OUTPUT_LEVEL) {
      result["BaseInputLevel"] = op_properties[i] >> 32;
      result["OutputLevel"] = op_properties[i] & 0xffffffff;
    } else if (op_type == OP_COMPACTION && i == COMPACTION_PROP_FLAGS) {
      result["IsManual"] = (op_properties[i] & 2) >> 1;
      result["IsDeletion"] = (op_properties[i] & 4) >> 2;
      result["IsTrivialMove"] = (op_properties[i] & 8) >> 3;
    } else {
      result[GetOperationPropertyName(op_type, i)] = op_properties[i];
    }
  }
  return result;
}

const std::string& ThreadStatus::GetStateName(StateType state_type) {
  static const auto* names = new std::array<std::string, NUM_STATE_TYPES>{"", "Mutex Wait"};
  return NameIn(*names, state_type);
}

}  // namespace ashlar
