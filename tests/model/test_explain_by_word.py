"""Where features are pairs, letters or both, an explanation is by word, and adds up to the same log-odds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textodds
from pairs import together
from textodds.learn.naive_bayes import BernoulliLearner
from textodds.text import TextSettings
from unicode_texts import texts

SAYS = {
    "spam": ["win a FREE phone!!!", "free prize: call now", "claim your £100 prize", "cash, win cash now"],
    "ham": ["see you at six", "are you at home?", "call me at noon", "lunch now? see you"],
    "work": ["meet at the café", "the report is late", "see the report: call me", "a late meeting"],
}
TEXTS = [f"{text} {i % 7}" for i in range(12) for each in SAYS.values() for text in each]  # 144
LABELS = [label for _ in range(12) for label, each in SAYS.items() for _ in each]
FIELDS = [
    {"subject": text.split()[0] + "!", "body": text, "label": label}
    for text, label in zip(TEXTS, LABELS, strict=True)
]
CUTS = {
    "pairs": {"ngrams": (1, 2)},
    "pairs alone": {"ngrams": (2, 2)},
    "triples": {"ngrams": (1, 3), "stop_words": ["the", "at"]},
    "characters": {"unit": "characters", "ngrams": (1, 4)},
    "characters in words": {"unit": "characters-in-words", "ngrams": (1, 5)},
    "words and characters": {"characters": (2, 4)},
    "pairs and characters": {"ngrams": (1, 2), "characters": (1, 3), "stop_words": ["the"]},
    "hashed": {"hash_bits": 6},
    "hashed pairs": {"hash_bits": 5, "ngrams": (1, 2), "characters": (3, 3)},
}
LEARNERS = ["softmax", "multinomial", BernoulliLearner()]


def trained(source, cut, learner):
    model = textodds.train(source, LABELS, learner=learner, **CUTS[cut])
    assert model.calibration is not None or "uncalibrated" not in model.info, model.info
    return model


MODELS = [trained(TEXTS, cut, LEARNERS[at % 3]) for at, cut in enumerate(CUTS)]
MODELS += [trained(TEXTS, cut, "softmax") for cut in ("characters", "pairs", "words and characters")]
OF_FIELDS = [
    textodds.train(FIELDS, text=["subject", "body"], learner=learner, **CUTS[cut])
    for learner, cut in [
        ("softmax", "words and characters"),
        ("multinomial", "characters"),
        ("softmax", "pairs and characters"),
        ("multinomial", "hashed pairs"),
    ]
]
WORDS = sorted({word for text in TEXTS for word in text.split()})
said = st.lists(st.sampled_from([*WORDS, "zebra", "Free", "!!", "£", "\n", "  "]), max_size=12).map(" ".join)


def must_add_up(why, scores, label, rival):
    size = abs(why.start) + sum(abs(part.log_odds) for part in why.parts) + np.abs(scores).max()
    expected = scores[label] - scores[rival]
    by_word = math.fsum([why.start, *(word.log_odds for word in why.words)])
    assert by_word == pytest.approx(expected, abs=1e-12 * size)
    assert math.fsum(odds for _, odds in why.lines) == pytest.approx(expected, abs=1e-12 * size)
    by_part = math.fsum(odds for _, odds, _ in why.sum_lines(parts=True))
    assert by_part == pytest.approx(expected, abs=1e-12 * size)
    tinted = math.fsum(stretch.log_odds for stretch in why.stretches)
    assert tinted == pytest.approx(math.fsum(word.log_odds for word in why.words), abs=1e-12 * size)
    assert [abs(word.log_odds) for word in why.words] == sorted(
        (abs(x) for _, _, x in why.words), reverse=True
    )


@given(model=st.sampled_from(MODELS), text=st.one_of(said, texts), data=st.data())
def test_the_words_of_a_calibrated_model_add_up_to_its_log_odds(model, text, data):
    label, rival = data.draw(st.permutations(range(3)))[:2]
    scores = model.score([text], calibrate=True)[0][0]
    why = model.explain(text, model.classes_[label], model.classes_[rival])
    must_add_up(why, scores, label, rival)
    assert why.noun() == "word"
    assert not set(why.unknown_words) & {word.word for word in why.words}


@given(model=st.sampled_from(OF_FIELDS), subject=st.one_of(said, texts), body=said, data=st.data())
def test_the_words_of_several_columns_add_up_and_each_is_of_its_column(model, subject, body, data):
    label, rival = data.draw(st.permutations(range(3)))[:2]
    given_row = {"subject": subject.replace("\x1f", " "), "body": body}
    scores = model.score([given_row], calibrate=True)[0][0]
    why = model.explain(given_row, model.classes_[label], model.classes_[rival])
    must_add_up(why, scores, label, rival)
    assert all(word.word.startswith(("subject:", "body:")) for word in why.words)


def test_calibration_is_on_in_the_models_that_are_tried():
    assert sum(model.calibration is not None for model in [*MODELS, *OF_FIELDS]) >= 8


def by_part_and_word(text, **options):
    """The contributions of a small model, by feature and by word."""
    model = textodds.train(["free phone!", "at noon"], ["x", "y"], **options)
    why = model.explain(text, "x", "y")
    return {part.word: part.log_odds for part in why.parts}, {word.word: word.log_odds for word in why.words}


def test_a_pair_is_shared_equally_by_its_words():
    parts, words = by_part_and_word("free phone", ngrams=(1, 2))
    assert parts.keys() == {"free", "phone", "free phone"}
    assert words["free"] == pytest.approx(parts["free"] + parts["free phone"] / 2, rel=1e-12)
    assert words["phone"] == pytest.approx(parts["phone"] + parts["free phone"] / 2, rel=1e-12)


def test_letters_that_reach_into_two_words_are_shared_by_letters():
    parts, words = by_part_and_word("free phone", unit="characters", ngrams=(5, 5))
    assert parts.keys() == {"free ", "ree p", "ee ph", "e pho", " phon", "phone"}
    free = parts["free "] + parts["ree p"] * 3 / 4 + parts["ee ph"] / 2 + parts["e pho"] / 4
    phone = parts["ree p"] / 4 + parts["ee ph"] / 2 + parts["e pho"] * 3 / 4 + parts[" phon"] + parts["phone"]
    assert words == {"free": pytest.approx(free, rel=1e-12), "phone": pytest.approx(phone, rel=1e-12)}


def test_signs_go_with_the_word_beside_them_unless_they_are_by_themselves():
    parts, words = by_part_and_word("phone!", unit="characters-in-words", ngrams=(2, 2))
    assert words["!"] == pytest.approx(parts["! "], rel=1e-12)
    inside = [" p", "ph", "ho", "on", "ne", "e!"]
    assert words["phone"] == pytest.approx(sum(parts[gram] for gram in inside), rel=1e-12)


def test_occurrences_share_a_feature_and_a_word_has_those_of_all_its_places():
    model = textodds.train(["free phone", "at noon"], ["x", "y"], ngrams=(1, 2))
    why = model.explain("free free phone free", "x", "y")
    counts = {word.word: word.count for word in why.words}
    assert counts == {"free": 3, "phone": 1}
    assert [stretch.word for stretch in why.stretches] == ["free", "free", "phone", "free"]
    odds = {word.word: word.log_odds for word in why.words}
    free = math.fsum(stretch.log_odds for stretch in why.stretches if stretch.word == "free")
    assert odds["free"] == pytest.approx(free, rel=1e-12)


def test_stop_words_have_what_their_letters_say():
    model = textodds.train(
        ["the phone", "this noon"], ["x", "y"], characters=(2, 2), stop_words=["the", "this"]
    )
    why = model.explain("The phone", "x", "y")
    assert {word.word for word in why.words} == {"the", "phone"}
    assert {part.word for part in why.parts} >= {"~ t", "~th", "phone"}


def test_hash_buckets_are_named_by_the_words_in_them():
    why = textodds.train(["free phone", "at noon"], ["x", "y"], hash_bits=10).explain("free noon")
    assert {word.word for word in why.words} == {"free", "noon"}
    assert all(part.word.startswith("#") for part in why.parts)


def test_where_features_are_words_both_are_the_same():
    why = textodds.train(["free phone", "at noon"], ["x", "y"]).explain("free noon")
    assert why.has_words
    assert why.words is why.parts
    assert why.noun(parts=True) == "word"


def test_what_has_no_place_in_the_text_stands_under_its_own_name(monkeypatch):
    from textodds.model.explain import by_word, place, read_text

    model = textodds.train(["free phone", "at noon"], ["x", "y"], ngrams=(1, 2))
    # No text is known whose terms this version of Unicode loses; a newer character would be one.
    lost = [place.PlacedTerm(name, ()) for name in TextSettings(ngrams=(1, 2)).terms("free phone")]
    monkeypatch.setattr(read_text, "placed_terms", lambda settings, text, words: lost)
    monkeypatch.setattr(by_word, "spans_of", lambda reading: None)
    why = model.explain("free phone", "x", "y")
    assert why.words == why.parts
    assert why.noun() == "feature"
    assert "feature</th>" in why.html()


def test_parts_are_in_the_html_and_the_plain_data_where_they_are_asked_for():
    model = textodds.train(["free phone", "at noon"], ["x", "y"], unit="characters", ngrams=(2, 3))
    why = model.explain("free phone")
    assert "parts" not in why.as_dict()
    assert why.as_dict(parts=True)["parts"] == [part._asdict() for part in why.parts]
    assert ">word</th>" in why.html()
    assert "<bdi>free</bdi>" in why.html()
    by_part = why.html(parts=True)
    assert ">feature</th>" in by_part
    assert "<bdi>␣p</bdi>" in by_part
    assert str(why).splitlines()[2].split()[1] in {"free", "phone"}


def test_what_is_believed_before_reading_is_split_where_calibration_adds_to_it():
    model = textodds.train(TEXTS, LABELS, learner="softmax:C=0.1")  # which is far too unsure
    assert model.calibration.temperature < 0.5
    model.calibration = replace(model.calibration, bias=np.array([0.3, -0.5, 0.2]))
    for label, rival in [("spam", "ham"), ("work", "others")]:
        why = model.explain("free prize", label, rival)
        names = [name for name, _ in why.lines[:3]]
        assert names == ["class prior", "intercept", "calibration"]
        assert why.prior + why.intercept + why.calibration == pytest.approx(why.start, rel=1e-12)
        plain = model.explain("free prize", label, "ham" if rival == "others" else rival, calibrate=False)
        assert plain.calibration is None
        assert [name for name, _ in plain.start_lines] == ["class prior", "intercept"]
        assert sum(odds for _, odds in plain.start_lines) == pytest.approx(plain.start, rel=1e-12)
    k = dict(zip(model.classes_, model.form.log_prior, strict=True))
    assert model.explain("free", "spam", "ham").prior == pytest.approx(k["spam"] - k["ham"], rel=1e-12)


def test_a_calibration_that_weighs_words_alone_is_in_the_words():
    model = textodds.train(TEXTS, LABELS, learner="multinomial")
    assert np.any(model.calibration.rate)
    why = model.explain("free prize", "spam", "ham")
    assert why.calibration is None
    assert why.start_lines == [("class prior", why.start)]


@together
@pytest.mark.parametrize("learner", ["multinomial", "bernoulli", "complement", "softmax", "lda"])
def test_the_boundary_and_the_explanation_begin_with_the_same_lines(learner):
    model = textodds.train(TEXTS, LABELS, learner=learner)
    why, plane = model.explain("free prize", "spam", "ham"), model.hyperplane("spam", "ham")
    assert [name for name, _ in plane.start.lines] == [name for name, _ in why.start_lines]
    assert dict(plane.start.lines) == pytest.approx(dict(why.start_lines), rel=1e-9)
    assert sum(odds for _, odds in plane.start.lines) == pytest.approx(plane.bias, rel=1e-9)
    assert str(plane).splitlines()[1].endswith(why.start_lines[0][0])


def test_a_word_that_is_known_once_is_not_unknown():
    model = textodds.train(TEXTS, LABELS, learner="multinomial", ngrams=(2, 2))
    why = model.explain("0 café 0", "ham", "spam")  # of its pairs only the second was learned
    assert "0" in {word.word for word in why.words}
    assert why.unknown_words == ()
