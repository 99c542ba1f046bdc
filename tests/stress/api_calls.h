// SPDX-License-Identifier: Apache-2.0
//
// A table of the public calls on an open database, each in a form that any thread may use at any
// time together with any other: a call that switches something off switches it on again, and
// creates only things of its own.
//
// Anchors are keys that are written once: every read of one must find it, whatever happens at the
// same time. Other keys are written and deleted. Each call lists the statuses with which it may
// fail because of others; all other statuses except OK are failures of the test.
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

std::string AnchorKey(int number);  // sorts before all other keys
std::string AnchorValue(int number);
std::string ComingKey(uint64_t number);

struct ApiCaller {
  DB* db = nullptr;
  std::vector<ColumnFamilyHandle*> families;  // two that are never dropped
  std::string beside;                         // path prefix for files that a call creates
  int thread = 0;
  Random64 random{0};
  uint64_t made = 0;  // for names

  ColumnFamilyHandle* AnyFamily() { return families[random.Uniform(families.size())]; }
  std::string AnyKey() { return ComingKey(random.Uniform(kComingKeys)); }
  int AnyAnchor() { return static_cast<int>(random.Uniform(kAnchors)); }
  // A name that no other caller uses.
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

// Options of the database and of its two families. The second has no blob files, so that it can be
// exported.
Options ApiOptions(bool has_blob_files = true);

// Fails the test for a status that is neither OK nor one of these.
void ExpectDone(const Status& status, const char* call,
                std::initializer_list<Status::Code> also = {});
void ExpectAnchor(int number, const Status& status, const Slice& value, const char* call);

}  // namespace ashlar
