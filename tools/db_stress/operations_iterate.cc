// SPDX-License-Identifier: Apache-2.0
//
// Iterators over a range, with bounds. An iterator shows the moment at which it was made, so each
// of its rows must lie between the states before and after that, however much later it is read.
#include <algorithm>
#include <memory>
#include <string>

#include "ashlar/iterator.h"
#include "tools/db_stress/worker.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

struct Row {
  uint64_t number = 0;
  std::string value;
};

Row RowAt(const Iterator& it, const char* call) {
  const Result<uint64_t> number = NumberOfKey(it.key());
  Require(number.status(), call);
  return {number.value(), it.value().ToString()};
}

// The rows that the states allow, in order; fails at the first that they do not.
std::vector<Row> Scan(Iterator* it, const KeyId& first, const std::vector<KeyState>& before,
                      const std::vector<KeyState>& after, bool is_forward, const char* call) {
  const size_t count = before.size();
  std::vector<Row> rows;
  is_forward ? it->SeekToFirst() : it->SeekToLast();
  for (size_t i = 0; i < count; i++) {
    const size_t at = is_forward ? i : count - 1 - i;
    const KeyId key{first.family, first.number + at};
    std::optional<std::string_view> value;
    if (it->Valid()) {
      Row row = RowAt(*it, call);
      if (row.number == key.number) {
        rows.push_back(std::move(row));
        value = rows.back().value;
        is_forward ? it->Next() : it->Prev();
      }
    }
    CheckFound(key, before[at], after[at], value, call);
  }
  Require(it->status(), call);
  if (it->Valid()) {
    Fail(StrCat(call, " over keys ", first.number, " to ", first.number + count - 1, " of family ",
                first.family, ": key ", RowAt(*it, call).number, " out of order or range"));
  }
  if (!is_forward) std::reverse(rows.begin(), rows.end());
  return rows;
}

void CheckPosition(const Iterator& it, const std::vector<Row>& rows, size_t at, const char* step) {
  Require(it.status(), step);
  if (at >= rows.size()) {
    if (it.Valid())
      Fail(StrCat(step, " shows key ", RowAt(it, step).number, ", but it is at an end"));
    return;
  }
  if (!it.Valid()) Fail(StrCat(step, " ends, but key ", rows[at].number, " was there"));
  const Row row = RowAt(it, step);
  if (row.number != rows[at].number || row.value != rows[at].value) {
    Fail(StrCat(step, " shows key ", row.number, ", before it was key ", rows[at].number,
                row.number == rows[at].number ? " with another value" : ""));
  }
}

// To and fro over what the scan has shown.
void Wander(Worker* worker, Iterator* it, const KeyId& first, uint64_t count,
            const std::vector<Row>& rows) {
  size_t at = rows.size();  // not positioned
  for (int step = 0; step < 20; step++) {
    const uint64_t drawn = worker->random.Uniform(6);
    const uint64_t target = first.number + worker->random.Uniform(count);
    if (at < rows.size() && drawn < 2) {
      it->Next();
      CheckPosition(*it, rows, ++at, "Next");
    } else if (at < rows.size() && drawn < 4) {
      it->Prev();
      at = at == 0 ? rows.size() : at - 1;
      CheckPosition(*it, rows, at, "Prev");
    } else if (drawn % 2 == 0) {
      it->Seek(KeyText(target));
      for (at = 0; at < rows.size() && rows[at].number < target;) at++;
      CheckPosition(*it, rows, at, "Seek");
    } else {
      it->SeekForPrev(KeyText(target));
      for (at = rows.size(); at > 0 && rows[at - 1].number > target;) at--;
      at = at == 0 ? rows.size() : at - 1;
      CheckPosition(*it, rows, at, "SeekForPrev");
    }
  }
}

}  // namespace

void CheckScan(Iterator* it, const KeyId& first, const std::vector<KeyState>& before,
               const std::vector<KeyState>& after, bool is_forward, const char* call) {
  (void)Scan(it, first, before, after, is_forward, call);
}

void Iterate(Worker* worker) {
  const int number = worker->AnyFamily();
  const uint64_t count = 1 + worker->random.Uniform(100);
  const KeyId first{number, worker->random.Uniform(worker->space().keys - count)};
  const FamilyUse family = worker->db().Use(number);
  const std::string lower = KeyText(first.number), upper = KeyText(first.number + count);
  const Slice lower_bound(lower), upper_bound(upper);
  ReadOptions options;
  options.iterate_lower_bound = &lower_bound;
  options.iterate_upper_bound = &upper_bound;
  // One of them, or keys with other prefixes than the sought one may be left out.
  (worker->random.OneIn(2) ? options.total_order_seek : options.auto_prefix_mode) = true;
  options.pin_data = worker->random.OneIn(4);
  options.readahead_size = worker->random.OneIn(4) ? 16'384 : 0;
  options.async_io = worker->random.OneIn(4);
  options.fill_cache = !worker->random.OneIn(4);
  const std::vector<KeyState> before = worker->LoadRange(first, count);
  const std::unique_ptr<Iterator> it(worker->db()->NewIterator(options, family.get()));
  const std::vector<KeyState> after = worker->LoadRange(first, count);
  const std::vector<Row> rows =
      Scan(it.get(), first, before, after, worker->random.OneIn(2), "a scan");
  Wander(worker, it.get(), first, count, rows);
}

}  // namespace ashlar::stress
