"""The trained thing: predict, explain, learn, forget, save, load.

Read `text_model` and `table_model`, the models; `base` has what both do, `blocks` and `table_tally` are what
a table model is made of.
`file` opens a model; `container` is the file itself, `text_file` and `table_file` say what is in it.
`leave_one_out` scores documents as if they had not been learned, `novelty` their surprise; `explain` says
which word said what.

From outside: `TextModel`, `TableModel`, `file.load` and `explain`.
"""
