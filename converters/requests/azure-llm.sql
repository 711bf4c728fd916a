/* ---
of = "requests"
title = "Azure's traces of requests to language models (2023, 2024, 2025)"
files = ["azurellminferencetrace*.csv", "azurelmminferencetrace*.csv"]
reader = "named"
delimiter = ","
missing = [""]
contains = ["ontext[ _]?[Tt]okens", "(?i)generated[ _]?tokens"] # whatever the first letter: a text that begins alike is sought fast
export = '''
# code and conversation of 2023 stand in the repository, those of 2024 at the addresses on its pages
https://github.com/Azure/AzurePublicDataset/tree/master/data
'''
notes = """
Source: AzureLLMInferenceDataset2023.md, AzureLLMInferenceDataset2024.md and AzureLMMInferenceDataset2025.md in
https://github.com/Azure/AzurePublicDataset, and both files of 2023.

Each row becomes a request. TIMESTAMP is when it was invoked, with a zone in the files of 2024 (+00:00) and without one in
those of 2023: a local time without a zone is taken as UTC, and counted, unless -O zone states another. Times are kept to the
microsecond. ContextTokens are the tokens of the prompt, GeneratedTokens those of the response; NumImages, which only the
multimodal trace of 2025 has, are the images. Models, sessions, users and latencies are not told, and so are missing.
"""

[columns]
timestamp = "varchar"
contexttokens = "varchar"
generatedtokens = "varchar"
numimages = "varchar"

[functions]
"zoned(x)" = "regexp_matches(x, ':\\d\\d(\\.\\d+)?\\s*(Z|[+-]\\d\\d(:?\\d\\d)?)$')"

[accepts]
zone = "a time zone such as Europe/Amsterdam"

[options]
closed = true
header = "contexttokens"
order = ["timestamp", "contexttokens", "generatedtokens"]
loose = []

[options.checks]
--- */
select
    file_no,
    line,
    case
        when zoned(timestamp) then epoch(try_cast(timestamp as timestamptz))
        else local_seconds(try_cast(timestamp as timestamp))
    end as submit_time,
    contexttokens as tokens_in,
    generatedtokens as tokens_out,
    numimages as images,
    [case when not zoned(timestamp) then nullif(getvariable('zone_remark'), '') end] as remarks
from source
