// SPDX-License-Identifier: Apache-2.0
//
// ASHLAR_EXPORT marks what leaves the shared libraries. They are compiled with hidden visibility,
// so that the public API is all that a program can link with: a public class with a function that
// is defined in the library, or with virtual ones, and a public function or variable bears the
// mark. tests/api/defined_test.py finds what lacks it, tests/api/exports_test.py what should not
// have it.
#pragma once

#define ASHLAR_EXPORT [[gnu::visibility("default")]]
