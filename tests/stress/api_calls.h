// SPDX-License-Identifier: Apache-2.0
//
// The public calls on an open database as a table, each in a form that any thread may make at any
// time beside any other: what a call switches off it switches on again, what it creates is its own.
//
// Anchors are keys that are written once: every read of one must find it, whatever happens beside.
// Other keys come and go. A call that may be refused because of others says by which statuses; all
// other statuses but OK are failures of the test.
#pragma once

#include <atomic>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "util/random.h"

namespace ashlar {

inline constexpr int kAnchors = 40;
inline constexpr int kComingKeys = 300;

std::string AnchorKey(int number);  // in front of all others
std::string AnchorValue(int number);
std::string ComingKey(uint64_t number);

struct ApiCaller {
  DB* db = nullptr;
  std::vector<ColumnFamilyHandle*> families;  // two that stay
  std::string beside;                         // path for what a call makes
  int thread = 0;
  Random64 random{0};
  uint64_t made = 0;  // for names

  ColumnFamilyHandle* AnyFamily() { return families[random.Uniform(families.size())]; }
  std::string AnyKey() { return ComingKey(random.Uniform(kComingKeys)); }
  int AnyAnchor() { return static_cast<int>(random.Uniform(kAnchors)); }
  // A name that no other caller has.
  std::string NewName(const std::string& kind);
};

struct ApiCall {
  const char* name;
  void (*run)(ApiCaller* caller);
};

std::span<const ApiCall> DataCalls();    // api_data_calls.cc
std::span<const ApiCall> ReadCalls();    // api_read_calls.cc
std::span<const ApiCall> UpkeepCalls();  // api_upkeep_calls.cc
std::span<const ApiCall> FactCalls();    // api_fact_calls.cc
std::vector<ApiCall> AllApiCalls();

// Options of the database and of its two families, of which the second has no blob files: it can be
// exported.
Options ApiOptions(bool has_blob_files = true);

// Fails the test for a status that is neither OK nor one of these.
void ExpectDone(const Status& status, const char* call,
                std::initializer_list<Status::Code> also = {});
void ExpectAnchor(int number, const Status& status, const Slice& value, const char* call);

}  // namespace ashlar
