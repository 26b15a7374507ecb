"""The trained thing: predict, explain, learn, forget, save, load.

Read `base` first, what every model answers and measures; it stands on `updates` (learn, forget, merge) and
`novelty` (how probable, how familiar). `text_model` and `table_model` say what differs: `scorer` and `words`
are what a text model is made of, `blocks` what a table model is. `file` writes and opens a
model, in the format of `container`. `leave_one_out` scores documents as if they had not been learned;
`explain` says which word said what.

From outside: `TextModel`, `TableModel`, `file.load` and `explain`.
"""
