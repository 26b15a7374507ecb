"""What is asked and answered, as types: requests are checked against them, and OpenAPI is made of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Text = Annotated[str, Meta(description="A text to read.", examples=["win a free phone now"])]
Label = Annotated[str, Meta(description="A class of the model.", examples=["spam"])]
Named = Annotated[str, Meta(max_length=1000, description="A class of the model.", examples=["spam"])]
Probability = Annotated[float, Meta(ge=0, le=1)]
Id = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        description="The caller's id of a document: learned once, however often it is sent.",
        examples=["mail-4711"],
    ),
]
Version = Annotated[
    str,
    Meta(
        description="The model that answered: its file, then the last correction learned; `~` at the "
        "end while the full solution is to come.",
        examples=["3f2a9c1b04de.42"],
    ),
]


Price = Annotated[float, Meta(ge=0, le=1e12)]
Many = Annotated[int, Meta(ge=1, le=1_000_000)]


class Request(Struct, forbid_unknown_fields=True, kw_only=True):
    """A body that may have no other fields."""


class ChangeRequest(Request):
    """Documents to learn or to forget."""


NewLabel = Annotated[str, Meta(min_length=1, max_length=1000)]
NewLabels = Annotated[
    bool, Meta(description="Whether labels that the model does not have may become new classes.")
]


class Cost(Request):
    """What it costs to answer one class when another is the truth."""

    truth: Named
    answer: Named
    cost: Price


class DecisionOptions(Request, kw_only=True):
    """How to decide; with nothing given, for the most probable class under the model's own prior."""

    prior: Annotated[
        dict[Named, Annotated[float, Meta(gt=0, le=1e12)]] | None,
        Meta(
            description="How common each class is where the texts come from, in any unit; or the shares of "
            "some classes: the others have the rest, in their learned proportions.",
            examples=[{"ham": 0.9, "spam": 0.1}],
        ),
    ] = None
    costs: Annotated[
        list[Cost], Meta(description="Costs of mistakes; those not named cost 1.", max_length=10_000)
    ] = []
    abstain: Annotated[
        Price | None, Meta(description="What it costs not to answer: there is no answer where one is dearer.")
    ] = None
    top: Annotated[
        Many | None, Meta(description="Probabilities of so many classes, the most probable first.")
    ] = None


class ClassifyRequest(DecisionOptions, kw_only=True):
    """One text."""

    text: Text


class BatchRequest(DecisionOptions, kw_only=True):
    """Several texts, which are decided alike."""

    texts: list[Text]


class Answer(Struct, kw_only=True, gc=False):
    """What the model says of one text.

    ``probabilities`` are those of all classes, or of the ``top`` most probable; in a batch they are there
    only where ``top`` was given. ``evidence`` is the number of terms that it knows: with 0 the prior alone
    has answered. ``action`` and ``expected_loss`` are there where costs or a price of not answering were
    given; ``action`` is null where not answering is cheapest.
    """

    label: Label
    probability: Probability
    evidence: int
    probabilities: dict[str, Probability] | UnsetType = UNSET
    action: Label | UnsetType | None = UNSET
    expected_loss: float | UnsetType = UNSET


class ClassifyAnswer(Answer, kw_only=True, gc=False):
    """The answer to one text; ``rule`` says in words how two classes are decided between, if by costs."""

    rule: str | UnsetType = UNSET
    version: Version


class BatchAnswer(Struct, kw_only=True):
    """The answers, in the order of the texts."""

    answers: list[Answer]
    rule: str | UnsetType = UNSET
    version: Version


Parts = Annotated[
    bool, Meta(description="List features too: pairs of words, letters. Words have the sums of their shares.")
]


class FlipRequest(Request):
    """A text, and the classes that are to change places."""

    text: Text
    label: Annotated[Named | None, Meta(description="By default the most probable class.")] = None
    rival: Annotated[
        Named | None, Meta(description="By default the runner-up; `others` for all other classes together.")
    ] = None


class ExplainRequest(FlipRequest):
    """A text, and the classes whose odds are to be explained."""

    parts: Parts = False


class WordOdds(Struct, gc=False):
    """What all occurrences of a word or feature add to the log-odds."""

    word: str
    count: float
    log_odds: float


class Place(Struct, gc=False):
    """Characters ``start`` to ``end`` of the text (code points) and what they add."""

    start: int
    end: int
    word: str
    log_odds: float
    known: bool


class Flip(Struct):
    """Words without which the answer would be another; ``exact`` if no fewer would do."""

    words: list[str]
    label_after: str
    probability_after: float
    exact: bool


class FlipAnswer(Struct):
    """The fewest words that were found; null if no words would change the answer."""

    flip: Flip | None
    version: Version


