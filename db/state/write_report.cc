// SPDX-License-Identifier: Apache-2.0
//
// A commit is a group of its own: nobody writes for others.
#include "db/state/write_report.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>

#include "ashlar/db.h"
#include "db/state/human_text.h"

namespace ashlar {
namespace {

// What lies between two pictures.
WritePicture Between(const WritePicture& told, const WritePicture& now) {
  assert(told.micros <= now.micros && told.commits.commits <= now.commits.commits);
  WritePicture result;
  result.micros = now.micros - told.micros;
  result.commits.commits = now.commits.commits - told.commits.commits;
  result.commits.updates = now.commits.updates - told.commits.updates;
  result.commits.bytes = now.commits.bytes - told.commits.bytes;
  result.commits.logged_commits = now.commits.logged_commits - told.commits.logged_commits;
  result.commits.logged_bytes = now.commits.logged_bytes - told.commits.logged_bytes;
  result.log_syncs = now.log_syncs - told.log_syncs;
  result.stall_micros = now.stall_micros - told.stall_micros;
  return result;
}

double MebibytesPerSecond(uint64_t bytes, uint64_t micros) {
  return PerSecond(static_cast<double>(bytes) / kMebibyte, micros);
}

// The unit of what came in: gibibytes of all, mebibytes of an interval.
struct Span {
  const char* name;
  const char* unit;
  double unit_bytes;
};

void AppendSpan(const Span& span, const WritePicture& writes, std::string* text) {
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

}  // namespace

namespace {

// Since the database was opened, but for the time.
WritePicture AllWrites(const DbCore& core) REQUIRES(db_mutex) {
  core.mutex.AssertHeld();
  WritePicture all;
  all.commits = core.pipeline->totals();
  all.log_syncs = core.wals->sync_count();
  all.stall_micros = core.stall_micros;
  return all;
}

}  // namespace

WritePicture PictureOfWrites(const DbCore& core) {
  WritePicture now = Between(core.uncounted_writes, AllWrites(core));
  now.micros = core.NowMicros() - core.counted_since_micros;
  return now;
}

void ResetWritePicture(DbCore* core) {
  core->counted_since_micros = core->NowMicros();
  core->uncounted_writes = AllWrites(*core);
  core->told_writes = WritePicture();
}

std::string WriteStatsText(const WritePicture& now, const WritePicture& told) {
  const WritePicture interval = Between(told, now);
  std::string text =
      Format("\n** DB Stats **\nUptime(secs): %.1f total, %.1f interval\n",
             static_cast<double>(now.micros) / 1e6, static_cast<double>(interval.micros) / 1e6);
  AppendSpan({"Cumulative", "GB", kGibibyte}, now, &text);
  AppendSpan({"Interval", "MB", kMebibyte}, interval, &text);
  return text;
}

PropertyMap WriteStatsMap(const WritePicture& now) {
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

}  // namespace ashlar
