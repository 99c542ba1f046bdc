// SPDX-License-Identifier: Apache-2.0
//
// ASHLAR_EXPORT marks the declarations that programs can link with. The shared libraries are
// compiled with hidden visibility, so each public function, each public variable, and each public
// class with virtual functions or functions that the library defines needs the mark.
// tests/api/defined_test.py finds declarations that lack it, tests/api/exports_test.py those that
// must not have it.
#pragma once

#define ASHLAR_EXPORT [[gnu::visibility("default")]]
