"""The trained thing: predict, explain, learn, forget, save, load.

Read `base` first, what every model does: learn, forget, merge, answer, measure. `novelty` adds how probable
and how familiar. `text_model` and `table_model` say what differs: `words` are those of a text model's
classes, `blocks` what a table model is made of. `file` writes and opens a model in the format of `container`.
`leave_one_out` scores documents as if they had not been learned; by a `lesson` of such scores `fit` chooses
the smoothing of naive Bayes and calibrates it. `explain` says which word said what.

From outside: `TextModel`, `TableModel`, `file.load` and `explain`.
"""
