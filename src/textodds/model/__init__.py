"""The trained thing: predict, explain, learn, forget, save, load.

Read `base` first, what every model does: learn, forget, merge, answer, measure. `novelty` adds how probable
and how familiar. `text_model` says what differs for texts, `tables` for the columns of a table, `multilabel`
where a text may have several labels; `words` are those of a text model's classes. What a model rests on is
its `basis`, from which `fit` makes it, in training and after every change; `quick` is what a few documents
change at once. `leave_one_out` scores documents as if they had not been learned; by a `lesson` of such scores
`fit` chooses the smoothing of naive Bayes and calibrates it. `file` writes and opens a model, laid out as
`storage` has it. `explain` says which word said what, `output` puts answers beside rows, and `many_files`
answers folders of files.

From outside: `TextModel`, `TableModel`, `MultiLabelModel`, `file.load` and `explain`.
"""
