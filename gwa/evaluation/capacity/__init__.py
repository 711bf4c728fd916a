"""
Whether a log can tell how the waits of its machine depend on its size, and what it then tells.

`windows` takes four-week windows from a log, `estimators` tell the waits of a window from its load, `record`
says how well they do on windows that were held out, `rule` answers or refuses, `words` and `page` say so.
"""
