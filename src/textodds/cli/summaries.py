"""A model, how it was chosen and how good it is, for people to read."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textodds.cli.output import (
    aligned,
    counted,
    faint,
    one_line,
    size,
    strong,
    styled,
    table,
    warning,
    weight,
    width,
)
from textodds.judge.baseline import accuracy_sentence
from textodds.learn.held_out import FEWEST, FEWEST_TO_CHOOSE
from textodds.model.explain import visible

if TYPE_CHECKING:
    from textodds.judge.evaluation import Evaluation, Interval
    from textodds.model.file import AnyModel
    from textodds.model.tables.table_model import TableModel

UNIT = "rows are weighted: one use in a text is a part of a unit, and adds that part (see `explain`)"
CLASSES = 20  # that are listed, and of which words are shown
MEASURED_CLASSES = 40  # whose precision and recall are listed
MATRIX_CLASSES = 12  # more columns do not fit on a terminal
CONFUSIONS = 20
NAMED = 4  # candidates there was no time for that are named
Z = 1.96  # a 95 % interval

Plain = dict[str, Any]  # a part of what `inspect --json` prints

# What a file has in the place of something else is not shown.
STRANGE = (LookupError, TypeError, ValueError)


def largest(documents: Mapping[str, float] | Mapping[str, float | None], most: int = CLASSES) -> list[str]:
    """The classes that are listed: those of the most documents, the largest first."""
    return sorted(documents, key=lambda label: -(documents[label] or 0))[:most]


def extent(model: AnyModel) -> str:
    """What a model rests on and how large it is, in words."""
    documents = f"{weight(model.basis.n_documents)} {model.rests_on}"
    K, is_of_several = len(model.classes_), getattr(model, "several_labels", False)
    classes = f"with {counted(K, 'label')}" if is_of_several else f"in {counted(K, 'class')}"
    return f"{documents} {classes}, {counted(*model.extent)}"


def text_model_lines(about: Plain) -> Iterator[str]:
    """Lines that show what `inspect` found of a model of texts, which is also what it gives as JSON."""
    yield from _fact_lines(about, _text_facts(about))
    documents = about["classes"]
    if all(number is not None for number in documents.values()):
        yield from class_lines(documents, "documents")
    else:
        yield from (f"  {one_line(label)}" for label in largest(documents))
        yield from smaller_classes(len(documents), CLASSES)
    if any(about["top_words"].values()):
        yield ""
        adds = (
            "what one use adds to its log-odds"
            if about["log_odds_per"] == "use"
            else "their log-odds per unit"
        )
        yield f"{nouns(about)} with the most evidence for each class, and {adds}"
        yield from top_word_lines(about["top_words"])
    for word in about["asked"]:
        yield ""
        yield from _word_lines(word, about)
    if about["log_odds_per"] == "unit" and (about["asked"] or any(about["top_words"].values())):
        yield ""
        yield faint(UNIT)


def nouns(about: Plain) -> str:
    """What the words of a model are called: features, where they are letters, pairs or hash buckets."""
    return "words" if about["has_words"] else "features"


def log_odds_column(about: Plain) -> str:
    """The head of a column of log-odds: of one use as in `explain`, or of one unit of what is weighed."""
    return "log-odds" if about["log_odds_per"] == "use" else "log-odds per unit"


def table_model_lines(about: Plain, choices: list[str]) -> Iterator[str]:
    """Lines that show what `inspect` found of a model of tables, and what was chosen for its columns."""
    yield from _fact_lines(about, _table_facts(about))
    yield from class_lines(about["classes"], "rows")
    yield ""
    yield from choices


def _fact_lines(about: Plain, facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield strong(about["model"])
    yield from aligned([[faint(name), one_line(value)] for name, value in facts], left=2)
    yield ""


def class_lines(documents: Mapping[str, float], noun: str, most: int = CLASSES) -> Iterator[str]:
    """The largest classes with their documents, of which there are so many of what ``noun`` says."""
    total = sum(documents.values())
    rows = (
        [one_line(label), weight(documents[label]), f"{documents[label] / total:.1%}"]
        for label in largest(documents, most)
    )
    yield from table(("class", noun, "share"), rows)
    yield from smaller_classes(len(documents), most)


def smaller_classes(n: int, shown: int, *more: str) -> Iterator[str]:
    """How many of ``n`` classes are not shown, if some are not."""
    if n > shown:
        yield faint("".join([f"  and {counted(n - shown, 'smaller class')}", *more]))


def _text_facts(about: Plain) -> Iterator[tuple[str, str]]:
    recipe, settings = about["recipe"], about["recipe"]["settings"]
    yield "classes", f"{len(about['classes']):,}"
    if about["documents"] is not None:
        yield "documents", weight(about["documents"])
    known = about["words_counted"] not in (None, about["words"])
    yield nouns(about), f"{about['words']:,}" + (f", of {about['words_counted']:,} counted" if known else "")
    learner, *rest = recipe_facts(recipe, settings)
    yield from (learner, ("parameters", _parameters(about)), *rest)
    yield from (("fit", line) for line in fit_lines(about["fit"], settings))
    yield from (("chosen", line) for line in selection_headline(about.get("chosen")))
    yield from (("held out", line) for line in held_out_lines(about.get("left_out")))
    yield from calibration_facts(about)
    yield "selection", f"{_choices(recipe['selection'].items())}, unknown {recipe['unknown']}"
    yield from file_facts(about)
    if about["fingerprint"]:
        yield "fingerprint", about["fingerprint"][:16] + "…"
    yield from _quality(about["quality"])


def recipe_facts(recipe: Plain, settings: Plain) -> Iterator[tuple[str, str]]:
    """The learner and how texts are cut and weighted, in words."""
    name = recipe["learner"]["learner"]
    learner = {key: value for key, value in recipe["learner"].items() if key != "learner"}
    yield "learner", f"{name} ({_choices((k, v) for k, v in learner.items() if v is not False)})"
    yield "text", _choices(_text_choices(settings))
    if (weighting := recipe.get("weighting")) is not None:
        yield "weighting", ", ".join(_choice(*pair) for pair in weighting.items())


def file_facts(about: Plain) -> Iterator[tuple[str, str]]:
    """The file of a model of texts, what it holds and what it was learned from, in words."""
    counts = "with" if about["counts"] else "without"
    documents = "with" if about["keeps_documents"] else "without"
    yield "file", f"{_file(about)}, {counts} counts, {documents} documents"
    yield from _checked(about)
    if about["source"]:
        rejected = f", {counted(about['rejected'], 'row')} skipped" if about["rejected"] else ""
        yield "data", about["source"] + rejected


def calibration_facts(about: Plain) -> Iterator[tuple[str, str]]:
    """Why probabilities are not those of a calibration on the present documents, if so."""
    if about.get("earlier_calibration"):
        yield "calibration", "from before the model changed; it kept no documents to recalibrate on"
    yield from (("calibration", line) for line in uncalibrated_lines(about.get("uncalibrated")))


def _parameters(about: Plain) -> str:
    return f"{about['parameters']['n']:,} = {about['parameters']['formula']}"


def _file(about: Plain) -> str:
    return f"{size(about['bytes'])}, format {about['format']}"


def _checked(about: Plain) -> Iterator[tuple[str, str]]:
    """What came of `--check`; of a damaged file nothing is shown at all."""
    if about["checked"]:
        without = (
            "consistent, but written without checksums by an earlier version; `learn` or `merge` adds them"
        )
        yield "checked", "every byte is as it was written" if about["checksums"] else without


def _table_facts(about: Plain) -> Iterator[tuple[str, str]]:
    yield "classes", f"{len(about['classes']):,}"
    yield "rows", weight(about["documents"])
    yield "columns", f"{about['columns']:,}"
    yield "learner", about["recipe"]["learner"]
    yield "parameters", _parameters(about)
    yield from calibration_facts(about)
    rows = "with" if about["keeps_documents"] else "without"
    yield "file", f"{_file(about)}, {rows} rows"
    yield from _checked(about)
    if isinstance(about["source"], str):
        yield "data", about["source"]
    yield from _quality(about["quality"])


def fit_lines(fit: Any, settings: Plain) -> Iterator[str]:
    """How an optimiser found the weights, in words."""
    try:
        kind = "letters in words" if settings["unit"] == "characters-in-words" else settings["unit"]
        terms = f"{kind} {settings['ngrams'][0]}-{settings['ngrams'][1]}"
        if settings.get("characters"):
            terms += " and characters {}-{} of words".format(*settings["characters"])
        method = fit["method"]
        chosen = f", chosen on {fit['held_out']:,} held-out texts" if fit.get("held_out") else ""
        if method == "stream":
            loss = fit.get("log_loss_before_learning")
            told = "texts came class by class"
            if loss is not None:
                told = f"mean log-loss of texts before they were learned {loss:.4f}"
            yield f"{terms}; one pass, {told}"
        elif name := next((each for each in ("shrinkage", "smoothing") if each in fit), None):
            level = f"{name} {fit[name]:g} and temperature {fit['temperature']:.3g}"
            yield f"{terms}; {level}{chosen} ({method})"
        else:
            gap, norm = fit["gap"], fit.get("gradient_norm")
            proof = f"within {gap:.1e} of the optimum" if gap is not None else f"gradient {norm:.1e}"
            passes = f"{proof} after {fit['steps']} passes ({method})"
            yield f"{terms}; C = {float(fit['C']):.3g}{chosen}; {passes}"
    except STRANGE:
        return


def held_out_lines(left_out: Any, noun: str = "texts") -> Iterator[str]:
    """How a model does on texts or rows of training that were left out, in words."""
    try:
        how = "left out one by one" if "temperature" in left_out and "folds" not in left_out else "held out"
        told = f"{how}, {left_out['n']:,} {noun}: {accuracy_sentence(left_out)}"
        told += f", log-loss {left_out['log_loss']:.4f}"
        if "log_loss_before" in left_out:
            told += f" ({left_out['log_loss_before']:.4f} before calibration)"
        yield told
    except STRANGE:
        return


def why_not_chosen(n: int) -> str:
    """Why no learner was chosen from so many texts, and which was taken."""
    if n < FEWEST_TO_CHOOSE:
        return (
            f"the default learner: model selection needs {FEWEST_TO_CHOOSE} texts, got {counted(n, 'text')}"
        )
    return "the default learner: too few classes have texts to hold out for model selection"


def unmeasured_lines(n: int, noun: str) -> Iterator[str]:
    """That nothing is known of how good a model of n texts or rows is, and what to do."""
    more = f", or at least {FEWEST} to learn from" if n < FEWEST else ""
    yield f"not measured: give held-out {noun}s (`--test DATA`){more}"


def uncalibrated_lines(reason: object) -> Iterator[str]:
    """Why probabilities are those of Bayes' rule though calibration was wanted, if so."""
    if isinstance(reason, str):
        yield f"not calibrated: {one_line(reason)}"


