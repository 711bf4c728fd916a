/* ---
of = "requests"
title = "Weka's traces of sessions of coding agents, with the blocks of their prompts"
files = ["*weka*.json", "*weka*.jsonl"]
reader = "json"
contains = ['"requests"\s*:\s*\[\s*\{', '"hash_ids"\s*:', '"block_size"\s*:\s*\d', '"(hash_id_scope|tool_tokens|models)"\s*:']
export = '''
https://huggingface.co/datasets?search=cc-traces-weka
'''
notes = """
Source: the loader weka_trace of ai-dynamo/aiperf and its tests, and that of vllm-project/guidellm, which show what such a trace holds.

Each file, or line, is a session with a list of its requests, in order. t counts in seconds from the beginning of the session, and
stays relative; when sessions began is not recorded, so that all begin at 0: arrivals within a session are known, those of all sessions together
are not. in are the tokens of the prompt, out those of the answer, api_time the seconds until it was complete. hash_ids are the identities of the blocks of
the prompt within their session (hash_id_scope local): blocks of different sessions are never the same. Requests of a subagent stand in a list
of their own and are not read: their entry, of the type subagent, is refused.
"""

[options]
records = ["requests"]

[options.paths]
since = "t"
kind = "type"
tokens_in = "in"
tokens_out = "out"

[options.document]
session = "id"

[columns]
since = "double"
kind = "varchar"
model = "varchar"
tokens_in = "varchar"
tokens_out = "varchar"
hash_ids = "varchar"
api_time = "double"
session = "varchar"
--- */
select
    file_no,
    line,
    since as submit_time,
    tokens_in,
    tokens_out,
    api_time as latency,
    model,
    session as session_id,
    case
        when json_valid(hash_ids)
            then list_transform(from_json(hash_ids, '["BIGINT"]'), lambda x: cast(hash(session, x) >> 2 as bigint))
    end as blocks,
    case when kind = 'subagent' then 'is a subagent, whose requests stand in a list of their own' end as reject,
    ['sessions without a beginning: times count from the beginning of each session; when it was is not recorded'] as remarks
from source
