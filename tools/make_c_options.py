#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Writes the part of the C API that follows from the option structs of the public C++ headers.
# For each struct that FILES lists:
#
#   ashlar_<handle>_t* ashlar_<prefix>_create(void);
#   void ashlar_<prefix>_destroy(ashlar_<handle>_t* opt);
#
# and for each of its members that is a number, a flag, an enumeration, a time or a text:
#
#   void ashlar_<prefix>_set_<member>(ashlar_<handle>_t* opt, <C type> v);
#   <C type> ashlar_<prefix>_get_<member>(ashlar_<handle>_t* opt);
#
# A create function, setter or getter that another header in include/ashlar/c/ declares is not made here. A member of any other type needs a
# setter by hand or an entry in `without`; if it has neither, the script fails, so that no new option is forgotten.
#
#   tools/make_c_options.py           write the files
#   tools/make_c_options.py --check   only compare, ignoring the layout; exit code 1 if a file is outdated
import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLIC = ROOT / "include/ashlar"

FLAG, INT, TEXT = "unsigned char", "int", "text"
C_TYPES = {  # C++ type of a member: its type in C. Enumerations are INT.
    "bool": FLAG, "int": INT, "unsigned int": "unsigned int", "int32_t": "int32_t", "uint8_t": "uint8_t",
    "uint32_t": "uint32_t", "int64_t": "int64_t", "uint64_t": "uint64_t", "size_t": "size_t",
    "double": "double", "std::chrono::microseconds": "uint64_t", "std::string": TEXT,
}


@dataclass
class Nested:
    """A member of a struct inside the struct."""
    name: str     # in C
    path: str     # in C++
    cpp_type: str


@dataclass
class Struct:
    """A C++ struct and the C functions for its members."""
    name: str
    header: str             # in include/ashlar/
    prefix: str
    handle: str = ""        # default: like the prefix
    is_part: bool = False   # of a handle whose create function belongs to another struct
    types: dict = field(default_factory=dict)    # where RocksDB chose another C type, or (for setter, for getter)
    names: dict = field(default_factory=dict)    # members whose name in C differs
    setters: dict = field(default_factory=dict)  # setters with an irregular name: {name in C: name after the prefix}
    nested: tuple = ()
    without: tuple = ()     # members that C programs cannot set
    only_set: bool = False  # no getters
    create_args: str = ""   # what the test passes to the create function, if that is by hand

    def __post_init__(self):
        self.handle = self.handle or self.prefix


@dataclass
class File:
    """include/ashlar/c/<name>.h and capi/<name>.cc."""
    title: str
    structs: list


# Options of older releases that have no functions in RocksDB 11.9, nor in older releases that bindings use.
RETIRED = ("random_access_max_buffer_size", "fail_if_options_file_error", "snap_refresh_nanos",
           "level_compaction_dynamic_file_size", "ignore_max_compaction_bytes_for_input",
           "check_flush_compaction_key_order", "bottommost_temperature")

TRANSACTION_DB, OPTIMISTIC = "utilities/transaction_db.h", "utilities/optimistic_transaction_db.h"
BACKUP, CHECKPOINT, TRACE = "utilities/backup_engine.h", "utilities/checkpoint.h", "block_cache_trace_writer.h"

