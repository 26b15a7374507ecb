"""The command line: one asks here what a command does, and finds it in the file of its name.

`commands` comes first (which there are, their help, exit status and errors), then `options` (those that
several share, and how data is read), `texts` (what is said, in data or on stdin), `misuse` (what people
type by mistake), `output` (data on stdout, talk on stderr) and `progress`. `decision` turns probabilities
into answers, `summaries` models and measures into lines, `model_files` paths into models. `forget` is in
`learn`. `several_labels` has what commands do with models of several labels a text.

From outside: `main`.
"""

from textodds.cli.commands import main

__all__ = ["main"]
