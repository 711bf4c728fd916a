/* ---
of = "requests"
title = "AIPerf: sessions of requests with the blocks of their prompts"
files = ["*.aiperf.jsonl"]
reader = "json"
contains = ['"context_mode"\s*:', '"timestamp"\s*:\s*\d', '"input_length"\s*:\s*\d']
export = '''
gwa convert trace.duckdb -o trace.aiperf.jsonl
aiperf profile --input-file trace.aiperf.jsonl --custom-dataset-type mooncake_trace --fixed-schedule …
'''
notes = """
Source: MooncakeTrace and its loader in ai-dynamo/aiperf, and its page on trace replay; the definition is tested on made files.

Each line becomes a request. timestamp counts in milliseconds, with decimals, and stays relative; input_length are the tokens of the whole prompt, what
the session said before included, output_length those of the answer. session_id is the session, hash_ids the identities of the blocks
of the prompt. context_mode message_array_with_responses says that each turn carries its whole prompt; AIPerf adds nothing to it. Sessions
without a context_mode, whose turns may carry only what is new and a delay in place of a timestamp, are read as a table: a turn without a timestamp is refused.

gwa writes a request without a session without a session_id. Models, services, users, images and latencies have no place. A log with requests whose tokens are unknown is refused.
"""

[columns]
timestamp = "double"
input_length = "varchar"
output_length = "varchar"
session_id = "varchar"
context_mode = "varchar"
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
    session_id,
    hash_ids as blocks
from source
