// SPDX-License-Identifier: Apache-2.0
//
// Decisions about stalls as pure functions: condition, severity and allowed rate.
#include "db/write/write_stall.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "ashlar/options.h"

namespace ashlar {
namespace {

// The position of `value` on the way from `slowdown` (0) to `stop` (1), clamped to this range. If
// the limits leave no room between them, the position is at the stop.
double Position(double value, double slowdown, double stop) {
  if (stop <= slowdown) return 1;
  return std::clamp((value - slowdown) / (stop - slowdown), 0.0, 1.0);
}

// Whether the options disable compactions, so that a stall that waits for one would never end.
bool NeverCompacts(const ColumnFamilyOptions& options) {
  return options.disable_auto_compactions || options.compaction_style == kCompactionStyleNone;
}

StallDecision Delayed(WriteStallCause cause, double severity) {
  assert(severity >= 0);
  assert(severity <= 1);
  return {WriteStallCondition::kDelayed, cause, severity};
}

}  // namespace

// The reasons to stop are checked first, the reasons to delay afterwards. Several reasons to delay
// may hold; the most severe one counts.
StallDecision DecideStall(const WriteDebt& debt, const ColumnFamilyOptions& options) {
  using Condition = WriteStallCondition;
  if (debt.immutable_memtables >= options.max_write_buffer_number) {
    return {Condition::kStopped, WriteStallCause::kMemtableLimit, 1};
  }
  // Debt that no compaction will ever reduce must not hold writes for ever.
  if (NeverCompacts(options)) return {};
  if (debt.level0_files >= options.level0_stop_writes_trigger) {
    return {Condition::kStopped, WriteStallCause::kL0FileCountLimit, 1};
  }
  const uint64_t hard = options.hard_pending_compaction_bytes_limit;
  const uint64_t soft = options.soft_pending_compaction_bytes_limit;
  if (hard > 0 && debt.pending_compaction_bytes >= hard) {
    return {Condition::kStopped, WriteStallCause::kPendingCompactionBytes, 1};
  }
  StallDecision result;
  // The last free memtable is being filled while all others wait for their flush. Checked only with
  // more than three memtables, because with fewer this is a normal state during a flush.
  if (options.max_write_buffer_number > 3 &&
      debt.immutable_memtables >= options.max_write_buffer_number - 1) {
    result = Delayed(WriteStallCause::kMemtableLimit, 0.5);
  }
  const int slowdown = options.level0_slowdown_writes_trigger;
  if (slowdown >= 0 && debt.level0_files >= slowdown) {
    const double severity =
        Position(debt.level0_files, slowdown, options.level0_stop_writes_trigger);
    result = WorseOf(result, Delayed(WriteStallCause::kL0FileCountLimit, severity));
  }
  if (soft > 0 && debt.pending_compaction_bytes >= soft) {
    // Without a hard limit the delay grows until the debt reaches twice the soft limit.
    const double stop = static_cast<double>(hard > 0 ? hard : 2 * soft);
    const double severity = Position(static_cast<double>(debt.pending_compaction_bytes),
                                     static_cast<double>(soft), stop);
    result = WorseOf(result, Delayed(WriteStallCause::kPendingCompactionBytes, severity));
  }
  return result;
}

// The greatest ratio of a debt to its limit: 1 means that writes are slowed down now.
double StallProximity(const WriteDebt& debt, const ColumnFamilyOptions& options) {
  double nearest = 0;
  // A limit of 0 is switched off.
  const auto consider = [&nearest](double value, double limit) {
    if (limit > 0) nearest = std::max(nearest, value / limit);
  };
  const int memtables = options.max_write_buffer_number;
  consider(debt.immutable_memtables, memtables > 3 ? memtables - 1 : memtables);
  if (!NeverCompacts(options)) {
    const int slowdown = options.level0_slowdown_writes_trigger;
    const int stop = options.level0_stop_writes_trigger;
    consider(debt.level0_files, slowdown > 0 ? std::min(slowdown, stop) : stop);
    const uint64_t hard = options.hard_pending_compaction_bytes_limit;
    const uint64_t soft = options.soft_pending_compaction_bytes_limit;
    // If only one of the two limits is set, the sum is that limit.
    consider(static_cast<double>(debt.pending_compaction_bytes),
             static_cast<double>(soft > 0 && hard > 0 ? std::min(soft, hard) : soft + hard));
  }
  return nearest;
}

int StallProximityPercent(const WriteDebt& debt, const ColumnFamilyOptions& options) {
  return static_cast<int>(std::min(StallProximity(debt, options) * 100, 1e6));
}

bool IsLevel0Behind(const WriteDebt& debt, const ColumnFamilyOptions& options) {
  if (NeverCompacts(options)) return false;
  const int trigger = options.level0_file_num_compaction_trigger;
  const int slowdown = std::max(options.level0_slowdown_writes_trigger, trigger);
  return debt.level0_files > trigger && debt.level0_files >= trigger + (slowdown - trigger) / 2;
}

bool IsCompactionBehind(const WriteDebt& debt, const ColumnFamilyOptions& options) {
  if (NeverCompacts(options)) return false;
  if (IsLevel0Behind(debt, options)) return true;
  const uint64_t soft = options.soft_pending_compaction_bytes_limit;
  return soft > 0 && debt.pending_compaction_bytes >= soft / 4;
}

// A stop is worse than a delay, and a delay is worse than none. Severity decides between equals.
StallDecision WorseOf(const StallDecision& a, const StallDecision& b) {
  const auto rank = [](const StallDecision& d) {
    return d.condition == WriteStallCondition::kStopped   ? 2
           : d.condition == WriteStallCondition::kDelayed ? 1
                                                          : 0;
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b) ? a : b;
  return a.severity >= b.severity ? a : b;
}

uint64_t PacedMemTableBytes(int immutable_memtables, double flush_progress,
                            const ColumnFamilyOptions& options, uint64_t empty_bytes) {
  // Below this size in bytes a memtable gives small level-0 files, which cost more than they save.
  constexpr uint64_t kNotWorthIt = 4 << 20;  // bytes
  assert(immutable_memtables >= 0);
  assert(flush_progress >= 0);
  const uint64_t full = options.write_buffer_size;
  if (immutable_memtables + 1 < options.max_write_buffer_number) return full;
  const double room = static_cast<double>(full - std::min(full, empty_bytes));
  const auto share = static_cast<uint64_t>(room * (1 + flush_progress) / 8);
  return std::min(full, empty_bytes + std::max(kNotWorthIt, share));
}

// Severity 0 gives the full rate, severity 1 a sixteenth of it, and equal steps of severity divide
// the rate by equal factors. Never less than 16 KiB per second, so that writes make progress.
uint64_t DelayedRate(const StallDecision& decision, uint64_t full_delayed_rate) {
  constexpr double kLowestShare = 1.0 / 16;
  assert(decision.severity >= 0);
  const double share = std::pow(kLowestShare, decision.severity);
  return std::max<uint64_t>(static_cast<uint64_t>(static_cast<double>(full_delayed_rate) * share),
                            16 << 10);
}

}  // namespace ashlar
