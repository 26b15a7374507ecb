"""A service that classifies, explains and learns, and its page; needs ``pip install 'textodds[serve]'``.

One asks here what becomes of a request. It meets, in this order: `guard` (connections), `endpoint` (tokens,
`origins`, `bodies`, limits, types), `routes` (every endpoint), and then either `answers` or `label_answers`
(of the model that answers) or `updates`, which holds that model: corrections are checked, put on disk by
`records` before they are acknowledged, learned at once and later in full, by large models in a process of
its own. `protocol` has the types of requests and answers, where rows take the place of texts too, OpenAPI
made of them, and one shape of errors. Files that are sent go through `uploads` to `evaluate_file`, another
process; `parent` ends both with the service. `labelling` has texts that wait for labels, and `blank` is a
model before the first. `service` holds what requests share, `server` runs it as an ASGI application.

From outside: `server.run` and `settings.Settings`.
"""
