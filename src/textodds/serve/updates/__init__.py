"""How corrections become part of the model that answers.

`corrections` are checked, and put on disk by `writer` before they are acknowledged; `live_model` is the file
that a service began with and the model of it and the journal, into which `fold` takes corrections at once
and `solver` in full, of large models in `solver_process`. `persuasion` says how many copies change an answer.
"""
