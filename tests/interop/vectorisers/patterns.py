"""Patterns of words: those that the kernels take, and those that are left to scikit-learn."""

KERNEL_PATTERNS = [
    r"(?u)\b\w\w+\b",
    r"\w+",
    r"(?u)\b\w+\b",
    r"\w\w*",
    r"\w{3,}",
    r"\b\w{2,}",
    r"\S+",
    r"\S{2,}",
    r"[a-zA-Z]+",
    r"\b[a-z]{2,}\b",
    r"[a-z0-9]{3,}",
    r"(?u)\b[a-zA-Z0-9_]+\b",
    r"\b[A-Z_]+\b",
    r"[0-9]+",
]
OTHER_PATTERNS = [
    r"[^,]+",
    r"\b\S+\b",
    r"(\w)\w+",
    r"\d+",
    r"\w*",
    r"\b[a-z]+",
    r"[a-z]+\b",
    r"(?i)[a-z]+",
    r"(?a)\w+",
    r"[a-z]+'?[a-z]+",
    "[a-zé]+",
    r"(\w)(\w)",  # two groups, an error
    r"[b-a]+",  # no pattern at all
    "words",  # names of our own units, which are patterns to scikit-learn
    "whitespace",
    "characters",
    "characters-in-words",
    "sklearn",
]
