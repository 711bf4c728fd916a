/* ---
of = "requests"
title = "Requests to language models, as gwa writes them"
files = ["*.requests.csv"]
reader = "named"
delimiter = ","
comment = "#"
missing = [""]
contains = "okens[ _]?[Ii]n" # whatever its first letter: a text that begins alike is sought fast
export = '''
gwa sample requests -o sample.requests.csv
gwa convert trace.duckdb -o trace.requests.csv
'''
notes = """
A table with commas, whose first line names its columns, in any order: submit_time, tokens_in and tokens_out, and where they are
known latency, first_token, model, service, session_id, user_id, images, turn, tokens_cached and blocks. Lines that begin with # say what else is known,
such as TimeZoneString: Europe/Amsterdam. To bring a log of your own into gwa, name its columns so.

Times are seconds: since 1970 from 1985 on, else since an unknown start. latency is from submission to the end of the response,
first_token to its first token, both in seconds. blocks are identities of the blocks of the prompt, whole numbers parted by blanks.
An empty cell is unknown. Where a comment says Encoding: percent, signs of names such as commas stand as %2C. gwa writes submit times to the microsecond, and requests in their order; a request_id is not read.
"""

[columns]
submit_time = "varchar"
tokens_in = "varchar"
tokens_out = "varchar"
latency = "varchar"
first_token = "varchar"
model = "varchar"
service = "varchar"
session_id = "varchar"
user_id = "varchar"
images = "varchar"
turn = "varchar"
tokens_cached = "varchar"
blocks = "varchar"

[functions]
"plain(x)" = """
case
    when exists (select 1 from header where key = 'Encoding' and value = 'percent') then coalesce(try(url_decode(x)), x)
    else x
end
"""

[options]
closed = true
header = "tokens_in"
least = 1
order = ["submit_time", "tokens_in", "tokens_out"]
loose = []

[options.checks]
--- */
select
    file_no,
    line,
    submit_time,
    tokens_in,
    tokens_out,
    latency,
    first_token,
    plain(model) as model,
    plain(service) as service,
    plain(session_id) as session_id,
    plain(user_id) as user_id,
    images,
    turn,
    tokens_cached,
    '[' || replace(trim(blocks), ' ', ', ') || ']' as blocks
from source
