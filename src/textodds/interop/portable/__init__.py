"""Models that run without textodds: a page, a Python file, C, SQL.

`plain_model` turns a model into plain data: terms, weights, and how texts are cut. `characters` has the
tables of the tokeniser that go with it. Each `to_*` writes both beside a runtime, which is a file in
`runtime/` that can be read as it is.

From outside: the functions `to_*`, by `TARGETS` of `targets`.
"""
