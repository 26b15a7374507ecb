"""Why: the answer of `/v1/explain` by the model that `train` selects, in process."""

from __future__ import annotations

import gc
import time
from types import SimpleNamespace
from typing import Any, cast

import msgspec

import textodds
from bench import Bench
from corpora import TITLES, Corpus, Missing
from result import Result, Table, Target, digits
from textodds.serve import answers
from textodds.serve.protocol import messages

DATA = ("sms_spam", "ag_news_subset", "imdb", "20newsgroups")
ASKED = 500.0  # texts a second of CPU
TEXTS = 300
MOST = 20_000  # characters: the page asks for no explanation of longer texts


def explain(bench: Bench) -> Result:
    result = Result(
        "explain",
        "Explanations of one text",
        "From a text to the JSON that `/v1/explain` answers with, in process: what each word adds, and where "
        f"it stands. Of {TEXTS} test texts spread over the file, of at most {MOST:,} characters.",
    )
    columns = ("data", "features", "characters a text", "texts per CPU s")
    result.tables.append(Table("", columns))
    for name in DATA[:1] if bench.quick else DATA:
        claim = f"explain, {TITLES[name]}, texts per CPU s"
        try:
            _explained(bench, bench.corpora[name], result, claim)
        except Missing as missing:
            result.skip(str(missing))
            result.targets.append(Target(claim, True, ASKED, None, ""))
    return result


def _explained(bench: Bench, corpus: Corpus, result: Result, claim: str) -> None:
    print(f"  {corpus.title}", flush=True)
    model = textodds.train(*corpus.train.rows)
    served = cast("Any", SimpleNamespace(model=model, version="0.0"))
    encode = msgspec.json.Encoder().encode
    step = max(1, len(corpus.test.texts) // TEXTS)
    texts = [text for text in corpus.test.texts[::step] if len(text) <= MOST][:TEXTS]
    taken = []
    gc.collect()
    gc.freeze()  # as the service does when it begins: what it was made of is not looked through for garbage
    for _ in range(max(3, bench.rounds)):
        begin = time.process_time()
        for text in texts:
            encode(answers.explain(served, messages.ExplainRequest(text=text)))
        taken.append(time.process_time() - begin)
    gc.unfreeze()
    rate = len(texts) / min(taken)
    characters = sum(map(len, texts)) / len(texts)
    features = model.recipe.settings
    told = f"words {features.ngrams}, characters {features.characters}, {features.unit}"
    result.tables[0].rows.append((corpus.title, told, digits(characters), digits(rate)))
    result.raw.append({"data": corpus.name, "per_second": rate, "n": len(texts)})
    result.targets.append(Target(claim, True, ASKED, rate, ""))
