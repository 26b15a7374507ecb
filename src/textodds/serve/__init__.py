"""A service that classifies, explains and learns, and its page; needs ``pip install 'textodds[serve]'``.

A request meets, in this order: `guard` (connections), `endpoint` (who may ask, how much, how long),
`routes` (what there is to ask), and then either `reading` (answers of the model that `live` holds) or
`writer` (corrections, which `journal` has on disk before they are acknowledged).
"""
