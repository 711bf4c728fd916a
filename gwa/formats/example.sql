/* ---
# A definition of a format of your own: change it, then gwa convert LOG --with my.sql -o OUT
# This one reads a table with commas, such as
#   user,submitted,started,ended,cores,state
#   ann,2024-05-31 12:00:00,2024-05-31 12:05:00,2024-05-31 13:00:00,4,DONE
title = "Jobs of our cluster"
files = ["*.csv"]
export = "our_accounting --csv > jobs.csv"
notes = "where it comes from, and what was decided"
delimiter = ","        # " " is any white space, "\t" a tab
missing = [""]         # how a missing value is written

[columns]              # all columns of the log in order, with types of DuckDB
user = "varchar"
submitted = "timestamp"
started = "timestamp"
ended = "timestamp"
cores = "bigint"
state = "varchar"
--- */
-- One row for each job. Times are Unix seconds, durations seconds, memory KB per processor; other fields
-- are listed by: gwa sql OUT "describe jobs". A line of names is refused, and counted, as every line that
-- does not fit the columns.
select
    epoch(submitted) as submit_time,
    epoch(started) - epoch(submitted) as wait_time,
    epoch(ended) - epoch(started) as run_time,
    cores as n_procs,
    "user" as user_id,
    case state when 'DONE' then 1 when 'FAILED' then 0 when 'CANCELLED' then 5 end as status
from source
