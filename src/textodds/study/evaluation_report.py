"""A model measured on labelled data, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textodds.model.file import Model


def evaluation_report(
    model: Model, source: object, labels: object = None, *, called: str = "the model", **reading: Any
) -> str:
    """The page of `textodds evaluate --report`: one file of HTML, with pictures and without script.

    Parameters
    ----------
    model : TextModel or TableModel
        What is measured.
    source, labels, **reading
        Labelled data, as `textodds.read` takes it.
    called : str
        The name of the model on the page.
    """
    from textodds.study.report.evaluation_data import measured
    from textodds.study.report.evaluation_page import evaluation_page

    data = model.read(source, labels, labelled=True, **reading)
    evaluation, found = measured(model, data)
    return evaluation_page(model, evaluation, found, called=called, data=data.description)
