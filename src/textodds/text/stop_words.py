"""English words that say little about any subject: articles, pronouns, auxiliaries, prepositions."""

ENGLISH = tuple(
    """
    a about above after again against all also am among an and any are as at be because been before being
    below between both but by can could did do does doing down during each either every few for from further
    had has have having he her here hers herself him himself his how however i if in into is it its itself
    just may me might more most much must my myself neither no nor not now of off on once only onto or other
    our ours ourselves out over own per rather same shall she should since so some such than that the their
    theirs them themselves then there these they this those though through thus till to too toward towards
    under until up upon us very was we were what when where whether which while who whom whose why will with
    within without would yet you your yours yourself yourselves
    """.split()
)
