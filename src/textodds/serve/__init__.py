"""A service that classifies, explains and learns, and its page; needs ``pip install 'textodds[serve]'``.

A request meets, in this order: `guard` (connections), `endpoint` (who may ask, how much, how long),
`routes` (what there is to ask), and then either `reading` (answers of the model that `live` holds) or
`writer` (corrections, which are checked by `checking` and put on disk by `journal` before they are
acknowledged). `base` is the model file, `live` the model of both.
"""
