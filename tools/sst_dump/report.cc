// SPDX-License-Identifier: Apache-2.0
//
// --command=report: two surveys, one page, one file. The page is written when all of the table has
// been read, so damage leaves no half of a page.
#include <memory>
#include <string>

#include "env/file_writer.h"
#include "tools/lib/output.h"
#include "tools/sst_dump/commands.h"
#include "tools/sst_dump/filter_survey.h"
#include "tools/sst_dump/report_page.h"
#include "tools/sst_dump/table_survey.h"
#include "util/text/str_cat.h"

namespace ashlar {

Status WriteReport(TableInspector* table, SstDumpRequest* request) {
  ASSIGN_OR_RETURN(const TableSurvey survey, SurveyTable(table));
  ASSIGN_OR_RETURN(const FilterSurvey filter, SurveyFilter(table));
  const std::string path =
      request->output.empty() ? PathBeside(*table, "_report.html") : request->output;
  ASSIGN_OR_RETURN(const std::unique_ptr<FileWriter> out,
                   FileWriter::Create(FileSystem::Default().get(), path, FileOptions()));
  RETURN_IF_ERROR(out->Append(ReportPage(*table, survey, filter)));
  RETURN_IF_ERROR(out->Close());
  PrintLine(StrCat("report written to file ", path));
  return Status::OK();
}

}  // namespace ashlar