class OddsSum(Struct, kw_only=True):
    """What every sum of log-odds has: what it is for, and all of its terms but those of words or columns."""

    label: Label
    rival: str
    probability: Probability
    log_odds: float
    start: float
    prior: float
    intercept: float
    calibration: float | None
    absent: float | None
    remainder: float


class ExplainAnswer(OddsSum, kw_only=True):
    """A sum: ``start``, every word's ``log_odds`` and ``remainder`` add up to ``log_odds``.

    ``start`` is what is believed before any word is read: ``prior``, the model's own ``intercept``, what
    ``calibration`` adds to them (null where that is nothing), and ``absent`` words where they count. Where
    features are not words (``has_words``), ``words`` has their sums by the words they lie in, and ``parts``,
    if asked for, the features.
    """

    words: list[WordOdds]
    has_words: bool
    parts: list[WordOdds] | UnsetType = UNSET
    unknown: int
    unknown_words: list[str]
    places: list[Place]
    version: Version


class LabelledDocument(Request, kw_only=True):
    """The id and the right label of a document."""

    id: Id | None = None
    label: NewLabel


class Document(LabelledDocument, kw_only=True):
    """A text under its right label. Without an id it is given one, which the answer tells."""

    text: Text


class LearnDocuments(ChangeRequest, kw_only=True):
    """Documents to learn, of texts or of rows."""

    new_labels: NewLabels = False


class LearnRequest(LearnDocuments, kw_only=True):
    """Documents to learn: all of them, or, on an error, none."""

    documents: Annotated[list[Document], Meta(min_length=1)]


class ForgottenDocument(Request, kw_only=True):
    """The id of a document to forget, and its label, if that must be said."""

    id: Id
    label: Named | None = None


class Forgotten(ForgottenDocument, kw_only=True):
    """A document to forget. What was learned here is known by its id; else text and label are needed too."""

    text: Text | None = None


class ForgetRequest(ChangeRequest):
    """Documents to forget: all of them, or, on an error, none."""

    documents: Annotated[list[Forgotten], Meta(min_length=1)]


class Changed(Struct):
    """Whether a document has changed the model: not, if that was done before."""

    id: str
    changed: bool


class ChangeAnswer(Struct):
    """What became of each document. All is on disk; the next answer takes it into account."""

    documents: list[Changed]
    version: Version


class ChangeEntry(Struct, kw_only=True):
    """What an entry of the journal says of any document."""

    id: str
    change: Literal["learned", "forgotten"]
    at: Annotated[str, Meta(description="When, in UTC.", examples=["2026-11-16T14:03:21Z"])]
    stands: bool


class CorrectionEntry(ChangeEntry, kw_only=True):
    """What it says of a document with one label."""

    label: str


class Correction(CorrectionEntry, kw_only=True):
    """An entry of the journal; ``stands`` if it has not been undone or replaced since."""

    text: Annotated[
        str | None, Meta(description="Its beginning; null once the text of a forgotten document is erased.")
    ]


class CorrectionCount(Struct, kw_only=True):
    """How many corrections there are, of which model."""

    total: int
    version: Version


class CorrectionsAnswer(CorrectionCount, kw_only=True):
    """What was learned and forgotten here, the latest first."""

    corrections: list[Correction]


class ClassSize(Struct):
    """A class, and the documents that it was learned from."""

    label: str
    documents: Annotated[float | None, Meta(description="Null if the model does not say.")]
    prior: float


class Bin(Struct):
    """Answers of about one probability: how many, their mean probability, and the share that was right."""

    rows: int
    probability: float
    accuracy: float


class LargestClass(Struct):
    """What an accuracy is held against: that of the largest class as every answer."""

    label: str
    accuracy: float


class Quality(Struct):
    """How good the model was in training, by texts that were left out of it one at a time."""

    n: int
    accuracy: float
    accuracy_interval: tuple[float, float]
    largest_class: LargestClass
    warnings: Annotated[list[str], Meta(description="Caveats of the accuracy, in sentences.")]
    calibration_error: float
    reliability: list[Bin]


class Limits(Struct):
    """What a request may have at most."""

    text: Annotated[int, Meta(description="Longest text, in characters.")]
    explained: Annotated[int, Meta(description="Characters of a text that is explained.")]
    batch: Annotated[int, Meta(description="Texts or documents of a request.")]
    body: Annotated[int, Meta(description="Largest request, in bytes.")]
    upload: Annotated[int, Meta(description="Bytes of a file.")]


class ColumnCard(Struct):
    """A column that the model reads."""

    name: str
    kind: Literal["number", "vector", "category", "text"]
    categories: Annotated[
        list[str] | None, Meta(description="Those that it has learned; null if they are many, or not known.")
    ]
    size: Annotated[int, Meta(description="Of vectors, how many numbers they have.")] | UnsetType = UNSET


