"""fastText's files, written by hand: as small as they can be, and as wrong as a test wants them."""

import struct

import numpy as np

WORDS = ["</s>", "free", "phone", "see", "you", "größe", "pneumonoultramicroscopic", "#1"]
LABELS = ["__label__spam", "__label__ham", "__label__news"]
LOSS = {"hs": 1, "ns": 2, "softmax": 3, "ova": 4}


def dense(values):
    """A matrix of numbers."""
    return struct.pack("<qq", *values.shape) + values.astype("<f4").tobytes()


def centroids(values, width):
    """The header of a quantiser, and its centroids by part: a list of (256, columns)."""
    D = sum(part.shape[1] for part in values)
    header = struct.pack("<4i", D, len(values), width, values[-1].shape[1])
    return header + b"".join(part.astype("<f4").tobytes() for part in values)


def quantised(codes, parts, norms=None):
    """A matrix of codes (M, S); ``norms`` are codes (M,) and centroids (256, 1)."""
    M, D = len(codes), sum(part.shape[1] for part in parts)
    made = struct.pack("<?qqi", norms is not None, M, D, codes.size) + codes.tobytes()
    made += centroids(parts, parts[0].shape[1])
    return made if norms is None else made + norms[0].tobytes() + centroids([norms[1]], 1)


def rows_of(codes, parts, norms=None):
    """The matrix that `quantised` stands for."""
    rows = np.hstack([part[codes[:, s]] for s, part in enumerate(parts)]).astype(np.float64)
    return rows if norms is None else rows * norms[1][norms[0]]


def random_codes(M, D, width, seed, *, norms=False):
    """What `quantised` takes, for M rows of D columns in parts of some width."""
    random = np.random.default_rng(seed)
    widths = [min(width, D - at) for at in range(0, D, width)]
    parts = [random.normal(size=(256, n)).astype(np.float32) for n in widths]
    codes = random.integers(256, size=(M, len(parts)), dtype=np.uint8)
    own = (random.integers(256, size=M, dtype=np.uint8), random.random((256, 1)).astype(np.float32))
    return codes, parts, own if norms else None


def head(*, loss="softmax", dim=4, ngrams=2, bucket=50, minn=0, maxn=0, model=3, version=12):
    """The beginning of a file, and its options."""
    numbers = (dim, 5, 5, 1, 5, ngrams, LOSS.get(loss, loss), model, bucket, minn, maxn, 100)
    return struct.pack("<ii12id", 793712314, version, *numbers, 1e-4)


def dictionary(words=WORDS, labels=LABELS, kept=None, *, count=7):
    """Words, labels, and the buckets that were kept."""
    names = [(name, 0) for name in words] + [(name, 1) for name in labels]
    numbers = (len(names), len(words), len(labels), 100, -1 if kept is None else len(kept))
    made = struct.pack("<3iqq", *numbers)
    for name, kind in names:
        name = name if isinstance(name, bytes) else name.encode()
        made += name + b"\0" + struct.pack("<qB", count, kind)
    return made + np.array(kept if kept else [], "<i4").tobytes()


def whole(*, words=WORDS, labels=LABELS, kept=None, quantise=None, qout=False, seed=0, **options):
    """A file, its input and its output matrix; ``quantise`` is the width of parts, and whether with norms."""
    options = {"dim": 4, "bucket": 50} | options
    random = np.random.default_rng(seed)
    M = len(words) + (options["bucket"] if kept is None else len(kept))
    made = head(**options) + dictionary(words, labels, kept)
    if quantise is None:
        first = random.normal(size=(M, options["dim"])).astype(np.float32)
        made += b"\0" + dense(first)
    else:
        width, norms = quantise
        codes = random_codes(M, options["dim"], width, seed, norms=norms)
        first, made = rows_of(*codes), made + b"\1" + quantised(*codes)
    second = random.normal(size=(len(labels), options["dim"])).astype(np.float32)
    if qout:
        codes = random_codes(len(labels), options["dim"], 2, seed + 1)
        return made + b"\1" + quantised(*codes), first, rows_of(*codes)
    return made + b"\0" + dense(second), first, second