def _quality(plain: Any) -> Iterator[tuple[str, str]]:
    """Measured quality in words."""
    try:
        told = accuracy_sentence(plain, "({:.4f} to {:.4f})".format(*plain["accuracy_interval"]))
        yield "quality", f"{told}, on {counted(plain['n'], 'row')} of {plain['source']}"
    except STRANGE:
        return


def _text_choices(settings: Plain) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if name in ("stop_words", "vocabulary"):
            yield name, len(value) if value else None
        elif name == "fields":
            yield "columns", " and ".join(value)
        elif (name != "hash_seed" or settings["hash_bits"] is not None) and (
            value is not False or name == "lower"
        ):
            yield name, value


def _choices(pairs: Iterable[tuple[str, object]]) -> str:
    """Choices in words, those left out that are None."""
    return ", ".join(_choice(*pair) for pair in pairs if pair[1] is not None)


def _choice(name: str, value: object) -> str:
    name = name.replace("_", " ")
    if isinstance(value, bool):
        return name if value else f"no {name}"
    if isinstance(value, dict):
        return f"{name} {', '.join(f'{label}={share:g}' for label, share in value.items())}"
    if isinstance(value, (list, tuple)):
        return f"{name} {'-'.join(map(str, value)) if len(value) == 2 else f'of {len(value):,} values'}"
    return f"{name} {value}"  # of 1 and 1.0, one text and all texts, the point must stay


