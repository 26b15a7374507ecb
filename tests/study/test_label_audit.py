"""Labels of texts with several that look missing or wrong."""

import numpy as np
import pytest

import textodds
from textodds.errors import InputError, Unsupported
from textodds.model.multilabel.label_fit import out_of_fold
from textodds.study.label_audit import MISSING, WRONG, audit_labels
from ticket_texts import tickets

LEARNERS = ["multinomial:alpha=1", "softmax:C=3:ngrams=1-1"]


def spoilt(rows, n, seed=0):
    """The rows, of which n have lost a label and n others have gained one; and which."""
    random = np.random.default_rng(seed)
    rows = [(text, list(labels)) for text, labels in rows]
    lost = random.choice([i for i, (_, labels) in enumerate(rows) if labels], n, replace=False).tolist()
    names = ["billing", "delivery", "praise", "urgent"]
    others = [i for i, (_, labels) in enumerate(rows) if i not in lost and len(labels) < 4]
    gained = random.choice(others, n, replace=False).tolist()
    done = {}
    for i in lost:
        done[i, rows[i][1].pop()] = MISSING
    for i in gained:
        extra = next(name for name in random.permutation(names).tolist() if name not in rows[i][1])
        rows[i][1].append(extra)
        done[i, extra] = WRONG
    return rows, done


@pytest.mark.parametrize("learner", LEARNERS)
def test_labels_that_were_lost_or_made_up_are_found(learner):
    rows, done = spoilt(tickets(600), 12)
    texts, labels = [text for text, _ in rows], [each for _, each in rows]
    model = textodds.train(texts, labels, learner=learner)
    found = audit_labels(model, model.read(texts, labels, labelled=True), most=40)
    told = {(each.row - 1, each.label): each.verdict for each in found.suspects}
    hits = sum(told.get(key) == verdict for key, verdict in done.items())
    assert hits >= 0.7 * len(done)
    assert all(each.text == texts[each.row - 1] for each in found.suspects)
    assert all((each.label in each.labels) == (each.verdict == WRONG) for each in found.suspects)
    surprise = [1 - each.probability for each in found.missing]
    assert surprise == sorted(surprise)
    assert found.n == 600
    assert found.counts[MISSING] >= len(found.missing)
    assert "600 texts, each by a model of others" in repr(found)
    assert found.missing[0].label in found._repr_html_()


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_document_is_scored_once_by_a_model_of_the_others(learner):
    rows = list(tickets(300))
    model = textodds.train([text for text, _ in rows], [each for _, each in rows], learner=learner)
    parts = list(out_of_fold(model))
    numbers = np.concatenate([rows for rows, _, _ in parts])
    assert sorted(numbers.tolist()) == list(range(300))
    p, truth = (np.concatenate([part[at] for part in parts])[np.argsort(numbers)] for at in (1, 2))
    assert truth.sum(axis=0).tolist() == list(model.class_documents.values())
    assert not np.allclose(p, model.predict_proba([text for text, _ in rows]))
    (_, held, held_truth) = (np.concatenate(each) for each in zip(*parts, strict=True))
    assert np.allclose(held, model.held_labels.p, atol=1e-2)  # 300 texts are all held out in training, too
    assert np.array_equal(held_truth, model.held_labels.truth)


def test_without_data_the_words_that_the_model_keeps_are_shown():
    rows, _ = spoilt(tickets(400), 8)
    model = textodds.train([text for text, _ in rows], [each for _, each in rows], learner=LEARNERS[0])
    found = audit_labels(model, most=3)
    assert len(found.missing) <= 3
    assert found.suspects[0].row is None
    assert found.suspects[0].text in {text for text, _ in rows}


def test_a_model_that_cannot_be_audited_is_refused():
    rows = list(tickets(300))
    texts, labels = [text for text, _ in rows], [each for _, each in rows]
    with pytest.raises(Unsupported, match="this one kept none"):
        audit_labels(textodds.train(texts, labels, learner=LEARNERS[0], documents=False))
    with pytest.raises(InputError, match="of which there must be 100, got 50"):
        audit_labels(textodds.train(texts[:50], labels[:50], learner=LEARNERS[0]))
    with pytest.raises(Unsupported, match="`audit` is for one label a row"):
        textodds.audit(texts, labels)
