// SPDX-License-Identifier: Apache-2.0
//
// Runs the C programs of this folder: a test for each subject.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/paths.h"

extern "C" {
extern int capi_failures;
void capi_test_batches(const char* directory);
void capi_test_indexed_batches(const char* directory);
void capi_test_callbacks(const char* directory);
void capi_test_maintenance(const char* directory);
void capi_test_metadata(const char* directory);
void capi_test_checkpoints(const char* directory);
void capi_test_external_tables(const char* directory);
void capi_test_logs(const char* directory);
void capi_test_backups(const char* directory);
void capi_test_transaction_databases(const char* directory);
void capi_test_transactions(const char* directory);
void capi_test_optimistic_transactions(const char* directory);
void capi_test_listeners(const char* directory);
void capi_test_compacted_files(const char* directory);
void capi_test_loggers(const char* directory);
void capi_test_compaction_service(const char* directory);
void capi_test_traces(const char* directory);
void capi_test_column_families(const char* directory);
void capi_test_db(const char* directory);
void capi_test_objects(const char* directory);
void capi_test_option_members(const char* directory);
void capi_test_option_values(const char* directory);
void capi_test_options(const char* directory);
void capi_test_reads(const char* directory);
}

namespace ashlar {
namespace {

void RunProgram(void (*program)(const char*)) {
  capi_failures = 0;
  const std::string directory = FreshTempDir("capi") + "/db";
  program(directory.c_str());
  EXPECT_EQ(capi_failures, 0) << "the lines above name them";
}

TEST(CApi, OpensReadsAndWrites) { RunProgram(capi_test_db); }
TEST(CApi, OpensColumnFamilies) { RunProgram(capi_test_column_families); }
TEST(CApi, ReadsInAllForms) { RunProgram(capi_test_reads); }
TEST(CApi, MakesObjects) { RunProgram(capi_test_objects); }
TEST(CApi, SetsAndGetsMembersOfOptions) { RunProgram(capi_test_option_members); }
TEST(CApi, SetsKeysAndCallbacks) { RunProgram(capi_test_option_values); }
TEST(CApi, SetsOptions) { RunProgram(capi_test_options); }
TEST(CApi, WritesBatches) { RunProgram(capi_test_batches); }
TEST(CApi, ReadsIndexedBatches) { RunProgram(capi_test_indexed_batches); }
TEST(CApi, CallsFunctionsOfPrograms) { RunProgram(capi_test_callbacks); }
TEST(CApi, MaintainsDatabases) { RunProgram(capi_test_maintenance); }
TEST(CApi, TellsFactsAboutFiles) { RunProgram(capi_test_metadata); }
TEST(CApi, MakesCheckpoints) { RunProgram(capi_test_checkpoints); }
TEST(CApi, WritesAndIngestsTables) { RunProgram(capi_test_external_tables); }
TEST(CApi, ReadsLogs) { RunProgram(capi_test_logs); }
TEST(CApi, MakesBackups) { RunProgram(capi_test_backups); }
TEST(CApi, OpensTransactionDatabases) { RunProgram(capi_test_transaction_databases); }
TEST(CApi, RunsTransactions) { RunProgram(capi_test_transactions); }
TEST(CApi, RunsOptimisticTransactions) { RunProgram(capi_test_optimistic_transactions); }
TEST(CApi, TellsListeners) { RunProgram(capi_test_listeners); }
TEST(CApi, CompactsNamedFiles) { RunProgram(capi_test_compacted_files); }
TEST(CApi, WritesInfoLogs) { RunProgram(capi_test_loggers); }
TEST(CApi, CompactsElsewhere) { RunProgram(capi_test_compaction_service); }
TEST(CApi, TracesAndReplays) { RunProgram(capi_test_traces); }

}  // namespace
}  // namespace ashlar
