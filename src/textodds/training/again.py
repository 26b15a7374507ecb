"""Choosing again: the question that a model was trained by, asked of its documents as they are now.

Learning and forgetting keep the choices of a model, such as features and penalty; what is chosen here is what
training would choose today. Kept texts are prepared and, where a model counts words, cut into words: features
that they do not decide, such as letters of a model of words, are left out, and the model says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from textodds.data import Observer
from textodds.errors import InputError, Unsupported
from textodds.learn import registry
from textodds.learn.recipe import Recipe, is_of_documents
from textodds.learn.registry import AUTO
from textodds.model.fit import fit_corpus, fit_counts
from textodds.model.text_model import TextModel
from textodds.stats.corpus import Corpus
from textodds.stats.sample import TYPICAL
from textodds.stats.tally import Tally
from textodds.text import TextSettings, Weighting
from textodds.training.choose.candidates import Candidate, Pins, candidates, open_candidates, usual
from textodds.training.choose.pool import Pool
from textodds.training.choose.race import Choice, chosen
from textodds.training.plan import Plan, must_know_typical

ASKED = "asked"  # where the question is in what is known of a model
FLAGS = ("typical", "textbook", "stream")  # questions of yes or no, which is the usual answer


@dataclass(frozen=True)
class Question:
    """What `textodds.train` was asked of texts, beside the data: what was named, and what was left open."""

    learner: object = None
    features: object = None
    words: Mapping[str, object] = field(default_factory=dict)
    calibrate: bool = True
    typical: bool = False
    textbook: bool = False
    stream: bool = False

    def as_dict(self) -> dict[str, object]:
        """The question as plain data, for the model file; what is as usual is left out."""
        plain: dict[str, object] = {name: True for name in FLAGS if getattr(self, name)}
        if self.learner is not None:
            plain["learner"] = _plain(self.learner)
        if self.features is not None:
            plain["features"] = _plain(self.features)
        if self.words:
            plain["words"] = {name: _plain(value) for name, value in self.words.items()}
        return plain if self.calibrate else {**plain, "calibrate": False}

    @classmethod
    def of(cls, model: TextModel) -> Question:
        """The question that a model was trained by; a file that has none answers one of its own choices.

        Where something was chosen, learner and features are then open; else both are as the recipe has them.
        """
        if model.recipe.learner.entry.name == "semisupervised":
            raise Unsupported(
                "this model was learned from unlabelled texts too, which it does not keep",
                hint="train again on both: `textodds train DATA --unlabelled DATA`",
            )
        if "neighbours" in model.info:
            raise Unsupported(
                "this model was learned from unlabelled texts or word vectors too, which it does not keep",
                hint="train again on both: `textodds train DATA`, with `--unlabelled` or `--vectors`",
            )
        recipe, asked = model.recipe, model.info.get(ASKED)
        if isinstance(asked, Mapping):
            words = {name: _word(name, value) for name, value in asked.get("words", {}).items()}
            flags = {name: bool(asked.get(name, False)) for name in FLAGS}
            learner, calibrate = _learner(asked.get("learner")), bool(asked.get("calibrate", True))
            return cls(learner, asked.get("features"), words, calibrate, **flags)
        flags = {"typical": model.typical is not None, "textbook": bool(model.info.get("textbook"))}
        if "chosen" in model.info:
            return cls(AUTO, None, {}, recipe.calibrate, **flags)
        words = {
            "settings": recipe.settings,
            **vars(recipe.selection),
            "unknown": recipe.unknown,
            **({} if recipe.weighting is None else {"weighting": recipe.weighting}),
        }
        return cls(recipe.asked_learner, None, words, recipe.calibrate, **flags)

    def with_flags(self, *, calibrate: bool, typical: bool) -> Question:
        """The question with what is asked beside it."""
        return replace(self, calibrate=self.calibrate and calibrate, typical=self.typical or typical)


def must_ask_nothing_else(**given: object) -> None:
    """Refuse what the question of another model says already."""
    for name, value in given.items():
        if value:
            raise InputError(
                "a model that is like another has its learner, its features and its words"
                + ("" if name in ("learner", "features", "words") else f": `{name}` has no part in it"),
                hint="leave out one of the two",
            )


def _plain(value: object) -> object:
    """A setting, a learner, or several, as plain data."""
    if isinstance(value, TextSettings | Weighting):
        return value.as_dict()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Sequence | set | frozenset):
        return [_plain(each) for each in (sorted(value) if isinstance(value, set | frozenset) else value)]
    return registry.as_dict(registry.resolved(value))


def _learner(plain: object) -> object:
    if isinstance(plain, list):
        return [_learner(each) for each in plain]
    return registry.of_dict(plain) if isinstance(plain, dict) else plain


def _word(name: str, plain: object) -> object:
    kinds = {"settings": TextSettings, "weighting": Weighting}
    if name in kinds and isinstance(plain, dict):
        return kinds[name](**plain)
    return tuple(plain) if isinstance(plain, list) else plain


def train_again(like: TextModel, plan: Plan, observer: Observer) -> TextModel:
    """The model that training with a plan makes of the documents of another."""
    kept = like.corpus
    if kept is None:
        raise Unsupported(
            "the model has no documents for model selection",
            hint="give data: `textodds train DATA --like MODEL`; or train it again, and keep its documents",
        )
    recipe, choice, without = _chosen(kept, plan, observer)
    recipe = replace(recipe, calibrate=plan.calibrate)
    must_know_typical(recipe, plan.typical)
    corpus = kept.cut_by(recipe.settings)
    if is_of_documents(recipe):
        model = fit_corpus(corpus, recipe, {}, threads=plan.threads, memory=plan.bytes, observer=observer)
    else:
        model = _of_counts(corpus, recipe, plan)
    if not plan.documents:
        model.corpus = None
    known = {"source": like.info.get("source"), "documents": None, "rejected": like.info.get("rejected", 0)}
    model.info = known | model.info
    model.info |= {name: like.info[name] for name in ("columns", "reading") if name in like.info}
    if choice is not None:
        model.info["chosen"] = choice.report()
    if without:
        model.info["not_decided"] = without
    if plan.textbook:
        model.info["textbook"] = True
    model.document_ids = like.document_ids
    return model


def _chosen(kept: Corpus, plan: Plan, observer: Observer) -> tuple[Recipe, Choice | None, list[str]]:
    """The recipe that the kept texts are best for; how it was chosen, and what could not be tried."""
    wanted = plan.pins or plan.recipe()
    if isinstance(wanted, Recipe) and not wanted.is_open:
        return wanted, None, []
    found = candidates(wanted) if isinstance(wanted, Pins) else open_candidates(wanted)
    entrants = [one for one in found if kept.decides(one.recipe.settings)]
    without = list(dict.fromkeys(one.features for one in found if one not in entrants))
    pool = Pool.of(kept.batches())
    choice = chosen(pool, [_rereading(one) for one in entrants], **plan.limits(observer))
    if choice is not None:
        settings = kept.prepared_like(choice.recipe.settings)
        return replace(choice.recipe, settings=settings), choice, without
    recipe = usual(wanted) if isinstance(wanted, Pins) else replace(wanted, is_open=False)
    return (recipe if kept.decides(recipe.settings) else entrants[0].recipe), None, without


def _rereading(candidate: Candidate) -> Candidate:
    """A candidate for texts that are prepared already."""
    recipe = candidate.recipe
    settings = replace(recipe.settings, lower=False, normal_form=None, strip_accents=False)
    worth = {} if recipe.weighting is None else {"weighting": recipe.weighting}
    words = {"settings": settings, **vars(recipe.selection), "unknown": recipe.unknown, **worth}
    return replace(candidate, words=words)


def _of_counts(corpus: Corpus, recipe: Recipe, plan: Plan) -> TextModel:
    """A model of the counts of kept documents."""
    again = replace(recipe, settings=corpus.reread)
    tally = Tally.count(corpus.batches(), settings=corpus.reread, threads=plan.threads, memory=plan.bytes)
    sample = corpus.sample()
    model = fit_counts(tally, again, sample, {"documents": tally.n_documents}, threads=plan.threads)
    if plan.typical:
        model.typical = model.typical_of(sample[:TYPICAL], seen=True)
    settled = replace(model.recipe, settings=recipe.settings)
    model._install(settled, model.vocabulary, model.form, model.scale)
    model.corpus = corpus
    return model