FILES = {
    "db_options": File("options of a database", [
        Struct("DBOptions", "options.h", "options", is_part=True,
               types={"use_fsync": INT, "max_manifest_file_size": "size_t", "writable_file_max_buffer_size": "uint64_t"},
               setters={"compaction_readahead_size": "compaction_readahead_size"},
               names={"rate_limiter": "ratelimiter"},
               without=RETIRED + ("compaction_service", "statistics", "listeners", "checksum_handoff_file_types",
                                  "calculate_sst_write_lifetime_hint_set")),
    ]),
    "family_options": File("options of a column family", [
        Struct("ColumnFamilyOptions", "options.h", "options", is_part=True,
               types={"disable_auto_compactions": (INT, FLAG)},
               nested=(Nested("compression_options_zstd_max_train_bytes", "compression_opts.zstd_max_train_bytes", "int"),
                       Nested("compression_options_use_zstd_dict_trainer", "compression_opts.use_zstd_dict_trainer",
                              "bool"),
                       Nested("compression_options_parallel_threads", "compression_opts.parallel_threads", "int"),
                       Nested("compression_options_max_dict_buffer_bytes", "compression_opts.max_dict_buffer_bytes",
                              "uint64_t")),
               without=RETIRED + ("compression_opts", "bottommost_compression_opts", "compression_manager",
                                  "table_factory", "compaction_thread_limiter")),
        Struct("AdvancedColumnFamilyOptions", "advanced_options.h", "options", is_part=True,
               types={"optimize_filters_for_hits": (INT, FLAG), "report_bg_io_stats": (INT, FLAG),
                      "soft_pending_compaction_bytes_limit": "size_t",
                      "hard_pending_compaction_bytes_limit": "size_t"},
               names={"enable_blob_garbage_collection": "enable_blob_gc",
                      "blob_garbage_collection_age_cutoff": "blob_gc_age_cutoff",
                      "blob_garbage_collection_force_threshold": "blob_gc_force_threshold",
                      "compaction_options_universal": "universal_compaction_options",
                      "compaction_options_fifo": "fifo_compaction_options"},
               without=RETIRED + ("inplace_callback", "memtable_insert_with_hint_prefix_extractor", "memtable_factory",
                                  "table_properties_collector_factories", "blob_compression_opts",
                                  "blob_direct_write_partition_strategy")),
        Struct("CompactionOptionsUniversal", "universal_compaction.h", "universal_compaction_options",
               types={"size_ratio": INT, "min_merge_width": INT, "max_merge_width": INT,
                      "max_size_amplification_percent": INT}),
        Struct("CompactionOptionsFIFO", "advanced_options.h", "fifo_compaction_options",
               without=("file_temperature_age_thresholds",)),
    ]),
    "table_options": File("options of tables", [
        Struct("BlockBasedTableOptions", "table.h", "block_based_options", "block_based_table_options",
               types={"checksum": ("char", INT), "block_size": "size_t", "format_version": INT},
               nested=(Nested("top_level_index_pinning_tier", "metadata_cache_options.top_level_index_pinning",
                              "PinningTier"),
                       Nested("partition_pinning_tier", "metadata_cache_options.partition_pinning", "PinningTier"),
                       Nested("unpartitioned_pinning_tier", "metadata_cache_options.unpartitioned_pinning",
                              "PinningTier")),
               without=("metadata_cache_options", "cache_usage_options", "flush_block_policy_factory",
                        "persistent_cache", "user_defined_index_factory")),
        Struct("CuckooTableOptions", "table.h", "cuckoo_options", "cuckoo_table_options"),
    ]),
    "call_options": File("options of reads, writes and other calls", [
        Struct("ReadOptions", "options.h", "readoptions",
               without=("table_index_factory", "read_scoped_block_buffer_provider")),
        Struct("WriteOptions", "options.h", "writeoptions", types={"disable_WAL": (INT, FLAG)},
               names={"disableWAL": "disable_WAL"}, setters={"disable_WAL": "disable_WAL"}),
        Struct("FlushOptions", "options.h", "flushoptions"),
        Struct("FlushWALOptions", "options.h", "flushwaloptions"),
        Struct("CompactRangeOptions", "options.h", "compactoptions",
               types={"target_path_id": INT, "bottommost_level_compaction": FLAG, "max_subcompactions": INT},
               without=("canceled",)),
        Struct("CompactionOptions", "options.h", "compaction_options"),
        Struct("WaitForCompactOptions", "options.h", "wait_for_compact_options"),
        Struct("IngestExternalFileOptions", "options.h", "ingestexternalfileoptions"),
        Struct("ImportColumnFamilyOptions", "options.h", "import_column_family_options"),
        Struct("SizeApproximationOptions", "options.h", "size_approximation_options"),
        Struct("LiveFilesStorageInfoOptions", "options.h", "livefiles_storage_info_options"),
        Struct("GetColumnFamilyMetaDataOptions", "metadata.h", "column_family_metadata_options", without=("range",)),
        Struct("OpenAndCompactOptions", "options.h", "open_and_compact_options"),
        Struct("TraceOptions", "options.h", "trace_options"),
        Struct("BlockCacheTraceOptions", TRACE, "block_cache_trace_options"),
        Struct("BlockCacheTraceWriterOptions", TRACE, "block_cache_trace_writer_options"),
    ]),
    "object_options": File("options of caches, files, transactions and backups", [
        Struct("ShardedCacheOptions", "cache.h", "lru_cache_options", only_set=True,
               without=("strict_capacity_limit", "metadata_charge_policy", "secondary_cache", "hash_seed")),
        Struct("ShardedCacheOptions", "cache.h", "hyper_clock_cache_options", only_set=True, is_part=True,
               without=("strict_capacity_limit", "metadata_charge_policy", "secondary_cache", "hash_seed")),
        Struct("HyperClockCacheOptions", "cache.h", "hyper_clock_cache_options", only_set=True,
               without=("min_avg_entry_charge", "eviction_effort_cap")),
        Struct("EnvOptions", "env.h", "envoptions", names={"set_fd_cloexec": "fd_cloexec"}),
        Struct("TransactionDBOptions", TRANSACTION_DB, "transactiondb_options",
               without=("custom_mutex_factory", "lock_mgr_handle", "rollback_deletion_type_callback",
                        "secondary_indices")),
        Struct("TransactionOptions", TRANSACTION_DB, "transaction_options"),
        Struct("OptimisticTransactionDBOptions", OPTIMISTIC, "optimistictransactiondb_options"),
        Struct("OptimisticTransactionOptions", OPTIMISTIC, "optimistictransaction_options", without=("cmp",)),
        Struct("CheckpointOrBackupEngineOptions", CHECKPOINT, "backup_engine_options", is_part=True,
               without=("info_log",)),
        Struct("BackupEngineOptions", BACKUP, "backup_engine_options", names={"backup_env": "env"},
               create_args='"backups"'),
        Struct("CreateCheckpointOrBackupOptions", CHECKPOINT, "create_backup_options", is_part=True),
        Struct("CreateBackupOptions", BACKUP, "create_backup_options"),
        Struct("RestoreOptions", BACKUP, "restore_options", types={"keep_log_files": (INT, FLAG)},
               without=("alternate_dirs",)),
    ]),
}