def top_word_lines(top_words: dict[str, list[Plain]]) -> Iterator[str]:
    """One paragraph for each class, wrapped between a word and the next."""
    margin = max(width(one_line(label)) for label in top_words) + 5
    room = shutil.get_terminal_size().columns
    for label, words in top_words.items():
        line = "  " + one_line(label) + " " * (margin - 2 - width(one_line(label)))
        for entry in words:
            shown = f"{one_line(visible(entry['word']))} {faint(format(entry['log_odds'], '+.2f'))}   "
            if width(line) + width(shown.rstrip()) > room and width(line) > margin:
                yield line.rstrip()
                line = " " * margin
            line += shown
        yield line.rstrip()


def _word_lines(word: Plain, about: Plain) -> Iterator[str]:
    if not word["known"]:
        yield f"`{one_line(word['word'])}` is not among the {nouns(about)} of the model"
        return
    by_class = word["by_class"]
    shown = sorted(by_class, key=lambda label: -by_class[label]["log_odds"])[:CLASSES]
    head = ("count", "weight", log_odds_column(about))
    rows = [[strong(one_line(visible(word["word"]))), *map(faint, head)]]
    for label in shown:
        entry = by_class[label]
        count = "–" if entry["count"] is None else weight(entry["count"])
        rows.append([one_line(label), count, f"{entry['weight']:.4f}", f"{entry['log_odds']:+.4f}"])
    yield from aligned(rows)
    if len(by_class) > len(shown):
        yield faint(f"  and {counted(len(by_class) - len(shown), 'other class')}, which `--json` lists")


