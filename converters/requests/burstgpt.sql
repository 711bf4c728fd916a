/* ---
of = "requests"
title = "BurstGPT: requests to ChatGPT and GPT-4 through Azure"
files = ["burstgpt*.csv"]
reader = "named"
delimiter = ","
missing = [""]
contains = ["equest[ _]?[Tt]okens", "(?i)response[ _]?tokens"] # whatever the first letter: a text that begins alike is sought fast
export = '''
https://github.com/HPMLL/BurstGPT/releases
'''
notes = """
Source: the README of https://github.com/HPMLL/BurstGPT, which documents the columns; no file of it was read, and the
definition is tested on made files with these columns.

Each row becomes a request. Timestamp counts in seconds from 0:00:00 on the first day, whose date is not told: times stay
relative, and the hour of the day is known. Request tokens are those of the prompt, Response tokens those of the response. The
README says that the response of some that failed has 0 tokens: they stay requests with 0 tokens generated, and are counted.
The model is Model (ChatGPT is GPT-3.5), the service Log Type: a conversation or the API. Later files have a Session ID, of
conversations only, and Elapsed time, in seconds from submission to response: the session and the latency. A row whose Total
tokens are not the sum of both is kept as it is, and counted.
"""

[columns]
timestamp = "varchar"
model = "varchar"
requesttokens = "varchar"
responsetokens = "varchar"
totaltokens = "varchar"
logtype = "varchar"
sessionid = "varchar"
elapsedtime = "varchar"

[options]
closed = true
header = "requesttokens"
order = ["timestamp", "model", "requesttokens", "responsetokens", "totaltokens", "logtype"]
loose = []

[options.checks]
--- */
select
    file_no,
    line,
    timestamp as submit_time,
    requesttokens as tokens_in,
    responsetokens as tokens_out,
    elapsedtime as latency,
    model,
    logtype as service,
    sessionid as session_id,
    [
        case
            when try_cast(totaltokens as bigint) <> try_cast(requesttokens as bigint) + try_cast(responsetokens as bigint)
                then 'another total: requests whose total is not the sum of their tokens were kept with these'
        end,
        case
            when try_cast(responsetokens as bigint) = 0
                then 'no response: requests have a response of 0 tokens: they failed, as the source says'
        end
    ] as remarks
from source
