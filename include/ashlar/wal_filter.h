// SPDX-License-Identifier: Apache-2.0
//
// WalFilter looks at every batch that is replayed from the WAL when a database is opened, and may
// change or drop it. Set it in DBOptions::wal_filter; it must outlive the open. What it decides is
// final: a database of which something was dropped or changed flushes all that was replayed, also
// under avoid_flush_during_recovery, so that no later open sees those logs again.
//
// Called by the opening thread only, without locks. Must not throw.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class WriteBatch;
struct ConfigOptions;

class ASHLAR_EXPORT WalFilter : public Customizable {
 public:
  virtual ~WalFilter() {}

  static const char* Type() { return "WalFilter"; }
  // There are no built-in filters: for a name *result stays unset, and the status is OK if
  // options.ignore_unsupported_options, else NotSupported.
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 WalFilter** result);

  enum class WalProcessingOption {
    kContinueProcessing = 0,
    kIgnoreCurrentRecord = 1,  // drop this batch
    kStopReplay = 2,           // drop this batch and all that follow
    kCorruptedRecord = 3,      // treat it as wal_recovery_mode treats a corrupt record
    kWalProcessingOptionMax = 4,
  };

  // Called once, before the first batch: up to which WAL number each family has been flushed, and
  // the number of each family by name.
  virtual void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& /*cf_lognumber_map*/,
                                        const std::map<std::string, uint32_t>& /*cf_name_id_map*/) {
  }

  // Called for each batch. To replace it, fill *new_batch, with no more updates than `batch` has,
  // and set *batch_changed. Calls LogRecord() by default.
  virtual WalProcessingOption LogRecordFound(unsigned long long /*log_number*/,
                                             const std::string& /*log_file_name*/,
                                             const WriteBatch& batch, WriteBatch* new_batch,
                                             bool* batch_changed) {
    return LogRecord(batch, new_batch, batch_changed);
  }
  // The same without the file; does nothing by default.
  virtual WalProcessingOption LogRecord(const WriteBatch& /*batch*/, WriteBatch* /*new_batch*/,
                                        bool* /*batch_changed*/) const {
    return WalProcessingOption::kContinueProcessing;
  }

  const char* Name() const override = 0;
};

}  // namespace ashlar