# ---- reading the headers

def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def statements(body):
    """The declarations of a struct's body, each on one line; functions with a body end at its brace."""
    depth, begin = 0, 0
    for i, letter in enumerate(body):
        depth += (letter in "{(") - (letter in "})")
        if depth == 0 and (letter == ";" or (letter == "}" and body[i + 1:].lstrip()[:1] not in ";,{:")):
            yield " ".join(body[begin:i + 1].split()).rstrip(";")
            begin = i + 1


def members(struct):
    """(type, name) of the data members of a struct, in their order."""
    text = without_comments((PUBLIC / struct.header).read_text())
    found = re.search(rf"^(?:struct|class)(?: ASHLAR_EXPORT)? {struct.name}\b[^;{{]*{{(.*?)^}};", text, re.S | re.M)
    if not found:
        sys.exit(f"{struct.header}: no struct {struct.name}")
    for statement in statements(found[1]):
        statement = re.sub(r"^public: ", "", statement)
        if re.match(r"(static|enum|using|friend|explicit|return|bool operator)\b", statement):
            continue
        member = re.fullmatch(r"((?:const )?(?:unsigned )?[\w:]+(?:<.*>)?\*?) (\w+)(?: ?=.*| ?{.*})?", statement)
        if member:
            yield member[1], member[2]


