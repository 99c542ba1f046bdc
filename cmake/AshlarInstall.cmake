# SPDX-License-Identifier: Apache-2.0
#
# `cmake --install`: filled in below by the packages.
