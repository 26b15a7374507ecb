"""Memory that training takes: bounded, whatever the size of the data, by what may be kept of them."""

import random
import subprocess
import sys

CODE = """
import resource
import textodds
from textodds.stats import corpus
corpus.MOST, corpus.PENDING = 4 << 20, 2 << 20
corpus.Keeper.__init__.__defaults__ = (corpus.MOST,)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
textodds.train({small!r}, learner="multinomial")
before = peak()
model = textodds.train({large!r}, learner="multinomial")
assert not model.has_documents
assert peak() - before < 20_000, peak() - before  # kilobytes
"""


def test_memory_of_training_with_its_documents_does_not_grow_with_the_file(tmp_path):
    chance = random.Random(5)
    words = [f"word{n}" for n in range(3000)]
    texts = [" ".join(chance.choices(words, k=200)) for _ in range(500)]
    for name, copies in (("small", 20), ("large", 80)):  # 17 and 69 MB
        with (tmp_path / f"{name}.csv").open("w") as file:
            file.write("text,label\n")
            for copy in range(copies):
                file.writelines(f"{text} {copy},{'ab'[at % 2]}\n" for at, text in enumerate(texts))
    code = CODE.format(small=str(tmp_path / "small.csv"), large=str(tmp_path / "large.csv"))
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
