"""What is asked and answered about labelling, as types."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from textodds.serve.protocol.messages import NewLabel, Probability, Request, Version

By = Annotated[
    str, Meta(max_length=100, description="Who labels; with tokens, by default the name of the token.")
]
TextId = Annotated[str, Meta(max_length=100, description="The id of a text, which follows from its content.")]
Order = Annotated[
    Literal["useful", "doubt", "random", "second", "check", "search"],
    Meta(
        description="The text that teaches most, the one most in doubt, any; for a `second` opinion one that "
        "another person has labelled; the next of a `check`; `search` for the one with `id`."
    ),
]
Share = tuple[Probability, Probability]


class LabellingQuery(Struct, forbid_unknown_fields=True):
    """Who asks."""

    by: By = ""


class FileQuery(Struct, forbid_unknown_fields=True):
    """What the file is called, and where its texts stand."""

    name: Annotated[str, Meta(max_length=500, description="Its name, whose ending tells its format.")] = (
        "texts.csv"
    )
    text: Annotated[str | None, Meta(description="The column of texts; by default it is found.")] = None


class SearchQuery(Struct, forbid_unknown_fields=True):
    """Words to look for."""

    q: Annotated[str, Meta(max_length=200, description="Words that a text must have, in any order.")]
    limit: Annotated[int, Meta(ge=1, le=200)] = 30


class HistoryQuery(Struct, forbid_unknown_fields=True):
    """How many acts."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


class NextRequest(Request):
    """Who wants the next text, and which; with ``id`` just that one."""

    by: By = ""
    order: Order = "useful"
    check: Annotated[int | None, Meta(description="The number of a check, with the order `check`.")] = None
    id: TextId | None = None


class LabelRequest(Request):
    """A label for a text, or null to take it away; ``alike`` also for texts that are nearly the same."""

    id: TextId
    label: NewLabel | None
    by: By = ""
    alike: bool = False
    second: Annotated[bool, Meta(description="Whether it is a second opinion, which changes no label.")] = (
        False
    )


class TextRequest(Request):
    """A text."""

    id: TextId
    by: By = ""


class PersonRequest(Request):
    """Who acts."""

    by: By = ""


class ClassRequest(Request):
    """A class: one that is to be added, or whose precision is to be estimated."""

    label: NewLabel
    by: By = ""


class BackRequest(Request):
    """The act after which labels were as they shall be again; 0 for before the first."""

    act: Annotated[int, Meta(ge=0)]
    by: By = ""


class RemoveRequest(Request):
    """A file whose texts are to be taken away."""

    file: Annotated[str, Meta(max_length=100, description="Its `digest`.")]
    by: By = ""


class LabelledFile(Struct):
    """A file of texts: its rows, how many different texts of it wait or are labelled here, and where from."""

    digest: str
    name: str
    rows: int
    texts: int
    encoding: str | None
    column: str | None
    columns: list[str]


class FileAnswer(Struct):
    """A file that was read: how many of its texts are new here."""

    file: LabelledFile
    new: int
    labelled: Annotated[int, Meta(description="Texts of it that have a label already.")]
    left_out: Annotated[int, Meta(description="Texts beyond the number that is kept.")]


class ClassCount(Struct):
    """A class, and how many texts have it as their label."""

    label: str
    texts: int


class Person(Struct):
    """Somebody, and how many of the labels that stand are theirs."""

    by: str
    labels: int


class Guesses(Struct):
    """How often the model's guess was the label that was then given; with an interval from 10 on."""

    n: int
    right: int
    interval: Share | None


class LabellingState(Struct):
    """Where labelling stands."""

    files: list[LabelledFile]
    texts: int
    labelled: int
    remaining: Annotated[int, Meta(description="Texts without a label that you have not skipped.")]
    classes: list[ClassCount]
    people: list[Person]
    contradictions: int
    guesses: Annotated[Guesses, Meta(description="Of texts that came at random: a fair estimate.")]
    undo: Annotated[str | None, Meta(description="The kind of act that you would take back; null if none.")]
    cannot_learn: str | None
    new: Annotated[bool, Meta(description="Whether the model is made of these labels alone.")]
    version: Version


class Guess(Struct):
    """What the model says of a text."""

    label: str
    probability: Probability
    probabilities: dict[str, Probability]


class ShownText(Struct, kw_only=True):
    """A text, and its label if it has one."""

    id: str
    text: str
    row: int
    label: str | None = None
    by: str = ""


class NextText(Struct, kw_only=True):
    """The next text, what the model says of it, and texts like it; null if there is none left."""

    text: ShownText | None
    guess: Annotated[Guess | None, Meta(description="Null while the model knows less than two classes.")] = (
        None
    )
    alike: Annotated[list[ShownText], Meta(description="Without a label, and the same or nearly.")] = []
    like_labelled: Annotated[list[ShownText], Meta(description="The same or nearly, with a label.")] = []
    order: str = ""
    remaining: int = 0


class ActAnswer(Struct, kw_only=True):
    """An act, which is on disk: its number, and the texts whose labels it has changed."""

    act: int
    kind: str
    text: str
    changed: list[str]
    version: Version


class HistoryAct(Struct, kw_only=True):
    """An act: who did what, when, to which text."""

    n: int
    at: str
    by: str
    kind: str
    id: str
    text: Annotated[str | None, Meta(description="Its beginning; null if its file was taken away.")]
    label: str | None
    now: Annotated[str | None, Meta(description="The label that the text has now.")]
    changed: int
    undone: bool


class HistoryAnswer(Struct):
    """The acts, the latest first."""

    acts: list[HistoryAct]
    total: int


class SearchAnswer(Struct):
    """Texts that were found."""

    texts: list[ShownText]
    more: bool


class ContradictionsAnswer(Struct):
    """Texts that are the same or nearly under different labels, side by side."""

    groups: list[list[ShownText]]


class CurvePoint(Struct):
    """Of so many labels: the share that the model of all others gets right, and that of the largest class."""

    labels: int
    accuracy: Probability
    interval: Share
    largest_class: Probability


class CheckResult(Struct, kw_only=True):
    """The precision of a class, by texts drawn from those that the model gave it to."""

    check: int
    label: str
    of: int
    answered: int
    right: int
    interval: Share | None
    at: str


class ProgressAnswer(Struct, kw_only=True):
    """How good the model of the labels is; null where that cannot be said, with the reason."""

    labels: int
    accuracy: CurvePoint | None
    too_few: Annotated[str | None, Meta(description="Why there is no estimate.")] = None
    curve: list[CurvePoint] = []
    checks: list[CheckResult] = []
    version: Version | UnsetType = UNSET
