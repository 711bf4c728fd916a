"""
Whether a log shows how the waits of its machine depend on its size, and what it then predicts.

`windows` takes four-week windows from a log, `estimators` predict waits from load, `record`
says how well they do on windows that were held out, `rule` answers or refuses, `words` and `page` say so.
"""
