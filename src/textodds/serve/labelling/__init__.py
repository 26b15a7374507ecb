"""Labelling on the page: texts that wait, acts of people, and what the labels are worth so far.

`pool` keeps the texts of files that were dropped, `read_texts` reads such a file in a process of its own.
`acts` puts what people did beside the entries of the journal, in one transaction with them; `desk` decides
which text comes next and what an act changes; `progress` measures; `messages` are the types of requests
and answers, and `routes` the endpoints.
"""
