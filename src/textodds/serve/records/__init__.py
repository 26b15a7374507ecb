"""What is on disk beside the model.

`journal` holds what was learned and forgotten, sealed by `seals`; `salvage` reads a damaged one; `snapshot`
is the corrected model, and `audit` says who has corrected what.
"""
