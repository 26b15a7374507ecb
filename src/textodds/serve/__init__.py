"""A service that classifies, explains and learns, and its page; needs ``pip install 'textodds[serve]'``.

One asks here what becomes of a request. It meets, in this order: `guard` (connections), `endpoint` (tokens,
`origins`, `bodies`, limits, types, one shape of errors: `problems`), `routes` (every endpoint, described by
`openapi`; `shapes` is what differs where a model reads rows or gives several labels), and then either
`answers` or `label_answers` (of the model that `live_model` holds) or `writer` (corrections, which
are checked by `corrections` and put on disk by `journal` before they are acknowledged). `live_model` is the
file that a service began with, and the model of it and the journal, into which `fold` takes corrections at
once and `solver` in full, of large models in a process of its own (`solver_process`); files that are sent
go through `uploads` to `evaluate_file`, another; `labelling` has texts that wait for labels, and `blank` is a
model before the first; `parent` ends both with the service. `service` holds what requests share, `server`
runs it as an ASGI application, `messages` are the types of requests and answers.

From outside: `server.run` and `settings.Settings`.
"""
