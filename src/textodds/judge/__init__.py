"""What to do with probabilities.

`evaluation` measures them, `baseline` says what the largest class alone would get; `decisions` turns them
into actions under losses and priors; `guarantees` bounds the errors of what is answered (thresholds and
conformal sets); `class_mix` estimates class proportions in unlabelled data; `novelty` says whether a text
or row is like the training data; `word_odds` compares the words of two classes.

From outside: any of these modules. They take arrays, not models.
"""
