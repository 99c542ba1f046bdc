#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# StackableDB forwards every virtual function of DB to the database below, with the same arguments in
# the same order. Exceptions are the forms that DB itself implements by other members, which the
# wrapper may override; they are listed here, so that a new function of DB needs a decision.
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(os.environ.get("ASHLAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))

# Functions with a form that DB expresses by another one, and how many forms of each.
FORMS_OF_DB = {
    "CreateColumnFamilies": 2, "DropColumnFamilies": 1, "CreateColumnFamilyWithImport": 1,
    "Put": 2, "PutEntity": 1, "Delete": 2, "SingleDelete": 2, "DeleteRange": 2, "Merge": 1,
    "GetEntity": 1, "MultiGetEntity": 2, "KeyMayExist": 3, "NewIterator": 1, "NewMultiScan": 1,
    "GetAsync": 6, "MultiGetAsync": 4,
    "GetProperty": 1, "GetMapProperty": 1, "GetIntProperty": 1, "GetApproximateSizes": 2,
    "GetApproximateMemTableStats": 1, "GetPropertiesOfAllTables": 1, "VerifyChecksum": 1,
    "CompactRange": 1, "CompactFiles": 1, "SetOptions": 2, "NumberLevels": 1,
    "Level0StopWriteTrigger": 1, "GetOptions": 1, "Flush": 1, "FlushWAL": 1,
    "IngestExternalFile": 1, "PrepareFileIngestion": 1, "CommitFileIngestionHandle": 1,
}


def without_comments(path):
    return re.sub(r"//[^\n]*", "", (ROOT / path).read_text())


def matching(text, begin, pair):
    """The position of the bracket that closes the one at `begin`."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        if depth == 0:
            return at
    raise ValueError(text[begin:begin + 80])


def split_parameters(text):
    parts, depth, part = [], 0, ""
    for char in text:
        depth += (char in "<({") - (char in ">)}")
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    return [p for p in (re.sub(r"\s+", " ", p).strip() for p in parts + [part]) if p]


class Parameter:
    def __init__(self, text):
        text = text.split("=")[0].replace("/*", "").replace("*/", "").strip()
        match = re.fullmatch(r"(.*[&*> ])(\w+)", text)
        self.type, self.name = (match.group(1), match.group(2)) if match else (text, "")
        if self.name in ("int", "bool", "size_t") or (self.type.strip() == "const"):
            self.type, self.name = text, ""
        # `const` of the parameter itself is no part of the signature.
        kept = re.sub(r"^const (?=(size_t|int|bool)\b)", "", self.type.strip())
        kept = re.sub(r"(?<=[*&])\s*const$", "", kept)
        self.type = kept.replace(" ", "")


class Function:
    def __init__(self, text, start, bracket):
        end = matching(text, bracket, "()")
        self.name = re.search(r"(\w+)$", text[:bracket]).group(1)
        self.parameters = [Parameter(p) for p in split_parameters(text[bracket + 1:end])]
        self.tail = re.match(r"[^;{]*", text[end + 1:]).group(0)
        after = end + 1 + len(self.tail)
        self.body = text[after:matching(text, after, "{}") + 1] if text[after] == "{" else ""
        self.start = start

    def signature(self):
        const = " const" if re.search(r"\bconst\b", self.tail) else ""
        return f"{self.name}({', '.join(p.type for p in self.parameters)}){const}"


def class_of(text, head):
    begin = text.index(head)
    opening = text.index("{", begin)
    return text[opening + 1:matching(text, opening, "{}")]


def virtuals_of_db():
    text = class_of(without_comments("include/ashlar/db.h"), "class ASHLAR_EXPORT DB {")
    text = text.replace(class_of(text, "class AsyncCallback {"), "")
    found = [Function(text, m.start(), m.end() - 1)
             for m in re.finditer(r"\bvirtual\s[^;{}()]*?\b\w+\(", text)]
    return [f for f in found if "final" not in f.tail and f.name != "DB"]


def overrides_of_stackable():
    text = class_of(without_comments("include/ashlar/utilities/stackable_db.h"), ": public DB {")
    found = [Function(text, m.start(), m.end() - 1)
             for m in re.finditer(r"(?<=\n  )[\w:<>&*, ]+?\b\w+\(", text)]
    return [f for f in found if "override" in f.tail]


class StackableDb(unittest.TestCase):
    def test_every_virtual_function_is_forwarded_or_a_form_of_another(self):
        virtuals = virtuals_of_db()
        self.assertGreater(len(virtuals), 150)
        forwarded = {f.signature() for f in overrides_of_stackable()}
        self.assertLessEqual(forwarded, {f.signature() for f in virtuals})
        forms = {}
        for function in virtuals:
            if function.signature() not in forwarded:
                forms.setdefault(function.name, []).append(function)
        self.assertEqual({name: len(functions) for name, functions in forms.items()}, FORMS_OF_DB)
        for functions in forms.values():
            for function in functions:
                self.assertNotIn("= 0", function.tail, function.signature())

    def test_forwarded_calls_pass_all_arguments_in_order(self):
        overrides = overrides_of_stackable()
        self.assertGreater(len(overrides), 100)
        for function in overrides:
            call = re.search(r"\bdb_->(\w+)(?=\()", function.body)
            self.assertIsNotNone(call, function.signature())
            self.assertEqual(call.group(1), function.name)
            end = matching(function.body, call.end(), "()")
            passed = [re.sub(r"std::move\((\w+)\)", r"\1", p)
                      for p in split_parameters(function.body[call.end() + 1:end])]
            self.assertEqual(passed, [p.name for p in function.parameters], function.signature())


if __name__ == "__main__":
    unittest.main()
