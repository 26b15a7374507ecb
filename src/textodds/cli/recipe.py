"""The choices that `train` offers, and the recipe they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textodds.cli.command import F, option, together
from textodds.cli.option_types import (
    PRIOR,
    OneOf,
    SomeOf,
    Unit,
    Value,
    above_zero,
    documents,
    in_seconds,
    ngrams,
    smoothing,
    words_in,
)
from textodds.cli.tables import columns
from textodds.errors import InputError
from textodds.learn.recipe import UNKNOWN_POLICIES, recipe_of
from textodds.learn.registry import AUTO, LEARNERS, learner_named, names_of
from textodds.text import Weighting
from textodds.text.features import FEATURES
from textodds.text.settings import NORMAL_FORMS
from textodds.text.units import UNITS
from textodds.text.weighting import FREQUENCIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from textodds.learn.recipe import Recipe
    from textodds.training.choose import Pins


def recipe_options() -> Callable[[F], F]:
    """The options that make a recipe.

    Most have no default of their own: what is not given is the library's, and what is given where
    it does not act is refused rather than ignored.
    """
    return together(*_learner_options(), *_text_options(), *_word_options())


def _learner_options() -> list[Callable[[F], F]]:
    section = "Learner"
    return [
        option(
            section,
            "--learner",
            # `--unlabelled` makes the semi-supervised one.
            type=SomeOf([AUTO, *names_of()]),
            metavar="NAME",
            help="Of texts: naive Bayes (multinomial, bernoulli, complement), softmax regression (softmax, "
            "or nb-softmax, with naive Bayes behind it), or several, of which the best is chosen. "
            "Of tables: naive Bayes (mixed, gaussian, categorical), the full table of a few columns (table). "
            "Of both: discriminant analysis (lda, qda).  "
            "[default: auto, the best for these texts; mixed where no column is one of texts]",
        ),
        option(
            section,
            "--features",
            type=SomeOf([AUTO, *FEATURES]),
            metavar="NAME",
            help="What is learned from: words; pairs (words and pairs of them); triples; letters (runs of "
            "letters within words); characters (pairs, and letters beside them); or several, of which the "
            "best is chosen.  [default: auto; words for naive Bayes that is asked for]",
        ),
        option(
            section,
            "--budget",
            type=Value(in_seconds, "a time such as 60s, 2min or 0"),
            metavar="TIME",
            help="How long choosing and learning may take: what would take longer is not tried.  "
            "[default: 60s, enough for a million short texts]",
        ),
        option(
            section,
            "--alpha",
            type=Value(smoothing, "a number such as 0.1, or auto"),
            metavar="A|auto",
            help="Smoothing, in pseudo-counts per word, or auto, which chooses it by leaving out one text "
            "at a time  [default: 1.0]; for softmax, the penalty per text.",
        ),
        option(
            section,
            "--C",
            "C",
            type=Value(float, "a number such as 10, or inf for no penalty"),
            metavar="C",
            help="Strength of the texts against the penalty, for softmax.  "
            "[default: chosen on held-out texts]",
        ),
        option(
            section,
            "--class-weight",
            type=OneOf(["balanced"]),
            metavar="balanced",
            help="Give every class the same total weight; for softmax.",
        ),
        option(
            section,
            "--shrinkage",
            type=Value(float, "a number from 0 to 1"),
            metavar="S",
            help="How far covariances are drawn towards simpler ones, from 0 to 1; for lda and qda.  "
            "[default: chosen]",
        ),
        option(
            section,
            "--prior",
            type=PRIOR,
            metavar="PRIOR",
            help="Probability of each class before reading: data, uniform, or spam=0.02,ham=0.98; "
            "not for complement and softmax.  [default: data]",
        ),
        option(
            section,
            "--stream",
            is_flag=True,
            help="Learn in one pass, words hashed, in memory that does not grow with the data; for softmax.",
        ),
        option(
            section,
            "--columns",
            type=Value(columns, "`age=number,city=category,id=ignore`"),
            metavar="NAME=WHAT,…",
            help="What columns of a table are: number, gaussian, bins (intervals), category, text or ignore; "
            "the others are found by type.",
        ),
        option(
            section,
            "--like",
            metavar="MODEL",
            help="Choose for each column of a table as this model did, so that the two can be merged.",
        ),
        option(
            section,
            "--missing",
            type=OneOf(["ignore", "category"]),
            metavar="HOW",
            help="Leave out a missing category, or make it one of its own; for tables.",
        ),
        option(
            section,
            "--max-cells",
            type=Value(above_zero, "a whole number above 0"),
            metavar="N",
            help="Combinations beyond which a full table is refused  [default: 1000000]; for table.",
        ),
        option(section, "--binary", is_flag=True, help="Count a word once a text; for multinomial."),
        option(section, "--norm", is_flag=True, help="Normalise the weights of each class; for complement."),
        option(
            section, "--transform", is_flag=True, help="Transform the texts as TWCNB does; for complement."
        ),
    ]


def _text_options() -> list[Callable[[F], F]]:
    section = "Text"
    return [
        option(
            section,
            "--unit",
            type=Unit(UNITS),
            metavar="UNIT",
            help=f"What a text is cut into: {', '.join(UNITS)}, or a simple pattern such as '\\w+'."
            "  [default: words]",
        ),
        option(
            section,
            "--ngrams",
            type=Value(ngrams, "`1-2` for single words and pairs, `2` for pairs only"),
            metavar="N-M",
            help="Runs of units that count: 1-2 for single words and pairs, 2 for pairs.  "
            "[default: 1-1; 1-2 for softmax]",
        ),
        option(
            section,
            "--characters",
            type=Value(ngrams, "`2-5` for runs of two to five characters"),
            metavar="N-M",
            help="Runs of characters within words that count beside the words.",
        ),
        option(section, "--no-lower", is_flag=True, help="Keep capital letters apart from small ones."),
        option(
            section,
            "--normal-form",
            type=OneOf([*NORMAL_FORMS, "none"]),
            metavar="FORM",
            help="Normal form of Unicode: NFC, NFKC or none.  [default: NFC]",
        ),
        option(section, "--strip-accents", is_flag=True, help="Read é as e."),
        option(
            section, "--stop-words", metavar="english|FILE", help="Words to leave out; a file has one a line."
        ),
        option(
            section,
            "--frequency",
            type=OneOf(FREQUENCIES),
            metavar="HOW",
            help="What n occurrences are worth, for softmax, lda and qda: count, log (1 + ln n), binary.  "
            "[default: log]",
        ),
        option(
            section,
            "--no-idf",
            is_flag=True,
            help="Let rare words be worth no more; for softmax, lda and qda.",
        ),
        option(section, "--no-unit", is_flag=True, help="Let long texts be long; for softmax, lda and qda."),
        option(section, "--sklearn", is_flag=True, help="Cut texts as scikit-learn's CountVectorizer does."),
    ]


def _word_options() -> list[Callable[[F], F]]:
    section = "Words"
    how_many = Value(documents, "a number of texts such as 5, or a share of them such as 0.5")
    return [
        option(
            section,
            "--min-df",
            type=how_many,
            metavar="N|SHARE",
            help="Fewest texts a word must be in: 5 of them, or a share of 0.001.  "
            "[default: 1; 2 for softmax, lda and qda]",
        ),
        option(
            section,
            "--max-df",
            type=how_many,
            metavar="N|SHARE",
            default=1.0,
            help="Most texts a word may be in; 1.0 is all of them.",
        ),
        option(
            section,
            "--max-features",
            type=Value(above_zero, "a whole number above 0"),
            metavar="N",
            help="Keep this many words, the most frequent.",
        ),
        option(
            section,
            "--unknown",
            type=OneOf(UNKNOWN_POLICIES),
            metavar="HOW",
            default="ignore",
            help="Words that training has not seen: ignore them; smooth: as a word seen never; first: as the "
            "first occurrence of every word was; count: as the words outside --vocabulary were.",
        ),
        option(section, "--vocabulary", metavar="FILE", help="Use these words and no other; one a line."),
        option(
            section,
            "--hash-bits",
            type=Value(int, "a whole number such as 22"),
            metavar="BITS",
            help="Hash words into 2^BITS buckets: bounded, but without names.",
        ),
        option(
            section,
            "--hash-seed",
            type=Value(int, "a whole number"),
            metavar="SEED",
            help="Seed of that hash.  [default: 0]",
        ),
    ]


CHOICES = (
    *("alpha", "prior", "binary", "norm", "transform", "C", "class_weight", "shrinkage"),
    *("missing", "max_cells"),
)


def learner_from(options: dict[str, Any], usual: str) -> Any:
    """The learner that the options name, or the ``usual`` one, with its choices."""
    given = _given(options, *CHOICES)
    name = options["learner"] or usual
    if name == AUTO or not isinstance(name, str):
        name = usual
    if given.get("alpha") == "auto":
        if "alpha" not in LEARNERS[name].choice:
            raise InputError(
                f"the smoothing of {name} is not chosen",
                hint="give a number, or use multinomial or bernoulli",
            )
        given["alpha"] = None
    return learner_named(name, **given)


def recipe_from(options: dict[str, Any]) -> Recipe:
    """The recipe that the options make for texts."""
    features = options["features"]
    shape = FEATURES[features] if isinstance(features, str) and features != AUTO else {}
    return recipe_of(learner_from(options, "multinomial"), **{**shape, **text_choices(options)})


def pins_from(options: dict[str, Any]) -> Pins | None:
    """What the options do not leave to choose; None if nothing is left, or something only some learners take.

    Naive Bayes that is asked for by name has words, as it always had: whoever wants its features chosen says
    ``--features auto``.
    """
    from textodds.training.choose import pins_of

    learner, features = options["learner"], options["features"]
    is_settled = isinstance(learner, str) and learner != AUTO
    if is_settled and features is None:
        return None
    choices = _given(options, *CHOICES)
    others = _given(options, "typical", "stream", "unlabelled")
    if options["unknown"] != "ignore":
        others["unknown"] = options["unknown"]
    if is_settled and isinstance(features, str) and features != AUTO:
        return None
    if is_settled and LEARNERS[learner].is_density:
        others.pop("typical", None)  # they know typical texts, whatever the features
    if particular := {**others, **({} if is_settled else choices)}:
        if learner is None and features is None:
            return None  # the usual learner has these
        raise InputError(
            f"`--{next(iter(particular)).replace('_', '-')}` is for some learners only, and none is settled",
            hint="name one learner, and no features: `--learner multinomial`",
        )
    if is_settled and choices:
        learner = learner_from(options, learner)
    return pins_of(AUTO if learner is None else learner, features, text_choices(options))


def refuse_of_texts(options: dict[str, Any]) -> None:
    """Fail for a choice that is about texts where there is a table."""
    if options["features"] is not None:
        raise InputError("`--features` are those of texts, and this is a table", hint="leave it out")
    if isinstance(options["learner"], tuple):
        raise InputError("several learners are for texts, and this is a table", hint="name one of them")
    if options["budget"] is not None:
        raise InputError("`--budget` is for choosing, and a table has nothing to choose", hint="leave it out")


def text_choices(options: dict[str, Any]) -> dict[str, Any]:
    """How texts are cut and which words are kept, where the options say so."""
    given = _given(
        options, "unit", "ngrams", "characters", "strip_accents", "hash_bits", "hash_seed", "sklearn"
    )
    if options["no_lower"]:
        given["lower"] = False
    if (form := options["normal_form"]) is not None:
        given["normal_form"] = None if form == "none" else form
    if (stop_words := options["stop_words"]) is not None:
        given["stop_words"] = stop_words if stop_words == "english" else words_in(stop_words)
    if (path := options["vocabulary"]) is not None:
        # Blanks are part of what characters make.
        given["vocabulary"] = words_in(path, stripped=not given.get("unit", "").startswith("characters"))
    if "hash_seed" in given and "hash_bits" not in given:
        raise InputError(
            "`--hash-seed` is the seed of a hash, but words are not hashed", hint="add `--hash-bits 22`"
        )
    if weighing := _given(options, "frequency", "no_idf", "no_unit"):
        given["weighting"] = Weighting(
            weighing.get("frequency", "log"), idf="no_idf" not in weighing, unit="no_unit" not in weighing
        )
    usual = {"unknown": "ignore", "max_df": 1.0}
    return given | {
        name: options[name]
        for name in ("unknown", "min_df", "max_df", "max_features")
        if options[name] != usual.get(name)
    }


def _given(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """The options that stand on the command line, which a default of None or a flag left out do not."""
    return {name: options[name] for name in names if options[name] is not None and options[name] is not False}
