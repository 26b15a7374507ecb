"""A model, for people to read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

from textodds.cli.chosen import chosen_in_short
from textodds.cli.output import aligned, counted, faint, one_line, size, strong, weight, width

CLASSES = 20  # that are listed, and of which words are shown


def largest(documents: dict[str, float | None]) -> list[str]:
    """The classes, that of the most documents first."""
    return sorted(documents, key=lambda label: -(documents[label] or 0))


def portrait(about: dict[str, Any]) -> Iterator[str]:
    """Lines that show what `inspect` found, which is also what it gives as JSON."""
    yield strong(about["model"])
    yield from aligned([[faint(name), one_line(value)] for name, value in _facts(about)], left=2)
    documents = about["classes"]
    shown = largest(documents)[:CLASSES]
    yield ""
    if about["counts"]:
        total = sum(documents.values())
        rows = [[faint("class"), faint("documents"), faint("share")]]
        rows += [
            [one_line(label), weight(documents[label]), f"{documents[label] / total:.1%}"] for label in shown
        ]
        yield from aligned(rows)
    else:
        yield from (f"  {one_line(label)}" for label in shown)
    if len(documents) > len(shown):
        yield faint(f"  and {counted(len(documents) - len(shown), 'smaller class')}")
    if any(about["top_words"].values()):
        yield ""
        yield "words that speak most for a class, with their log-odds"
        yield from _top_words(about["top_words"])
    for word in about["asked"]:
        yield ""
        yield from _word_table(word)


def table_portrait(about: dict[str, Any], choices: list[str]) -> Iterator[str]:
    """Lines that show a model of tables."""
    yield strong(about["model"])
    facts = [
        ("classes", f"{len(about['classes']):,}"),
        ("rows", weight(about["documents"])),
        ("columns", f"{about['columns']:,}"),
        ("learner", about["recipe"]["learner"]),
        ("file", f"{size(about['bytes'])}, format {about['format']}"),
    ]
    if isinstance(about["source"], str):
        facts.append(("data", about["source"]))
    if measured := _quality(about["quality"]):
        facts.append(("quality", measured))
    yield from aligned([[faint(name), one_line(value)] for name, value in facts], left=2)
    yield ""
    documents = about["classes"]
    total = sum(documents.values())
    rows = [[faint("class"), faint("rows"), faint("share")]]
    rows += [
        [one_line(label), weight(documents[label]), f"{documents[label] / total:.1%}"]
        for label in largest(documents)[:CLASSES]
    ]
    yield from aligned(rows)
    yield ""
    yield from choices


def _facts(about: dict[str, Any]) -> Iterator[tuple[str, str]]:
    recipe = about["recipe"]
    yield "classes", f"{len(about['classes']):,}"
    if about["documents"] is not None:
        yield "documents", weight(about["documents"])
    words = f"{about['words']:,}"
    if about["words_counted"] not in (None, about["words"]):
        words += f", of {about['words_counted']:,} counted"
    yield "words", words
    choices = {
        name: value
        for name, value in recipe["learner"].items()
        if name != "learner" and value is not False and value is not None
    }
    yield (
        "learner",
        f"{recipe['learner']['learner']} ({', '.join(_choice(*pair) for pair in choices.items())})",
    )
    yield "text", ", ".join(_choice(*pair) for pair in _text_choices(recipe["settings"]))
    if (weighting := recipe.get("weighting")) is not None:
        yield "weighting", ", ".join(_choice(*pair) for pair in weighting.items())
    for line in fit_lines(about["fit"], recipe["settings"]):
        yield "fit", line
    for line in chosen_in_short(about.get("chosen")):
        yield "chosen", line
    for line in held_out_lines(about.get("left_out")):
        yield "honest", line
    selection = ", ".join(_choice(*pair) for pair in recipe["selection"].items() if pair[1] is not None)
    yield "selection", f"{selection}, unknown {recipe['unknown']}"
    counts = "with" if about["counts"] else "without"
    yield "file", f"{size(about['bytes'])}, format {about['format']}, {counts} counts"
    if about["source"]:
        rejected = f", {counted(about['rejected'], 'row')} skipped" if about["rejected"] else ""
        yield "data", about["source"] + rejected
    if about["fingerprint"]:
        yield "fingerprint", about["fingerprint"][:16] + "…"
    if measured := _quality(about["quality"]):
        yield "quality", measured


def fit_lines(fit: Any, settings: dict[str, Any]) -> Iterator[str]:
    """How an optimiser found the weights, in words; nothing where the file has something else there."""
    try:
        kind = "letters in words" if settings["unit"] == "characters-in-words" else settings["unit"]
        terms = f"{kind} {settings['ngrams'][0]}-{settings['ngrams'][1]}"
        if settings.get("characters"):
            terms += " and characters {}-{} of words".format(*settings["characters"])
        if fit["method"] == "stream":
            loss = fit["log_loss_before_learning"]
            yield f"{terms}; one pass, mean log-loss of texts before they were learned {loss:.4f}"
            return
        chosen = f", chosen on {fit['held_out']:,} held-out texts" if fit.get("held_out") else ""
        if "shrinkage" in fit:
            yield (
                f"{terms}; shrinkage {fit['shrinkage']:g} and temperature {fit['temperature']:.3g}{chosen} "
                f"({fit['method']})"
            )
            return
        proof = (
            f"within {fit['gap']:.1e} of the optimum"
            if fit["gap"] is not None
            else f"gradient {fit['gradient_norm']:.1e}"
        )
        penalty = f"C = {float(fit['C']):.3g}{chosen}"
        yield f"{terms}; {penalty}; {proof} after {fit['steps']} passes ({fit['method']})"
    except (LookupError, TypeError, ValueError):
        return


def held_out_lines(left_out: Any) -> Iterator[str]:
    """How a model does on texts of training that were left out, in words."""
    try:
        how = "held out" if "folds" in left_out else "left out one by one"
        yield (
            f"{how}, {left_out['n']:,} texts: accuracy {left_out['accuracy']:.4f}, log-loss "
            f"{left_out['log_loss']:.4f} ({left_out['log_loss_before']:.4f} before calibration)"
        )
    except (LookupError, TypeError, ValueError):
        return


def _quality(plain: Any) -> str | None:
    """Measured quality in words; None where the file holds none, or something else in its place."""
    try:
        low, high = plain["accuracy_interval"]
        return (
            f"accuracy {plain['accuracy']:.4f} ({low:.4f} to {high:.4f}) "
            f"on {counted(plain['n'], 'row')} of {plain['source']}"
        )
    except (LookupError, TypeError, ValueError):
        return None


def _text_choices(settings: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if name in ("stop_words", "vocabulary"):
            if value:
                yield name, len(value)
        elif name == "hash_seed":
            if settings["hash_bits"] is not None:
                yield name, value
        elif value is not None and (value is not False or name == "lower"):
            yield name, value


def _choice(name: str, value: Any) -> str:
    name = name.replace("_", " ")
    if isinstance(value, bool):
        return name if value else f"no {name}"
    if isinstance(value, dict):
        return f"{name} {', '.join(f'{label}={share:g}' for label, share in value.items())}"
    if isinstance(value, (list, tuple)):
        return f"{name} {'-'.join(map(str, value)) if len(value) == 2 else f'of {len(value):,} values'}"
    return f"{name} {value}"  # of 1 and 1.0, one text and all texts, the point must stay


def _top_words(top_words: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """One paragraph for each class, wrapped between a word and the next."""
    margin = max(width(one_line(label)) for label in top_words) + 5
    room = shutil.get_terminal_size().columns
    for label, words in top_words.items():
        line = "  " + one_line(label) + " " * (margin - 2 - width(one_line(label)))
        for entry in words:
            shown = f"{one_line(entry['word'])} {faint(format(entry['log_odds'], '+.2f'))}   "
            if width(line) + width(shown.rstrip()) > room and width(line) > margin:
                yield line.rstrip()
                line = " " * margin
            line += shown
        yield line.rstrip()


def _word_table(word: dict[str, Any]) -> Iterator[str]:
    if not word["known"]:
        yield f"`{one_line(word['word'])}` is not among the words of the model"
        return
    by_class = word["by_class"]
    shown = sorted(by_class, key=lambda label: -by_class[label]["log_odds"])[:CLASSES]
    rows = [[strong(one_line(word["word"])), faint("count"), faint("weight"), faint("log-odds")]]
    for label in shown:
        entry = by_class[label]
        count = "–" if entry["count"] is None else weight(entry["count"])
        rows.append([one_line(label), count, f"{entry['weight']:.4f}", f"{entry['log_odds']:+.4f}"])
    yield from aligned(rows)
    if len(by_class) > len(shown):
        yield faint(f"  and {counted(len(by_class) - len(shown), 'other class')}, which `--json` lists")
