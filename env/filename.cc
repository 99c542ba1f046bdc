// SPDX-License-Identifier: Apache-2.0
//
// Names of database files. The format is described in formats/files.md, section 1.
#include "env/filename.h"

#include <algorithm>
#include <cassert>
#include <string_view>

#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr std::string_view kArchiveDir = "archive";

// Pads the number with zeros to at least six digits, so that names of one kind sort by number.
std::string PadNumber(FileNumber number) {
  std::string digits = StrCat(number);
  if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
  return digits;
}

std::string NumberedName(const std::string& dir, FileNumber number, const char* suffix) {
  return StrCat(dir, "/", PadNumber(number), suffix);
}

// Removes the prefix if the text begins with it.
bool ConsumePrefix(std::string_view* text, std::string_view prefix) {
  assert(text != nullptr);
  if (text->substr(0, prefix.size()) != prefix) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Consumes at least one digit. Fails if the number is too large for a file number.
bool ConsumeNumber(std::string_view* text, uint64_t* number) {
  assert(text != nullptr);
  assert(number != nullptr);
  size_t digits = 0;
  uint64_t value = 0;
  for (; digits < text->size() && (*text)[digits] >= '0' && (*text)[digits] <= '9'; ++digits) {
    const auto digit = static_cast<uint64_t>((*text)[digits] - '0');
    // Checked before the multiplication, which would wrap around.
    if (value > (UINT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  if (digits == 0 || value > kMaxFileNumber.value()) return false;
  text->remove_prefix(digits);
  *number = value;
  return true;
}

// Parses "LOG" and "LOG.old.<micros>", or the same with another prefix in the place of "LOG".
bool ParseInfoLogName(std::string_view rest, std::string_view prefix, uint64_t* number) {
  assert(number != nullptr);
  *number = 0;
  if (!ConsumePrefix(&rest, prefix)) return false;
  if (rest.empty() || rest == ".old") return true;
  return ConsumePrefix(&rest, ".old.") && ConsumeNumber(&rest, number) && rest.empty();
}

// Parses names that begin with a fixed word.
bool ParseWordName(std::string_view name, uint64_t* number, FileType* type) {
  assert(type != nullptr);
  assert(number != nullptr);
  *number = 0;
  if (name == "CURRENT") {
    *type = kCurrentFile;
  } else if (name == "LOCK") {
    *type = kDBLockFile;
  } else if (name == "IDENTITY") {
    *type = kIdentityFile;
  } else if (ConsumePrefix(&name, "MANIFEST-")) {
    *type = kDescriptorFile;
    return ConsumeNumber(&name, number) && name.empty();
  } else if (ConsumePrefix(&name, "METADB-")) {
    *type = kMetaDatabase;
    return ConsumeNumber(&name, number) && name.empty();
  } else if (ConsumePrefix(&name, "OPTIONS-")) {
    if (!ConsumeNumber(&name, number)) return false;
    // The file is written under a temporary name first, which a crash may leave.
    *type = name.empty() ? kOptionsFile : kTempFile;
    return name.empty() || name == ".dbtmp";
  } else if (ConsumePrefix(&name, "COMPACTION_PROGRESS-")) {
    if (!ConsumeNumber(&name, number)) return false;
    *type = name.empty() ? kCompactionProgressFile : kTempFile;
    return name.empty() || name == ".dbtmp";
  } else {
    return false;
  }
  return true;
}

// Parses "<number>.<suffix>".
bool ParseNumberedName(std::string_view name, uint64_t* number, FileType* type) {
  assert(number != nullptr && type != nullptr);
  if (!ConsumeNumber(&name, number)) return false;
  if (name == ".log") {
    *type = kWalFile;
  } else if (name == ".sst" || name == ".ldb") {
    *type = kTableFile;
  } else if (name == ".blob") {
    *type = kBlobFile;
  } else if (name == ".dbtmp") {
    *type = kTempFile;
  } else {
    return false;
  }
  return true;
}

// Names that this process does not know are left alone by everything that deletes files. Therefore
// the forms are matched exactly.
bool ParseName(const std::string& name, uint64_t* number, FileType* type, bool* is_archived) {
  assert(number != nullptr && type != nullptr);
  std::string_view rest = name;
  const bool in_archive = ConsumePrefix(&rest, "archive/");
  if (is_archived != nullptr) *is_archived = in_archive;
  if (ParseInfoLogName(rest, "LOG", number)) {
    *type = kInfoLogFile;
    return !in_archive;
  }
  // Only logs are archived, so nothing else in that directory is ours.
  if (ParseNumberedName(rest, number, type)) return !in_archive || *type == kWalFile;
  return !in_archive && ParseWordName(rest, number, type);
}

}  // namespace

std::string LogFileName(const std::string& dir, FileNumber number) {
  return NumberedName(dir, number, ".log");
}
std::string ArchivalDirectory(const std::string& dir) { return StrCat(dir, "/", kArchiveDir); }
std::string ArchivedLogFileName(const std::string& dir, FileNumber number) {
  return LogFileName(ArchivalDirectory(dir), number);
}
std::string TableFileName(const std::string& dir, FileNumber number) {
  return NumberedName(dir, number, ".sst");
}
std::string BlobFileName(const std::string& dir, FileNumber number) {
  return NumberedName(dir, number, ".blob");
}
std::string DescriptorFileName(const std::string& dir, FileNumber number) {
  return StrCat(dir, "/MANIFEST-", PadNumber(number));
}
std::string CurrentFileName(const std::string& dir) { return dir + "/CURRENT"; }
std::string LockFileName(const std::string& dir) { return dir + "/LOCK"; }
std::string IdentityFileName(const std::string& dir) { return dir + "/IDENTITY"; }
std::string OptionsFileName(const std::string& dir, FileNumber number) {
  return StrCat(dir, "/OPTIONS-", PadNumber(number));
}
std::string TempOptionsFileName(const std::string& dir, FileNumber number) {
  return OptionsFileName(dir, number) + ".dbtmp";
}
std::string TempFileName(const std::string& dir, FileNumber number) {
  return NumberedName(dir, number, ".dbtmp");
}

std::string InfoLogPrefix(const std::string& log_dir, const std::string& absolute_db_path) {
  // In the directory of the database the name is always the same; elsewhere the path must be part
  // of it.
  if (log_dir.empty()) return "LOG";
  std::string flat = absolute_db_path;
  // Other characters become '_', so that the path is one file name.
  if (!flat.empty() && flat.front() == '/') flat.erase(0, 1);
  std::replace_if(
      flat.begin(), flat.end(),
      [](unsigned char c) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
        return !is_plain;
      },
      '_');
  assert(flat.find('/') == std::string::npos);
  return flat + "_LOG";
}

std::string InfoLogFileName(const std::string& db_path, const std::string& log_dir,
                            const std::string& absolute_db_path) {
  if (log_dir.empty()) return db_path + "/LOG";
  return StrCat(log_dir, "/", InfoLogPrefix(log_dir, absolute_db_path));
}

std::string OldInfoLogFileName(const std::string& info_log_name, uint64_t micros) {
  return StrCat(info_log_name, ".old.", micros);
}

bool ParseFileName(const std::string& name, FileNumber* number, FileType* type, bool* is_archived) {
  assert(number != nullptr);
  uint64_t value = 0;
  assert(type != nullptr);
  const bool is_ours = ParseName(name, &value, type, is_archived);
  *number = FileNumber{value};
  return is_ours;
}

bool ParseFileName(const std::string& name, uint64_t* number, const Slice& info_log_prefix,
                   FileType* type) {
  const std::string_view prefix(info_log_prefix.data(), info_log_prefix.size());
  if (!prefix.empty() && ParseInfoLogName(name, prefix, number)) {
    *type = kInfoLogFile;
    return true;
  }
  return ParseName(name, number, type, nullptr);
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string BaseNameOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// Such a name is "000012.sst.trash" or, with a number that tells it from an earlier one,
// "000012.sst.3.trash". What stands before the second dot must be the name of a table, a blob file
// or a log.
bool IsTrashFileName(const std::string& name) {
  // ParseFileName() sees the name up to the second dot, so a number between the dots does not
  // matter.
  FileNumber number;
  FileType type;
  return name.ends_with(".trash") &&
         ParseFileName(name.substr(0, name.find('.', name.find('.') + 1)), &number, &type) &&
         (type == kTableFile || type == kBlobFile || type == kWalFile);
}

}  // namespace ashlar
