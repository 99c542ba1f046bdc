// SPDX-License-Identifier: Apache-2.0
//
// RocksDB's text counts groups of commits. Here each commit is a group of its own, because each
// writer writes its own batch.
#include "db/report/write_report.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>

#include "ashlar/db.h"
#include "db/report/human_text.h"

namespace ashlar {
namespace {

// The gains between two moments.
WriteTotals Between(const WriteTotals& before, const WriteTotals& now) {
  assert(before.micros <= now.micros);
  assert(before.commits.commits <= now.commits.commits);
  WriteTotals result;
  result.micros = now.micros - before.micros;
  result.commits.commits = now.commits.commits - before.commits.commits;
  result.commits.updates = now.commits.updates - before.commits.updates;
  result.commits.bytes = now.commits.bytes - before.commits.bytes;
  result.commits.logged_commits = now.commits.logged_commits - before.commits.logged_commits;
  result.commits.logged_bytes = now.commits.logged_bytes - before.commits.logged_bytes;
  result.log_syncs = now.log_syncs - before.log_syncs;
  result.stall_micros = now.stall_micros - before.stall_micros;
  return result;
}

double MebibytesPerSecond(uint64_t bytes, uint64_t micros) {
  return PerSecond(static_cast<double>(bytes) / kMebibyte, micros);
}

// The units of written bytes: gibibytes in totals, mebibytes in intervals.
// One of the two blocks of the text.
struct Span {
  const char* name;
  const char* unit;
  double unit_bytes;
};

void AppendSpan(const Span& span, const WriteTotals& writes, std::string* text) {
  assert(text != nullptr);
  const CommitTotals& commits = writes.commits;
  const std::string count = HumanCount(commits.commits);
  *text += Format(
      "%s writes: %s writes, %s keys, %s commit groups, %.1f writes per commit group, "
      "ingest: %.2f %s, %.2f MB/s\n",
      span.name, count.c_str(), HumanCount(commits.updates).c_str(), count.c_str(),
      commits.commits > 0 ? 1.0 : 0.0, static_cast<double>(commits.bytes) / span.unit_bytes,
      span.unit, MebibytesPerSecond(commits.bytes, writes.micros));
  const uint64_t syncs = std::max<uint64_t>(writes.log_syncs, 1);
  *text += Format(
      "%s WAL: %s writes, %s syncs, %.2f writes per sync, written: %.2f GB, %.2f MB/s\n", span.name,
      HumanCount(commits.logged_commits).c_str(), HumanCount(writes.log_syncs).c_str(),
      static_cast<double>(commits.logged_commits) / static_cast<double>(syncs),
      static_cast<double>(commits.logged_bytes) / kGibibyte,
      MebibytesPerSecond(commits.logged_bytes, writes.micros));
  *text += Format("%s stall: %s H:M:S, %.1f percent\n", span.name,
                  HumanMicros(writes.stall_micros).c_str(),
                  PerSecond(static_cast<double>(writes.stall_micros) / 1e6, writes.micros) * 100);
}

// The totals since the database was opened, without the time.
WriteTotals AllWrites(const DbCore& core, const WriteControl& writes) REQUIRES(db_mutex) {
  core.mutex.AssertHeld();
  WriteTotals all;
  all.commits = core.pipeline->totals();
  all.log_syncs = core.wals->sync_count();
  all.stall_micros = writes.stall_micros();
  return all;
}

}  // namespace

WriteTotals TotalsOfWrites(const DbCore& core, const WriteControl& writes,
                           const ReportBaselines& baselines) {
  WriteTotals now = Between(baselines.writes_before, AllWrites(core, writes));
  now.micros = core.environment.NowMicros() - baselines.since_micros;
  return now;
}

void ResetWriteTotals(const DbCore& core, const WriteControl& writes, ReportBaselines* baselines) {
  assert(baselines != nullptr);
  baselines->since_micros = core.environment.NowMicros();
  baselines->writes_before = AllWrites(core, writes);
  baselines->reported_writes = WriteTotals();
}

std::string WriteStatsText(const WriteTotals& now, const WriteTotals& reported) {
  const WriteTotals interval = Between(reported, now);
  std::string text =
      Format("\n** DB Stats **\nUptime(secs): %.1f total, %.1f interval\n",
             static_cast<double>(now.micros) / 1e6, static_cast<double>(interval.micros) / 1e6);
  AppendSpan({"Cumulative", "GB", kGibibyte}, now, &text);
  AppendSpan({"Interval", "MB", kMebibyte}, interval, &text);
  return text;
}

PropertyMap WriteStatsMap(const WriteTotals& now) {
  return {
      {"db.uptime", std::to_string(static_cast<double>(now.micros) / 1e6)},
      {"db.user_bytes_written", std::to_string(now.commits.bytes)},
      {"db.user_keys_written", std::to_string(now.commits.updates)},
      {"db.user_write_stall_micros", std::to_string(now.stall_micros)},
      {"db.user_writes_by_other", "0"},
      {"db.user_writes_by_self", std::to_string(now.commits.commits)},
      {"db.user_writes_with_wal", std::to_string(now.commits.logged_commits)},
      {"db.wal_bytes_written", std::to_string(now.commits.logged_bytes)},
      {"db.wal_syncs", std::to_string(now.log_syncs)},
  };
}

PropertyMap DatabaseStallsMap(uint64_t memory_stops) {
  return {{WriteStallStatsMapKeys::CauseConditionCount(WriteStallCause::kWriteBufferManagerLimit,
                                                       WriteStallCondition::kStopped),
           std::to_string(memory_stops)}};
}

const std::string& WriteStallStatsMapKeys::TotalStops() {
  static const auto* key = new std::string("total-stops");
  return *key;
}
const std::string& WriteStallStatsMapKeys::TotalDelays() {
  static const auto* key = new std::string("total-delays");
  return *key;
}
const std::string& WriteStallStatsMapKeys::CFL0FileCountLimitDelaysWithOngoingCompaction() {
  static const auto* key = new std::string("cf-l0-file-count-limit-delays-with-ongoing-compaction");
  return *key;
}
const std::string& WriteStallStatsMapKeys::CFL0FileCountLimitStopsWithOngoingCompaction() {
  static const auto* key = new std::string("cf-l0-file-count-limit-stops-with-ongoing-compaction");
  return *key;
}

std::string WriteStallStatsMapKeys::CauseConditionCount(WriteStallCause cause,
                                                        WriteStallCondition condition) {
  const char* cause_name =
      cause == WriteStallCause::kMemtableLimit             ? "memtable-limit"
      : cause == WriteStallCause::kL0FileCountLimit        ? "l0-file-count-limit"
      : cause == WriteStallCause::kPendingCompactionBytes  ? "pending-compaction-bytes"
      : cause == WriteStallCause::kWriteBufferManagerLimit ? "write-buffer-manager-limit"
                                                           : nullptr;
  const char* condition_name = condition == WriteStallCondition::kDelayed   ? "delays"
                               : condition == WriteStallCondition::kStopped ? "stops"
                                                                            : nullptr;
  if (cause_name == nullptr || condition_name == nullptr) return "";
  return std::string(cause_name) + "-" + condition_name;
}

}  // namespace ashlar
