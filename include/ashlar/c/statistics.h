// SPDX-License-Identifier: Apache-2.0
//
// The C API: statistics of databases, and counters of the calling thread.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// ---- statistics: counters ("tickers") and histograms of all databases that share the options

// Creates the statistics object of the options, or a new one with all counters at 0. Without it the
// functions below return 0, null and empty data, and the level is 0.
void ashlar_options_enable_statistics(ashlar_options_t* opt);
// ashlar_statistics_level_...; setting it creates the object if there is none. Other numbers stand
// for the nearest level.
void ashlar_options_set_statistics_level(ashlar_options_t* opt, int level);
int ashlar_options_get_statistics_level(ashlar_options_t* opt);
// One line for each counter and histogram, to be freed with ashlar_free().
char* ashlar_options_statistics_get_string(ashlar_options_t* opt);
// The numbers are those of Tickers and Histograms in ashlar/statistics.h. 0 and empty data for a
// number that is none.
uint64_t ashlar_options_statistics_get_ticker_count(ashlar_options_t* opt, uint32_t ticker_type);
void ashlar_options_statistics_get_histogram_data(ashlar_options_t* opt, uint32_t histogram_type,
                                                  ashlar_statistics_histogram_data_t* const data);

// The summary of a histogram, empty at first.
ashlar_statistics_histogram_data_t* ashlar_statistics_histogram_data_create(void);
void ashlar_statistics_histogram_data_destroy(ashlar_statistics_histogram_data_t* data);
double ashlar_statistics_histogram_data_get_median(ashlar_statistics_histogram_data_t* data);
double ashlar_statistics_histogram_data_get_p95(ashlar_statistics_histogram_data_t* data);
double ashlar_statistics_histogram_data_get_p99(ashlar_statistics_histogram_data_t* data);
double ashlar_statistics_histogram_data_get_average(ashlar_statistics_histogram_data_t* data);
double ashlar_statistics_histogram_data_get_std_dev(ashlar_statistics_histogram_data_t* data);
double ashlar_statistics_histogram_data_get_max(ashlar_statistics_histogram_data_t* data);
uint64_t ashlar_statistics_histogram_data_get_count(ashlar_statistics_histogram_data_t* data);
uint64_t ashlar_statistics_histogram_data_get_sum(ashlar_statistics_histogram_data_t* data);
double ashlar_statistics_histogram_data_get_min(ashlar_statistics_histogram_data_t* data);

// ---- counters of the calling thread

// What the calling thread measures: a value of PerfLevel. Others change nothing.
void ashlar_set_perf_level(int level);

// The counters of the thread that makes this call; use the handle only in that thread.
ashlar_perfcontext_t* ashlar_perfcontext_create(void);
void ashlar_perfcontext_destroy(ashlar_perfcontext_t* context);
// Sets all counters to 0.
void ashlar_perfcontext_reset(ashlar_perfcontext_t* context);
// "name = value, ...", to be freed with ashlar_free().
char* ashlar_perfcontext_report(ashlar_perfcontext_t* context, unsigned char exclude_zero_counters);
// One counter: ashlar_user_key_comparison_count and so on. 0 for a number that names none.
uint64_t ashlar_perfcontext_metric(ashlar_perfcontext_t* context, int metric);

ASHLAR_C_END
