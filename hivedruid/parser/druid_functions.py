"""The functions of Druid's expression language, in lower case; Druid ignores the case of their names.

The names are those that Druid 33 with its core extensions recognizes, and those that later versions add.
"""

from __future__ import annotations

_OF_33 = """
abs acos array array_append array_concat array_contains array_length array_offset array_offset_of array_ordinal
array_ordinal_of array_overlap array_prepend array_quantile array_set_add array_set_add_all array_slice
array_to_mv array_to_string asin atan atan2 bitwiseand bitwisecomplement bitwiseconvertdoubletolongbits
bitwiseconvertlongbitstodouble bitwiseor bitwiseshiftleft bitwiseshiftright bitwisexor case_searched case_simple
cast cbrt ceil coalesce complex_decode_base64 concat contains_string copysign cos cosh cot decode_base64_complex
decode_base64_utf8 div exp expm1 floor format getexponent greatest hll_sketch_estimate
human_readable_binary_byte_format human_readable_decimal_byte_format human_readable_decimal_format hyper_unique
hyper_unique_add hyper_unique_estimate hyper_unique_round_estimate hypot icontains_string if ipv4_match
ipv4_parse ipv4_stringify ipv6_match isdistinctfrom isfalse isnull istrue json_keys json_merge json_object
json_paths json_query json_query_array json_value least left like log log10 log1p lookup lower lpad ltrim max
min mv_harmonize_nulls mv_to_array nextafter nextup notdistinctfrom notfalse notnull nottrue nvl parse_json
parse_long pi pow regexp_extract regexp_like regexp_replace remainder repeat replace reverse right rint round
rpad rtrim safe_divide scalar_in_array scalb signum sin sinh sqrt string_to_array strlen strpos substring
subtract_months tan tanh theta_sketch_estimate timestamp timestamp_ceil timestamp_extract timestamp_floor
timestamp_format timestamp_parse timestamp_shift to_json_string todegrees toradians trim try_parse_json ulp
unix_timestamp upper
"""
_LATER = "mv_contains mv_overlap"
_OF_OTHER_EXTENSIONS = "bloom_filter_test"  # druid-bloom-filter

FUNCTIONS = frozenset(f"{_OF_33} {_LATER} {_OF_OTHER_EXTENSIONS}".split())

LAMBDA_FUNCTIONS = frozenset({"map", "filter", "fold", "any", "all", "cartesian_map", "cartesian_fold"})
"""The first argument is a lambda."""
