"""Answers to many files: one file of answers for each, resumed where a run was cut off, shared among workers.

Read `run` first, the whole of it. `inputs` finds the files and says what their answers are
called, `shards` shares them among machines, `file_states` keeps which are done and by which model,
`answer_file` does one, `workers` has processes that do several at once, each of them running `worker`.

From outside: `predict_files`.
"""

from textodds.model.many_files.run import predict_files

__all__ = ["predict_files"]
