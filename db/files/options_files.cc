// SPDX-License-Identifier: Apache-2.0
//
// The text is made and written without the mutex. Two concurrent writers write two files, and the
// file with the greater number has the newer options.
#include "db/files/options_files.h"

#include <cassert>

#include "db/files/obsolete_files.h"
#include "db/options/options_file.h"
#include "env/file_util.h"
#include "env/filename.h"

namespace ashlar {

Status WriteOptionsFile(DbCore* core) {
  assert(core != nullptr);
  OptionsFileContents contents;
  FileNumber temp_number = 0, number = 0;
  {
    MutexLock lock(&core->mutex);
    contents.db_options = *core->options;
    for (ColumnFamilyData* family : core->families.All()) {
      contents.families.push_back({family->name(), family->options()});
    }
    // Both numbers are taken under the mutex, so that the order of numbers is that of the options.
    temp_number = core->versions->NewFileNumber();
    number = core->versions->NewFileNumber();
  }
  const std::string text = WriteOptionsText(contents);
  // The text is written to a temporary file, which then is renamed. So a crash leaves either only
  // the older OPTIONS files or also the new one, complete.
  RETURN_IF_ERROR(WriteFileAtomically(core->environment.fs.get(), core->paths.dir,
                                      BaseNameOf(TempOptionsFileName(core->paths.dir, temp_number)),
                                      BaseNameOf(OptionsFileName(core->paths.dir, number)), text,
                                      contents.db_options.metadata_write_temperature));
  {
    MutexLock lock(&core->mutex);
    core->kept_files.options_files[number] = text.size();
  }
  DeleteKnownObsolete(core);
  return Status::OK();
}

std::vector<FileNumber> TakeOldOptionsFiles(DbCore* core) {
  assert(core != nullptr);
  constexpr size_t kKept = 2;
  assert(!core->mode.is_read_only);
  std::vector<FileNumber> old;
  // The map is ordered by number: the first is the oldest.
  while (core->kept_files.options_files.size() > kKept) {
    old.push_back(core->kept_files.options_files.begin()->first);
    core->kept_files.options_files.erase(core->kept_files.options_files.begin());
  }
  return old;
}

}  // namespace ashlar
