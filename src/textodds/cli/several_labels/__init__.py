"""What commands do with a model of several labels a text, where it differs from one label.

`training` has what `train` says, `answers` what `predict` prints, `measures` what `evaluate` prints,
`explanations` those of `explain`, `facts` what `inspect` shows, `changes` how `learn` changes labels,
`shares` what `mix` prints, and `suspects` what `audit` finds. Each command calls them once it has opened its
model or its data.
"""
