"""
The functions and types that SQL of others may use, by name, with the reason for each group.

Everything else is refused, also what a later version of the engine adds: a function can read a file, take SQL
as text, tell of the machine or keep a process busy for ever, and its name does not say so. What stands here
computes its result from its arguments, the clock or chance alone. `gwa.store.engines.restricted` looks it up.
"""

import re
from difflib import get_close_matches
from typing import Final

NEAREST: Final = 3
"""The number of similar names that a refusal suggests."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


AGGREGATES: Final = _names("""
    any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null
    arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or
    bit_xor bitstring_agg bool_and bool_or corr count count_if count_star countif covar_pop covar_samp
    entropy favg first fsum geomean geometric_mean group_concat histogram histogram_exact json_group_array
    json_group_object kahan_sum kurtosis kurtosis_pop last list listagg lttb mad max max_by mean median
    min min_by mode product quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness stddev
    stddev_pop stddev_samp string_agg sum sumkahan var_pop var_samp variance wavg weighted_avg
""")
"""Aggregates: they see the values of a group."""

BY_NAME: Final = _names("aggregate array_aggr array_aggregate list_aggr list_aggregate")
"""Functions whose second argument is the name of an aggregate, which has to stand there as a text."""

GROUPS: Final = {
    "operators compute with their operands": _names("""
        !~~ !~~* !__postfix % & && * ** + - ->> / // < <-> << <= <=> <@ = > >= >> @ @> ^ ^@ | || ~ ~~ ~~*
        ~~~ -> ! <> !=
    """),
    "aggregates see the values of a group": AGGREGATES,
    "an aggregate of a list, by a name that is checked": BY_NAME,
    "windows see the rows of a partition": _names("""
        cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank
        rank_dense row_number
    """),
    "choices between arguments": _names("if least greatest nullif"),
    "what says why a value is not taken, which ends the query": _names("error"),
    "numbers": _names("""
        abs acos acosh add asin asinh atan atan2 atanh binom bit_count cbrt ceil ceiling cos cosh cot
        degrees divide even exp factorial fdiv floor fmod gamma gcd greatest_common_divisor isfinite isinf
        isnan lcm least_common_multiple lgamma ln log log10 log2 mod multiply nextafter pi pow power
        radians round round_even roundbankers sign signbit sin sinh sqrt subtract tan tanh trunc xor
    """),
    "chance, by which rows are drawn and named": _names("gen_random_uuid random uuid uuidv4 uuidv7"),
    "texts": _names("""
        array_to_string ascii bar base64 bin bit_length char_length character_length chr concat concat_ws
        contains damerau_levenshtein decode editdist3 encode ends_with format format_bytes
        formatreadablesize formatreadabledecimalsize from_base64 from_binary from_hex hamming hash hex
        ilike_escape instr jaccard jaro_similarity jaro_winkler_similarity lcase left left_grapheme length
        length_grapheme levenshtein like_escape lower lpad ltrim md5 md5_number md5_number_lower
        md5_number_upper mismatches nfc_normalize not_ilike_escape not_like_escape octet_length ord
        overlay parse_formatted_bytes position prefix printf regexp_escape regexp_extract
        regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array
        regexp_split_to_table repeat replace reverse right right_grapheme rpad rtrim sha1 sha256 split
        split_part starts_with str_split str_split_regex string_split string_split_regex string_to_array
        strip_accents strlen strpos substr substring substring_grapheme suffix to_base to_base64 to_binary
        to_hex translate trim ucase unbin unhex unicode upper url_decode url_encode
    """),
    "parts of the text of a path; nothing is opened": _names(
        "parse_dirname parse_dirpath parse_filename parse_path"
    ),
    "dates and times": _names("""
        age century date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc
        day dayname dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us
        era hour isodow isoyear julian last_day make_date make_time make_timestamp make_timestamp_ms
        make_timestamp_ns make_timestamptz microsecond millennium millisecond minute month monthname
        nanosecond normalized_interval quarter second strftime strptime time_bucket timezone timezone_hour
        timezone_minute to_centuries to_days to_decades to_hours to_microseconds to_millennia
        to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years
        try_strptime week weekday weekofyear year yearweek
    """),
    "the time of day, which is no secret": _names("""
        ago current_date current_localtime current_localtimestamp get_current_time get_current_timestamp
        now today transaction_timestamp
    """),
    "lists": _names("""
        apply array_append array_apply array_cat array_concat array_contains array_cosine_distance
        array_cosine_similarity array_cross_product array_distance array_distinct array_dot_product
        array_extract array_filter array_grade_up array_has array_has_all array_has_any array_indexof
        array_inner_product array_intersect array_length array_negative_dot_product
        array_negative_inner_product array_pop_back array_pop_front array_position array_prepend
        array_push_back array_push_front array_reduce array_resize array_reverse array_reverse_sort
        array_select array_slice array_sort array_transform array_unique array_value array_where array_zip
        element_at equi_width_bins filter flatten generate_series generate_subscripts grade_up len
        list_any_value list_append list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or
        list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains list_cosine_distance
        list_cosine_similarity list_count list_distance list_distinct list_dot_product list_element
        list_entropy list_extract list_filter list_first list_grade_up list_has list_has_all list_has_any
        list_histogram list_indexof list_inner_product list_intersect list_kurtosis list_kurtosis_pop
        list_last list_mad list_max list_median list_min list_mode list_negative_dot_product
        list_negative_inner_product list_pack list_position list_prepend list_product list_reduce
        list_resize list_reverse list_reverse_sort list_select list_sem list_skewness list_slice list_sort
        list_stddev_pop list_stddev_samp list_string_agg list_sum list_transform list_unique list_value
        list_var_pop list_var_samp list_where list_zip range reduce unnest unpivot_list
    """),
    "structs, maps and unions": _names("""
        cardinality map map_concat map_contains map_contains_entry map_contains_value map_entries
        map_extract map_extract_value map_from_entries map_keys map_values row struct_concat
        struct_contains struct_extract struct_extract_at struct_has struct_indexof struct_insert
        struct_keys struct_pack struct_position struct_update struct_values union_extract union_tag
        union_value
    """),
    "JSON as data": _names("""
        array_to_json from_json from_json_strict json json_array json_array_length json_contains
        json_deep_merge json_exists json_extract json_extract_path json_extract_path_text
        json_extract_string json_group_structure json_insert json_keys json_merge_patch
        json_merge_patch_diff json_normalize json_object json_pretty json_quote json_remove json_replace
        json_set json_strip_nulls json_structure json_transform json_transform_strict json_type json_valid
        json_value row_to_json to_json
    """),
    "bits and enumerations": _names("""
        bit_position bitstring enum_code enum_first enum_last enum_range enum_range_boundary get_bit
        set_bit
    """),
    "what kind a value is": _names("can_cast_implicitly pg_typeof typeof"),
    "grouping sets, which the parser takes for functions": _names("cube grouping grouping_id rollup"),
}
"""What SQL of others may use, by the reason why it may."""

FUNCTIONS: Final = frozenset[str]().union(*GROUPS.values())

BOUNDED: Final = _names("""
    % * + - / // !~~ !~~* ~~ ~~*
    abs ceil ceiling floor greatest if least mod nullif round sign
    char_length contains ends_with left length lower ltrim prefix right rtrim starts_with strlen substr
    substring suffix trim upper
    date_part date_trunc day dayname dayofmonth dayofweek dayofyear hour isodow minute month monthname quarter
    second to_timestamp week weekday year
