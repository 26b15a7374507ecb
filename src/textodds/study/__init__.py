"""What one does with models and data.

`compare` models, `audit` labels (several a text: `label_audit`), `diff` two models, `generate` texts from
one, choose what to label next (`active`), and write a `report`.

From outside: the function of each module that has its name (`most_useful` of `active`, `sample` of
`generate`, `audit_labels` of `label_audit`).
"""
