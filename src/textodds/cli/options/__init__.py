"""Options that several commands share, and what each makes of them.

`option_types` reads words of the command line as values; `data_options` is how data is read,
`learner_options` which learner with which settings, `model_options` what is asked of a model, `run_options`
how a command runs.
"""
