"""What is asked and answered where the model gives several labels: a list of them in the place of one."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from textodds.data.label_sets import name_of
from textodds.serve.protocol.messages import (
    Bin,
    Card,
    ChangeEntry,
    ChangeRequest,
    CorrectionCount,
    Id,
    Label,
    LearnDocuments,
    Many,
    Named,
    NewLabel,
    Parts,
    Probability,
    Request,
    Text,
    Version,
)
from textodds.serve.protocol.row_messages import Row

MOST = 1000  # labels of a document
Labels = Annotated[
    list[NewLabel],
    Meta(
        max_length=MOST,
        description="All labels of the document, each once; an empty list is a document without a label.",
        examples=[["urgent", "billing"]],
    ),
]
Threshold = Annotated[float, Meta(description="The probability from which on the label is given.")]


class LabelsOptions(Request, kw_only=True):
    """How much to tell."""

    top: Annotated[
        Many | None, Meta(description="Probabilities of so many labels, the most probable first.")
    ] = None


class ClassifyLabelsRequest(LabelsOptions, kw_only=True):
    """One text."""

    text: Text


class BatchLabelsRequest(LabelsOptions, kw_only=True):
    """Several texts."""

    texts: list[Text]


class ClassifyRowLabelsRequest(LabelsOptions, kw_only=True):
    """One row."""

    row: Row


class ClassifyRowsLabelsRequest(LabelsOptions, kw_only=True):
    """Several rows."""

    rows: list[Row]


class LabelsAnswer(Struct, kw_only=True):
    """The labels of one text, the most probable first: those at least as probable as their threshold.

    ``probabilities`` are those of all labels, each by itself, or of the ``top`` most probable; in a batch,
    without ``top``, those of the labels that are given. ``evidence`` is the number of terms that it knows:
    with 0 the answer is that of an empty text.
    """

    labels: list[Label]
    probabilities: dict[str, Probability]
    evidence: int


class ClassifyLabelsAnswer(LabelsAnswer, kw_only=True):
    """The answer to one text; ``thresholds`` are those of the labels in ``probabilities``."""

    thresholds: dict[str, Threshold]
    version: Version


class BatchLabelsAnswer(Struct, kw_only=True):
    """The answers, in the order of the texts; ``thresholds`` are those of all labels."""

    answers: list[LabelsAnswer]
    thresholds: dict[str, Threshold]
    version: Version


OneLabel = Annotated[Named | None, Meta(description="By default the most probable label.")]


class FlipLabelRequest(Request):
    """A text, and the label that is to be given, or not."""

    text: Text
    label: OneLabel = None


class ExplainLabelRequest(FlipLabelRequest):
    """A text, and the label whose odds are to be explained."""

    parts: Parts = False


class ExplainRowLabelRequest(Request):
    """A row, and the label whose odds are to be explained."""

    row: Row
    label: OneLabel = None
    parts: Parts = False


class LabelledSet(Request, kw_only=True):
    """The id and the right labels of a document."""

    id: Id | None = None
    labels: Labels

    @property
    def label(self) -> str:
        """The name of the set."""
        return name_of(self.labels)


class LabelsDocument(LabelledSet, kw_only=True):
    """A text with its right labels. Without an id it is given one, which the answer tells."""

    text: Text


class LabelsRowDocument(LabelledSet, kw_only=True):
    """A row with its right labels. Without an id it is given one, which the answer tells."""

    row: Row


class LearnLabelsRequest(LearnDocuments, kw_only=True):
    """Documents to learn: all of them, or, on an error, none."""

    documents: Annotated[list[LabelsDocument], Meta(min_length=1)]


class LearnRowLabelsRequest(LearnDocuments, kw_only=True):
    """Rows to learn: all of them, or, on an error, none."""

    documents: Annotated[list[LabelsRowDocument], Meta(min_length=1)]


class ForgottenSet(Request, kw_only=True):
    """The id of a document to forget, and its labels, if they must be said."""

    id: Id
    labels: Labels | None = None

    @property
    def label(self) -> str | None:
        """The name of the set; None if it is not said."""
        return None if self.labels is None else name_of(self.labels)


class ForgottenLabels(ForgottenSet, kw_only=True):
    """A document to forget. What was learned here is known by its id; else text and labels are needed."""

    text: Text | None = None


class ForgottenRowLabels(ForgottenSet, kw_only=True):
    """A row to forget. What was learned here is known by its id; else row and labels are needed too."""

    row: Row | None = None


class ForgetLabelsRequest(ChangeRequest):
    """Documents to forget: all of them, or, on an error, none."""

    documents: Annotated[list[ForgottenLabels], Meta(min_length=1)]


class ForgetRowLabelsRequest(ChangeRequest):
    """Rows to forget: all of them, or, on an error, none."""

    documents: Annotated[list[ForgottenRowLabels], Meta(min_length=1)]


class LabelCard(Struct):
    """A label: the share of the texts of training that have it, and its threshold."""

    label: str
    share: Probability
    threshold: Threshold


class LabelMeasures(Struct, kw_only=True):
    """What is always said of how good labels are; intervals are at 95 %."""

    n: int
    micro_f1: float
    micro_f1_interval: tuple[float, float]
    macro_f1: float
    macro_f1_interval: tuple[float, float]
    subset_accuracy: float
    subset_accuracy_interval: tuple[float, float]
    labels_per_text: float
    given_per_text: float
    calibration_error: float


class LabelQuality(LabelMeasures, kw_only=True):
    """How good the model was in training, by texts that were held out; intervals are at 95 %."""

    reliability: Annotated[
        list[Bin], Meta(description="Over texts and labels; `accuracy` is the share that has the label.")
    ]


class LabelsCard(Card, kw_only=True):
    """The card of a model of several labels; of its ``classes`` the prior is the share of each label."""

    labels: list[LabelCard]
    goal: Annotated[str, Meta(description="What thresholds are chosen for.", examples=["f1"])]
    label_separator: Annotated[
        str | None, Meta(description="What stood between labels in training; null if they came otherwise.")
    ]
    label_quality: LabelQuality | None


class MeasuredLabel(Struct):
    """How well one label is found: `rows` have it, and `given` were given it."""

    precision: float
    recall: float
    f1: float
    rows: float
    given: float


class EvaluateLabelsAnswer(LabelMeasures, kw_only=True):
    """Measured quality of several labels; intervals are at 95 %.

    ``precision_at_3`` and ``precision_at_5`` are there where the model has as many labels.
    """

    several_labels: bool
    sample_f1: float
    sample_f1_interval: tuple[float, float]
    precision_at_1: float | UnsetType = UNSET
    precision_at_1_interval: tuple[float, float] | UnsetType = UNSET
    precision_at_3: float | UnsetType = UNSET
    precision_at_3_interval: tuple[float, float] | UnsetType = UNSET
    precision_at_5: float | UnsetType = UNSET
    precision_at_5_interval: tuple[float, float] | UnsetType = UNSET
    average_precision: float
    average_precision_interval: tuple[float, float]
    ranking_loss: float
    ranking_loss_interval: tuple[float, float]
    log_loss: float
    log_loss_interval: tuple[float, float]
    unknown_labels: dict[str, int]
    by_label: dict[str, MeasuredLabel]
    by_level: dict[str, float]
    version: Version


class LabelsCorrection(ChangeEntry, kw_only=True):
    """An entry of the journal; ``stands`` if it has not been undone or replaced since."""

    labels: list[str]
    text: Annotated[
        str | UnsetType | None, Meta(description="Its beginning; null once it is forgotten and erased.")
    ] = UNSET
    row: Annotated[Row | UnsetType | None, Meta(description="In the place of `text`, of rows.")] = UNSET


class LabelsCorrectionsAnswer(CorrectionCount, kw_only=True):
    """What was learned and forgotten here, the latest first."""

    corrections: list[LabelsCorrection]
