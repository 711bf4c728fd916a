/* ---
of = "requests"
title = "Mooncake: requests with the blocks of their prompts"
files = ["*_trace.jsonl", "*.mooncake.jsonl"]
reader = "json"
contains = ['"input_length"\s*:\s*\d', '"output_length"\s*:\s*\d', '\A(?!(?:.*\n)*?.*"timestamp"\s*:\s*(?:"|\d+\.\d*[1-9]))[^\n]*"timestamp"\s*:']
export = '''
https://github.com/kvcache-ai/Mooncake/tree/main/FAST25-release/traces
gwa convert trace.duckdb -o trace.mooncake.jsonl
'''
notes = """
Source: FAST25-release/README.md in https://github.com/kvcache-ai/Mooncake, which shows two records and names what they
hold, and the beginning of conversation_trace.jsonl beside it; the definition is tested on made files with these keys.

Each line becomes a request. timestamp counts in milliseconds from the beginning of the trace, and stays relative; arrivals
stand in steps of some seconds there. Where it would be more than 200 requests a second the unit is asked for: such logs of
others count in seconds. input_length are the tokens of the prompt, output_length those of the response. hash_ids
are the remapped identities of the blocks of the prompt, in order: requests that begin with the same ones share a prefix, which a
cache could keep. How many tokens a block has is not needed here. Models, sessions and latencies are not told.

gwa writes whole milliseconds, from the first request on where times are absolute. A log with requests whose tokens are unknown is refused.
"""

[columns]
timestamp = "double"
input_length = "varchar"
output_length = "varchar"
hash_ids = "varchar"

[options]
closed = true
--- */
select
    file_no,
    line,
    timestamp / 1000 as submit_time,
    input_length as tokens_in,
    output_length as tokens_out,
    hash_ids as blocks,
    -- More than 200 a second are rather seconds than milliseconds, which only the user can tell.
    case
        when count(*) over () > 0.2 * (max(timestamp) over () - min(timestamp) over ()) and count(*) over () > 1
            then 'timestamp would be milliseconds of more than 200 requests a second: state its unit'
    end as reject
from source