def enumerations():
    """The names of all enumerations in the public headers, without those of their classes."""
    return {name for header in PUBLIC.rglob("*.h")
            for name in re.findall(r"^\s*enum (?:class |struct )?(\w+)", header.read_text(), re.M)}


def declared_by_hand():
    """The functions that the other headers of the C API declare."""
    return {name for header in (PUBLIC / "c").glob("*.h") if header.stem not in FILES
            for name in re.findall(r"\b(ashlar_\w+)\(", without_comments(header.read_text()))}


# ---- what is made

@dataclass
class Member:
    """The two functions for one member; a type is None if the function is not made here."""
    path: str      # the member in C++
    set_type: str
    setter: str
    get_type: str
    getter: str
    kind: str      # which values the test gives it: flag, choice (of an enumeration), number, small, real, text


def kind_of(cpp_type, set_type, get_type):
    if TEXT in (set_type, get_type):
        return "text"
    if "double" in (set_type, get_type):
        return "real"
    if cpp_type == "uint8_t":
        return "small"
    return {"bool": "flag"}.get(cpp_type, "number" if cpp_type in C_TYPES else "choice")


def made_members(struct, by_hand, enums):
    rows = [(struct.names.get(name, name), name, cpp_type) for cpp_type, name in members(struct)
            if name not in struct.without]
    rows += [(nested.name, nested.path, nested.cpp_type) for nested in struct.nested]
    for name, path, cpp_type in rows:
        is_enum = cpp_type.split("::")[-1] in enums
        types = struct.types.get(name, INT if is_enum else C_TYPES.get(cpp_type))
        setter = f"ashlar_{struct.prefix}_{struct.setters.get(name, 'set_' + name)}"
        getter = f"ashlar_{struct.prefix}_get_{name}"
        if types is None:
            if setter not in by_hand:
                sys.exit(f"{struct.header}: {struct.name}::{name} is a {cpp_type}: declare {setter} by hand, or list "
                         "the member under `without` in tools/make_c_options.py")
            continue
        set_type, get_type = types if isinstance(types, tuple) else (types, types)
        yield Member(path, None if setter in by_hand else set_type, setter,
                     None if getter in by_hand or struct.only_set else get_type, getter,
                     kind_of(cpp_type, set_type, get_type))


def setter_head(struct, member):
    value = "const char*" if member.set_type == TEXT else member.set_type
    return f"void {member.setter}(ashlar_{struct.handle}_t* opt, {value} v)"


def getter_head(struct, member):
    head = f"{member.getter}(ashlar_{struct.handle}_t* opt"
    return f"const char* {head}, size_t* size)" if member.get_type == TEXT else f"{member.get_type} {head})"


def has_create(struct, by_hand):
    """Whether the create function is made here: others have parameters."""
    return not struct.is_part and f"ashlar_{struct.prefix}_create" not in by_hand


def create_head(struct):
    return f"ashlar_{struct.handle}_t* ashlar_{struct.prefix}_create({{}})"


def destroy_head(struct):
    return f"void ashlar_{struct.prefix}_destroy(ashlar_{struct.handle}_t* opt)"


LICENSE = "// SPDX-License-Identifier: Apache-2.0\n//\n"
MADE = "Made by tools/make_c_options.py.\n"
ONE_LINE_EACH = "// One line for each function.\n// clang-format off"


def header_text(file, structs, by_hand, enums):
    lines = [LICENSE + f"// The C API: {FILES[file].title}. {MADE}#pragma once\n",
             '#include "ashlar/c/types.h"\n', "ASHLAR_C_BEGIN\n"]
    for struct in structs:
        lines.append(f"// The members of {struct.name}, which ashlar/{struct.header} describes.")
        if has_create(struct, by_hand):
            lines.append(create_head(struct).format("void") + ";")
        if not struct.is_part:
            lines.append(destroy_head(struct) + ";")
        for member in made_members(struct, by_hand, enums):
            lines += [setter_head(struct, member) + ";"] if member.set_type else []
            lines += [getter_head(struct, member) + ";"] if member.get_type else []
        lines.append("")
    return "\n".join(lines) + "\nASHLAR_C_END\n"


