// SPDX-License-Identifier: Apache-2.0
//
// Events are lines of JSON in the info log, behind "EVENT_LOG_v1". Of a line only a few members of
// its outermost object are wanted, all of them numbers or strings without escapes, so they are
// searched for. How large the table of a flush is says the line about the table, by the number of
// the job, which counts anew in each info log; in older logs of ours, the one about its end.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "tools/ldb/tree_survey.h"

namespace ashlar {
namespace {

// What stands behind "name": , up to the comma or bracket.
std::optional<std::string_view> Member(std::string_view line, std::string_view name,
                                       size_t from = 0) {
  for (size_t at = line.find(name, from); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (at == 0 || line[at - 1] != '"' || line.substr(end, 2) != "\":") continue;
    size_t begin = end + 2;
    while (begin < line.size() && line[begin] == ' ') begin++;
    if (begin < line.size() && line[begin] == '"') {
      const size_t close = line.find('"', begin + 1);
      return line.substr(begin + 1, close == std::string_view::npos ? 0 : close - begin - 1);
    }
    return line.substr(begin, line.find_first_of(",}", begin) - begin);
  }
  return std::nullopt;
}

uint64_t Number(std::string_view line, std::string_view name) {
  uint64_t number = 0;
  const std::optional<std::string_view> text = Member(line, name);
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

class EventReader {
 public:
  explicit EventReader(TreeSurvey* survey) : survey_(survey) {}

  void Read(std::string_view line) {
    const size_t mark = line.find("EVENT_LOG_v1");
    if (mark == std::string_view::npos) return;
    line.remove_prefix(mark);
    const std::string_view event = Member(line, "event").value_or("");
    if (event == "flush_started") {
      flushes_.insert(Number(line, "job"));
    } else if (event == "table_file_creation" && flushes_.count(Number(line, "job")) != 0) {
      Flushed(line, Number(line, "file_size"));
    } else if (event == "flush_finished") {
      if (flushes_.count(Number(line, "job")) == 0) Flushed(line, SumOfSizes(line));
    } else if (event == "compaction_finished") {
      Compacted(line);
    } else {
      return;
    }
    Note(Number(line, "time_micros"));
  }

 private:
  void Note(uint64_t micros) {
    if (micros == 0) return;
    if (survey_->first_event_micros == 0 || micros < survey_->first_event_micros) {
      survey_->first_event_micros = micros;
    }
    survey_->last_event_micros = std::max(survey_->last_event_micros, micros);
  }
  // RocksDB's compactions do not name their family where they end: then it is the only one, or left
  // out.
  WrittenBytes* FamilyOf(std::string_view line) {
    const std::optional<std::string_view> name = Member(line, "cf_name");
    if (!name && survey_->families.size() == 1) return &survey_->families[0].written;
    for (SurveyedFamily& family : survey_->families) {
      if (name && *name == family.name) return &family.written;
    }
    return nullptr;
  }
  void Flushed(std::string_view line, uint64_t bytes) {
    WrittenBytes* const written = FamilyOf(line);
    if (written == nullptr || bytes == 0) return;
    written->flushed += bytes;
    written->flushes++;
  }
  void Compacted(std::string_view line) {
    WrittenBytes* const written = FamilyOf(line);
    const std::optional<std::string_view> moved = Member(line, "is_trivial_move");
    if (written == nullptr || (moved && *moved == "true")) return;
    written->compacted[static_cast<int>(Number(line, "output_level"))] +=
        Number(line, "total_output_size");
    written->compactions++;
  }
  // One for each table of the flush.
  static uint64_t SumOfSizes(std::string_view line) {
    constexpr std::string_view kName = "file_size";
    uint64_t sum = 0;
    for (size_t at = line.find(kName); at != std::string_view::npos;
         at = line.find(kName, at + 1)) {
      sum += Number(line.substr(at - 1), kName);
    }
    return sum;
  }

  TreeSurvey* const survey_;
  std::set<uint64_t> flushes_;  // jobs that are
};

}  // namespace

void AddEvents(const std::string& text, TreeSurvey* survey) {
  EventReader reader(survey);
  const std::string_view all = text;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    reader.Read(all.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace ashlar
