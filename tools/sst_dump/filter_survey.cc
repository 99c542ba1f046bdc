// SPDX-License-Identifier: Apache-2.0
//
// What a filter is, its last five bytes say: docs/formats/filters.md. One that is not known is
// asked like the others, and says yes to everything.
#include "tools/sst_dump/filter_survey.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "table/filter/bloom.h"
#include "table/filter/filter_view.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Enough that a rate of 0.1 % is right to a tenth of itself.
constexpr uint64_t kQuestions = 200'000;
constexpr uint64_t kSeed = 20;

uint64_t CountSetBits(const Slice& bits) {
  uint64_t count = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    count += static_cast<uint64_t>(std::popcount(static_cast<unsigned char>(bits[i])));
  }
  return count;
}

// The kind, from the bytes behind the bits.
std::string DescribeKind(const Slice& metadata, bool* is_of_lines) {
  const int marker = static_cast<signed char>(metadata[0]);
  *is_of_lines = marker == -1 && metadata[1] == 0;
  if (*is_of_lines) return StrCat("Bloom, ", metadata[2] & 31, " probes");
  if (marker == -2) return "Ribbon";
  if (marker > 0) return StrCat("Bloom of before format version 5, ", marker, " probes");
  return "of an unknown kind";
}

void AddLines(const Slice& bits, FilterSurvey* survey) {
  for (size_t at = 0; at + kBloomLineBytes <= bits.size(); at += kBloomLineBytes) {
    const uint64_t set = CountSetBits(Slice(bits.data() + at, kBloomLineBytes));
    const size_t step = set * FilterSurvey::kSteps / (kBloomLineBytes * 8);
    ++survey->lines[std::min(step, FilterSurvey::kSteps - 1)];
  }
}

void AddBlock(const Slice& contents, uint64_t questions, Random64* random, FilterSurvey* survey) {
  const FilterView view(contents);
  for (uint64_t i = 0; i < questions; ++i) {
    survey->answered_yes += view.MayContainHash(random->Next());
  }
  survey->asked += questions;
  if (contents.size() <= kBloomMetadataBytes) return;  // of no keys
  const Slice bits(contents.data(), contents.size() - kBloomMetadataBytes);
  survey->kind =
      DescribeKind(Slice(bits.data() + bits.size(), kBloomMetadataBytes), &survey->is_of_lines);
  survey->set_bits += CountSetBits(bits);
  if (survey->is_of_lines) AddLines(bits, survey);
}

}  // namespace

Result<FilterSurvey> SurveyFilter(TableInspector* table) {
  ASSIGN_OR_RETURN(const std::vector<BlockHandle> blocks, table->FilterBlocks());
  FilterSurvey survey;
  survey.block_count = blocks.size();
  for (const BlockHandle& handle : blocks) survey.bytes += handle.size;
  Random64 random(kSeed);
  for (const BlockHandle& handle : blocks) {
    ASSIGN_OR_RETURN(const LooseBlock block, table->ReadBlock(handle, "filter"));
    // As often as keys would come here.
    const double share = static_cast<double>(handle.size) / static_cast<double>(survey.bytes);
    const auto questions = static_cast<uint64_t>(share * static_cast<double>(kQuestions));
    AddBlock(block.contents, std::max<uint64_t>(1, questions), &random, &survey);
  }
  return survey;
}

}  // namespace ashlar