def source_text(file, structs, by_hand, enums):
    includes = ['#include "capi/members.h"', '#include "capi/option_handles.h"']
    lines = [LICENSE + f"// The C API: {FILES[file].title}. {MADE}#include \"ashlar/c/{file}.h\"\n",
             *includes, "", "using ashlar::capi::Get;", "using ashlar::capi::Set;", "", ONE_LINE_EACH]
    for struct in structs:
        lines.append(f"\n// ---- {struct.name}\n")
        if has_create(struct, by_hand):
            lines.append(create_head(struct).format("") + f" {{ return new ashlar_{struct.handle}_t; }}")
        if not struct.is_part:
            lines.append(destroy_head(struct) + " { delete opt; }")
        for member in made_members(struct, by_hand, enums):
            value = f"opt->rep.{member.path}"
            if member.set_type:
                lines.append(setter_head(struct, member) + f" {{ Set({value}, v); }}")
            if member.get_type:
                call = f"Get({value}, size)" if member.get_type == TEXT else f"Get<{member.get_type}>({value})"
                lines.append(getter_head(struct, member) + f" {{ return {call}; }}")
    return "\n".join(lines) + "\n"


def test_text(by_hand, enums):
    """The list of members for the tests."""
    handles = {}
    for file in FILES.values():
        for struct in file.structs:
            handle = handles.setdefault(struct.prefix, {"type": f"ashlar_{struct.handle}_t", "args": "", "members": []})
            handle["args"] += struct.create_args
            handle["members"] += [member for member in made_members(struct, by_hand, enums)
                                  if member.set_type and member.get_type]
    handles = {prefix: handle for prefix, handle in handles.items() if handle["members"]}
    text = (f"{LICENSE}// MEMBER(kind of value, setter, getter) for the members of each handle, and HANDLE(prefix, type, "
            f"create, destroy).\n// {MADE}#pragma once\n\n{ONE_LINE_EACH}\n")
    for prefix, handle in handles.items():
        text += f"\n#define MEMBERS_OF_{prefix}(MEMBER)\n" + "\n".join(
            f"  MEMBER({member.kind}, {member.setter}, {member.getter})" for member in handle["members"]) + "\n"
    text += "\n#define HANDLES_WITH_MEMBERS(HANDLE)\n" + "\n".join(
        f"  HANDLE({prefix}, {handle['type']}, ashlar_{prefix}_create({handle['args']}), ashlar_{prefix}_destroy)"
        for prefix, handle in handles.items()) + "\n"
    return re.sub(r"\n(?=  (?:MEMBER|HANDLE)\()", " \\\\\n", text)


def formatted(text, name):
    """The text as clang-format lays it out, or unchanged if it is not installed."""
    program = shutil.which("clang-format")
    if program is None:
        return text
    return subprocess.run([program, f"--assume-filename={ROOT / name}"], input=text, capture_output=True, text=True,
                          check=True).stdout


def without_layout(text):
    """What clang-format does not change: it breaks lines, also those of comments and macros."""
    return re.sub(r"[\s\\/]+", "", text)


def main():
    check = sys.argv[1:] == ["--check"]
    by_hand, enums = declared_by_hand(), enumerations()
    texts = {"tests/capi/option_members.h": test_text(by_hand, enums)}
    for file, content in FILES.items():
        texts[f"include/ashlar/c/{file}.h"] = header_text(file, content.structs, by_hand, enums)
        texts[f"capi/{file}.cc"] = source_text(file, content.structs, by_hand, enums)
    outdated = 0
    for name, text in texts.items():
        path = ROOT / name
        old = path.read_text() if path.exists() else ""
        if without_layout(old) == without_layout(text):
            continue
        outdated += 1
        print(f"{'outdated' if check else 'written'}: {name}")
        if not check:
            path.write_text(formatted(text, name))
    if check and outdated:
        print("run tools/make_c_options.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
