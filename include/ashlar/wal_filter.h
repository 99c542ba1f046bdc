// SPDX-License-Identifier: Apache-2.0
//
// WalFilter inspects each batch that is replayed from the WAL when a database is opened, and can
// change or drop it. Set DBOptions::wal_filter; the filter must live until the database is open.
// Its decisions are final: if something was changed or dropped, all replayed data is flushed, even
// with avoid_flush_during_recovery, so that these WALs are never replayed again.
//
// Called by the thread that opens the database, without locks. Must not throw.
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

// Inspects and changes the batches that are replayed from the WAL.
class ASHLAR_EXPORT WalFilter : public Customizable {
 public:
  virtual ~WalFilter() {}

  static const char* Type() { return "WalFilter"; }
  // There are no built-in filters: *result is not changed, and the status is OK if
  // options.ignore_unsupported_options is set, else NotSupported.
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 WalFilter** result);

  // What happens to a batch.
  enum class WalProcessingOption {
    kContinueProcessing = 0,
    kIgnoreCurrentRecord = 1,  // drop this batch
    kStopReplay = 2,           // drop this batch and all that follow
    kCorruptedRecord = 3,      // treat it as damaged: wal_recovery_mode decides
    kWalProcessingOptionMax = 4,
  };

  // Called once, before the first batch. The first map contains, for each family id, the number of
  // the oldest WAL with data that is not flushed; the second one the id of each family.
  virtual void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& /*cf_lognumber_map*/,
                                        const std::map<std::string, uint32_t>& /*cf_name_id_map*/) {
  }

  // Called for each batch. To replace the batch, fill *new_batch, with at most as many updates as
  // `batch` has, and set *batch_changed. The default implementation calls LogRecord().
  virtual WalProcessingOption LogRecordFound(unsigned long long /*log_number*/,
                                             const std::string& /*log_file_name*/,
                                             const WriteBatch& batch, WriteBatch* new_batch,
                                             bool* batch_changed) {
    return LogRecord(batch, new_batch, batch_changed);
  }
  // The same without the name of the file. The default implementation keeps all batches.
  virtual WalProcessingOption LogRecord(const WriteBatch& /*batch*/, WriteBatch* /*new_batch*/,
                                        bool* /*batch_changed*/) const {
    return WalProcessingOption::kContinueProcessing;
  }

  const char* Name() const override = 0;
};

}  // namespace ashlar