def selection_lines(selection: Any) -> Iterator[str]:
    """Which candidates were tried, which won, by how much, and how sure that is."""
    try:
        rows = [_candidate(line, is_first=number == 0) for number, line in enumerate(selection["tried"])]
        if "largest_class" in selection:  # a file of before has none
            alone = f"{selection['largest_class']['accuracy']:.2%}"
            rows.append([faint("largest class alone"), "", faint(alone), "", "", ""])
        headline = list(selection_headline(selection))
        late, large = (_names(selection.get(why, [])) for why in ("no_time", "no_room"))
    except STRANGE:
        return
    yield strong(headline[0])
    yield from table(("tried", "log-loss", "accuracy", "behind by", "sure", "texts"), rows)
    if late:
        yield faint(f"  no time for {late} (a larger `--budget` has more)")
    if large:
        yield faint(f"  no room in memory for {large}")


def selection_headline(selection: Any) -> Iterator[str]:
    """The same in a line."""
    try:
        tried, n = selection["tried"], selection["held_out"]
        yield f"{one_line(tried[0]['name'])}: best of {len(tried)} on {n:,} held-out texts"
    except STRANGE:
        return


def _names(names: list[str]) -> str:
    """Names in a row, the last of many only counted."""
    shown = [one_line(name) for name in names]
    if len(shown) > NAMED:
        shown[NAMED - 1 :] = [f"{len(shown) - NAMED + 1} more"]
    return "; ".join(shown)


def _candidate(line: Plain, *, is_first: bool) -> list[str]:
    name, behind, sure = one_line(line["name"]), "", ""
    if is_first:
        name, behind = strong(name), "chosen"
    elif "behind" in line:
        behind, sure = f"{line['behind']:.4f} ± {Z * line['error']:.4f}", f"{line['sure']:.0%}"
    return [name, f"{line['log_loss']:.4f}", f"{line['accuracy']:.2%}", behind, sure, f"{line['texts']:,}"]


def measure_lines(*measures: tuple[str, float, Interval | None]) -> list[str]:
    """Measures with their intervals, where they have one."""
    return aligned(
        [
            [name, strong(f"{value:.4f}"), "" if ends is None else faint("{:.4f} to {:.4f}".format(*ends))]
            for name, value, ends in measures
        ]
    )


def evaluation_headline(evaluation: Evaluation) -> list[str]:
    """The measures of an evaluation with their intervals, and what the largest class alone would get."""
    return measure_lines(
        ("accuracy", evaluation.accuracy, evaluation.accuracy_interval),
        ("largest class alone", evaluation.baseline.accuracy, None),
        ("macro-F1", evaluation.macro_f1, evaluation.macro_f1_interval),
        ("log-loss", evaluation.log_loss, evaluation.log_loss_interval),
    )