class Card(Struct, kw_only=True):
    """What the model is, what it was made of, and what is known of how good it is."""

    name: str
    title: Annotated[str | None, Meta(description="Of the page, if the operator has given one.")] = None
    data_link: Annotated[str | None, Meta(description="Where the data are, if the operator has said.")] = None
    compare: Annotated[str | None, Meta(description="The model that it is compared with, if any.")] = None
    version: Version
    learner: str
    several_labels: Annotated[bool, Meta(description="Whether a text may have several labels.")] = False
    classes: list[ClassSize]
    documents: Annotated[float | None, Meta(description="Null if the model does not say.")]
    words: Annotated[int, Meta(description="Of a table 0.")]
    has_words: Annotated[bool, Meta(description="Whether they are words, rather than letters or pairs.")]
    columns: Annotated[
        list[ColumnCard] | UnsetType, Meta(description="Not there if the model reads one text.")
    ] = UNSET
    facts: Annotated[list[tuple[str, str]], Meta(description="All known facts, as names and values.")]
    recipe: dict[str, Any]
    has_probabilities: Annotated[
        bool, Meta(description="Whether it has probabilities that a prior or costs can be applied to.")
    ]
    cannot_learn: Annotated[str | None, Meta(description="Why the model cannot learn; null if it can.")]
    corrections: Annotated[int, Meta(description="Corrections that stand.")]
    quality: Quality | None
    limits: Limits


class TellingWord(Struct, omit_defaults=True):
    """A word and its log-odds; against a rival, of counts, its log-odds ratio with a 95 % interval."""

    word: str
    log_odds: float
    low: float | None = None
    high: float | None = None


class WordsAnswer(Struct):
    """The words that speak most for a class; against a rival, those that decide between the two."""

    label: str
    rival: str | None
    words: list[TellingWord]
    version: Version


class SuggestRequest(Request):
    """Texts without labels."""

    texts: list[Text]
    limit: Annotated[int, Meta(ge=1, le=1000)] = 10


class Suggestion(Struct):
    """A text by its place among those sent, the most probable class, and how useful its label would be."""

    index: int
    label: str
    probability: float
    usefulness: Annotated[float, Meta(ge=0, le=1)]


class SuggestAnswer(Struct):
    """The texts whose labels the model would learn most from, the most useful first."""

    suggestions: list[Suggestion]
    version: Version


class ClassMeasures(Struct):
    """How well one class is found."""

    precision: float
    recall: float
    f1: float
    rows: int


class Confusion(Struct):
    """So many rows of one class were answered with another, or with the same."""

    label: str
    predicted: str
    rows: int


class EvaluateAnswer(Struct, kw_only=True):
    """Measured quality; intervals are at 95 %, and null stands for what cannot be measured."""

    n: int
    accuracy: float | None
    accuracy_interval: tuple[float | None, float | None]
    macro_f1: float | None
    macro_f1_interval: tuple[float | None, float | None]
    log_loss: float | None
    log_loss_interval: tuple[float | None, float | None]
    largest_class: LargestClass
    skewed: Annotated[
        bool, Meta(description="Whether the largest class has at least three times the rows of the smallest.")
    ]
    warnings: Annotated[list[str], Meta(description="Caveats of the accuracy, in sentences.")]
    by_class: dict[str, ClassMeasures]
    confusion: list[Confusion]
    calibration_error: float | None
    reliability: list[Bin]
    unknown_labels: dict[str, int]
    no_evidence: Annotated[int, Meta(description="Rows without a word of the vocabulary.")]
    report: Annotated[
        str | None, Meta(description="Where the report is, for an hour; null if it could not be drawn.")
    ]
    version: Version


class StateAnswer(Struct):
    """That the service is well; ``version`` is of the model that answers."""

    status: Literal["ok", "ready"]
    version: str


class SnapshotAnswer(Struct):
    """The model on disk holds all corrections up to this version."""

    version: Version


class ReloadAnswer(Struct):
    """The model that answers from now on; not ``changed``, if the file is the one that was loaded."""

    version: Version
    changed: bool


class ProblemDetails(Struct, omit_defaults=True, kw_only=True):
    """What went wrong (RFC 9457). ``code`` is stable; ``hint`` says what to do."""

    type: Annotated[str, Meta(examples=["urn:textodds:error:input"])]
    title: str
    status: Annotated[int, Meta(ge=400, le=599)]
    detail: str
    code: Annotated[str, Meta(examples=["input", "limit.body", "token"])]
    hint: str | None = None
