// SPDX-License-Identifier: Apache-2.0
//
// docs/options.md says what the option tables say. With ASHLAR_REWRITE=1 the test writes the page.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "ashlar/table.h"
#include "db/options/option_table.h"
#include "tests/support/paths.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

const char* StateOf(const OptionInfo& facts) {
  switch (facts.support) {
    case Support::kHonoured:
      return facts.takes_effect == TakesEffect::kDynamic ? "yes, dynamic" : "yes";
    case Support::kHint: return "hint without effect";
    case Support::kDefaultOnly: return "not built: must be the default";
    case Support::kSomeValues: return "some values, see the header";
  }
  return "";
}

bool IsDecidedByBuild(std::string_view option) {
  return option == "info_log_level" || option == "compression";
}

void AppendTable(const char* title, OptionTable table, const void* defaults, std::string* page) {
  StrAppend(page, "\n## ", title,
            "\n\n| option | default | honoured | meaning |\n|---|---|---|---|\n");
  const PrintContext context;
  for (const OptionRow& row : table) {
    std::string value = "(set in code)";
    if (row.print != nullptr) {
      value.clear();
      row.Print(context, defaults, &value);
    }
    if (value.size() > 60) value = "{...}";
    if (IsDecidedByBuild(row.name())) value = "(by build)";
    StrAppend(page, "| `", row.name(), "` | ", value.empty() ? "(empty)" : value, " | ",
              StateOf(row.facts), " | ", row.facts.help, " |\n");
  }
}

std::string ReferencePage() {
  std::string page =
      "# Options\n\n"
      "This page is generated from the option tables in `db/options/` by the test "
      "`OptionsReference`.\n"
      "A value that is not built yet is refused with `NotSupported` when the database is opened; "
      "the\n"
      "message names the option. Options that only a program can set and that always work "
      "(loggers, rate\n"
      "limiter, write buffer manager) are described in `include/ashlar/options.h` only.\n";
  const DBOptions db;
  const ColumnFamilyOptions family;
  const BlockBasedTableOptions table;
  AppendTable("Database", DbOptionTable(), &db, &page);
  AppendTable("Column family", ColumnFamilyOptionTable(), &family, &page);
  AppendTable("Block-based table", BlockBasedOptionTable(), &table, &page);
  return page;
}

TEST(OptionsReference, PageIsWhatTheTablesSay) {
  const std::string path = SourcePath("docs/options.md");
  const std::string expected = ReferencePage();
  if (std::getenv("ASHLAR_REWRITE") != nullptr) std::ofstream(path) << expected;
  std::ifstream in(path);
  const std::string found((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(found == expected) << path << ": run this test with ASHLAR_REWRITE=1";
}

}  // namespace
}  // namespace ashlar