""")
"""Functions that take no time to speak of, and whose result is about as large as their arguments at most."""

OF_CONVERTERS: Final = _names("getvariable")
"""What the SQL of a converter may use besides: its options are variables, and there are no others."""

TABLE_FUNCTIONS: Final = _names("unnest range generate_series json_each json_tree")
"""Functions in FROM that read nothing but their arguments."""

CATALOG: Final = _names("duckdb_columns duckdb_tables duckdb_views pragma_show pragma_table_info")
"""Functions in FROM by which the owner of a trace sees which tables and columns it has."""

BARE: Final = _names("current_catalog current_role current_schema current_user session_user")
"""Functions without parentheses, which look like columns, and reveal more than the trace."""

TYPES: Final = _names("""
    array bigint binary bit bitstring blob bool boolean bpchar bytea char date datetime dec decimal double
    enum float float4 float8 hugeint int int1 int128 int16 int2 int32 int4 int64 int8 integer integral
    interval json list logical long map nchar null numeric nvarchar real row short signed smallint string
    struct text time timestamp timestamp_ms timestamp_ns timestamp_s timestamp_us timestamptz timetz
    time_ns tinyint tuple ubigint uhugeint uint128 uint16 uint32 uint64 uint8 uinteger union usmallint
    utinyint uuid varbinary varchar guid
""") | {"time with time zone", "timestamp with time zone", "bignum", "varint"}
"""Types to which values may be cast: those that values of the tables have, or are computed to."""

SCALARS: Final = _names("""
    bigint bool boolean date double float int integer real smallint string text time timestamp timestamptz
    tinyint varchar
""") | {"time with time zone", "timestamp with time zone"}
"""Those of them whose values are one number or one text."""

REASONS: Final = (
    (r"(read|parquet|sniff|pandas|arrow|python|seq)_.*|.*_scan|glob|which_secret", "it reads files"),
    (r"json_(de)?serialize_\w+|json_execute\w*|query|query_table|summary", "it takes SQL as text"),
    (
        r"current_\w+|getvariable|getenv|duckdb_\w+|pragma_\w+|pg_\w+|has_\w+|inet_\w+|version|txid_\w+|stats",
        "it reveals more than the trace: the engine, its settings or the machine",
    ),
    (
        r"nextval|currval|setval|setseed|write_log|\w+_(logging|profiling|resource\w*)|\w*checkpoint",
        "it changes or depends on the state of the engine",
    ),
    (r"\w*sleep\w*", "it only keeps the engine busy"),
)
"""Why functions are not on the list, by their names; others are not needed to ask a trace."""


def refusal(name: str) -> str:
    """
    Return why the function called *name* is refused, and what to use instead.

    >>> refusal("read_text")
    'the function read_text(), which is not allowed: it reads files'
    >>> refusal("list_medan").partition(", list_min")[0]
    'the function list_medan(), which is not on the list of allowed functions; similar ones are list_median'
    """
    for pattern, reason in REASONS:
        if re.fullmatch(pattern, name):
            return f"the function {name}(), which is not allowed: {reason}"
    similar = get_close_matches(name, sorted(FUNCTIONS), NEAREST)
    suggestion = f"; similar ones are {', '.join(similar)}" if similar else ""
    return f"the function {name}(), which is not on the list of allowed functions{suggestion}"