def evaluation_lines(evaluation: Evaluation) -> Iterator[str]:
    """All that was measured."""
    yield from evaluation_headline(evaluation)
    yield faint(f"  on {counted(evaluation.n, 'row')}; ranges are 95 % intervals")
    if not math.isnan(evaluation.calibration_error):
        yield faint(
            f"  calibration error {evaluation.calibration_error:.4f} "
            "(mean gap between stated probability and accuracy)"
        )
    if len(levels := evaluation.by_level()) > 1:
        told = ", ".join(f"{each.level}: {each.accuracy:.4f}" for each in levels)
        yield faint(f"  accuracy by level of the labels: {told}")
    yield from (f"  {warning(each)}" for each in evaluation.warnings())
    yield ""
    yield from _by_class(evaluation)
    yield ""
    yield from _matrix(evaluation) if len(evaluation.labels) <= MATRIX_CLASSES else _confusions(evaluation)
    if evaluation.no_evidence:
        yield ""
        yield f"  {counted(evaluation.no_evidence, 'row')} without a known word"
    if evaluation.unknown_labels:
        yield ""
        yield from unknown_label_lines(evaluation)


def unknown_label_lines(evaluation: Evaluation) -> Iterator[str]:
    """What became of rows with labels that the model does not have; nothing if there are none."""
    if unknown := evaluation.unknown_labels:
        named = ", ".join(f"{one_line(label)} ({rows:,})" for label, rows in unknown.items())
        yield f"  {counted(sum(unknown.values()), 'row')} with labels that the model does not have: {named}"
        yield "  they count as wrong in accuracy and macro-F1, and are left out of the log-loss"


def _by_class(evaluation: Evaluation) -> Iterator[str]:
    measures = evaluation.by_class()
    rows: list[Sequence[str]] = []
    for label in sorted(sorted(measures, key=lambda label: -measures[label]["rows"])[:MEASURED_CLASSES]):
        parts = [f"{measures[label][name]:.4f}" for name in ("precision", "recall", "f1")]
        rows.append([one_line(label), *parts, f"{measures[label]['rows']:,}"])
    yield from table(("class", "precision", "recall", "F1", "rows"), rows)
    yield from smaller_classes(len(measures), len(rows), ", which `--json` lists")


def _matrix(evaluation: Evaluation) -> list[str]:
    labels = evaluation.labels
    rows = []
    for label in labels:
        cells = [(answer, evaluation.confusion.get((label, answer), 0)) for answer in labels]
        rows.append([one_line(label), *(_cell(n, right=answer == label) for answer, n in cells)])
    return table(["true label", *(f"→ {one_line(label)}" for label in labels)], rows)


def _cell(n: int, *, right: bool) -> str:
    return faint("·") if n == 0 else styled(f"{n:,}", fg="green" if right else "red")


def _confusions(evaluation: Evaluation) -> list[str]:
    wrong = [(-rows, pair) for pair, rows in evaluation.confusion.items() if pair[0] != pair[1]]
    if not wrong:
        return ["  no errors"]
    rows = [
        [one_line(label), one_line(answer), f"{-n:,}"] for n, (label, answer) in sorted(wrong)[:CONFUSIONS]
    ]
    return table(("true label", "answered", "rows"), rows, left=2)


def column_lines(model: TableModel) -> list[str]:
    """A table of what was chosen for each column."""
    rows = [
        [one_line(choice.column), choice.conditional, faint(choice.why)] for choice in model.recipe.choices
    ]
    return table(("column", "taken for", "because"), rows, left=3)


def unlabelled_lines(found: dict[str, Any], neighbours: dict[str, Any] | None) -> Iterator[str]:
    """What was learned from texts without labels, and what else was tried."""
    about = f"{weight(found['documents'])} unlabelled texts of {found['source']}"
    if neighbours is not None:
        strength = f"a prior of strength {neighbours['strength']:g}"
        yield f"  {about}: {neighbours['words']:,} words with {neighbours['size']} numbers each, {strength}"
    else:
        settled = "settled after" if found["converged"] else "had not settled after"
        yield f"  {about} with estimated labels: EM {settled} {found['iterations']} steps"
    for name, loss in found["tried"] if len(found.get("tried", ())) > 1 else ():
        yield faint(f"  tried {name}: held-out log-loss {loss:.4f}")


def vector_lines(found: dict[str, Any]) -> Iterator[str]:
    """What was learned from a file of word vectors, and how strong its prior is."""
    about = (
        f"  vectors of {found['source']}: {found['words']:,} words of the texts, {found['size']} numbers each"
    )
    if found["strength"]:
        yield f"{about}; a prior of strength {found['strength']:g}, {found['new']:,} more words"
    else:
        yield f"{about}; left out, since held-out texts are more likely without them"
    for strength, loss in found["tried"]:
        yield faint(f"  tried strength {strength:g}: held-out log-loss {loss:.4f}")
