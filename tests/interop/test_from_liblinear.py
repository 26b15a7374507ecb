"""Models of LIBLINEAR: the same labels, and of two classes the same probabilities."""

import random

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import textodds
from textodds.errors import InputError, ModelFileError, Unsupported
from textodds.interop.from_liblinear import from_liblinear

HEAD = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 4\nbias -1\nw\n"
GOOD = HEAD + "1\n2\n-1\n-0.5\n"
WORDS = [f"w{i}" for i in range(60)]


def texts(n, seed, classes):
    """Texts, and the number of the class that most of their words are of."""
    draw = random.Random(seed)
    of = [draw.randrange(classes) for _ in range(n)]
    return [" ".join(draw.choices(WORDS[k * 12 : k * 12 + 24], k=draw.randint(1, 12))) for k in of], of


VECTORISERS = {
    "counts": CountVectorizer,
    "tfidf": lambda: TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
    "hashed": lambda: HashingVectorizer(n_features=2**10, alternate_sign=False),
    "scaled": lambda: make_pipeline(CountVectorizer(), MaxAbsScaler()),
}


@pytest.mark.parametrize("options", ["-s 0", "-s 6 -B 1", "-s 7 -B 2.5", "-s 1", "-s 3 -B 1", "-s 4", "-s 5"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", VECTORISERS)
def test_answers_are_those_of_liblinear(kind, classes, options, tmp_path):
    liblinear = pytest.importorskip("liblinear.liblinearutil")
    (train, of), (new, _) = texts(200, 0, classes), texts(150, 1, classes)
    vectoriser = VECTORISERS[kind]().fit(train)
    numbers = [7 - 3 * k for k in of]  # in an order that is not that of their names
    theirs = liblinear.train(numbers, vectoriser.transform(train), f"-q {options}")
    liblinear.save_model(str(tmp_path / "mail.model"), theirs)
    rows, is_logistic = vectoriser.transform([*new, "", "unheard"]), options[3] in "067"
    said, _, values = liblinear.predict([], rows, theirs, "-q -b 1" if is_logistic else "-q")
    model = from_liblinear(tmp_path / "mail.model", vectoriser)
    values = np.array(values)
    assert model.form.is_posterior == (is_logistic and classes == 2)
    clear = np.ones(len(values), bool)
    if values.shape[1] > 1:
        clear = np.diff(np.sort(values, axis=1)[:, -2:], axis=1)[:, 0] > 1e-9
    elif not is_logistic:
        clear = np.abs(values[:, 0]) > 1e-9
    assert clear.sum() > 100
    assert (model.predict([*new, "", "unheard"]) == [str(int(k)) for k in said])[clear].all()
    if model.form.is_posterior:
        order = [theirs.get_labels().index(int(name)) for name in model.classes_]
        np.testing.assert_allclose(model.predict_proba([*new, "", "unheard"]), values[:, order], atol=1e-10)
    model.save(tmp_path / "mail.textodds")
    assert textodds.load(tmp_path / "mail.textodds").predict(new).tolist() == model.predict(new).tolist()


def written(tmp_path, content):
    """A file of this content, and a vectoriser of four words."""
    path = tmp_path / "mail.model"
    path.write_text(content, encoding="utf-8")
    return path, CountVectorizer().fit(["free phone see you"])


def test_a_file_of_two_classes_by_hand(tmp_path):
    model = from_liblinear(*written(tmp_path, GOOD), labels={1: "spam", -1: "ham"})
    assert model.predict_proba(["free phone"])[0].tolist() == pytest.approx(
        [1 / (1 + np.e**3), 1 / (1 + np.e**-3)]
    )
    assert list(model.class_names) == ["ham", "spam"]
    assert "mail.model" in model.info["source"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "no solver_type"),
        ("é", "it is not text"),
        (GOOD.replace("L2R_LR", "L2R_L2LOSS_SVR"), "gives no classes"),
        (GOOD.replace("label 1 -1", "label 1"), "1 labels"),
        (GOOD.replace("label 1 -1", "label 1 1"), "2 labels"),
        (GOOD.replace("nr_class 2\n", ""), "nr_class"),
        (GOOD.replace("nr_class 2", "nr_class two"), "invalid literal"),
        (GOOD.replace("nr_feature 4", "nr_feature 999999999999"), "do not fit"),
        (GOOD.replace("-0.5\n", ""), "3 weights where 4 numbers belong"),
        (GOOD.replace("-0.5", "nan"), "numbers belong"),
        (GOOD.replace("-0.5", "x"), "could not convert"),
        (GOOD.replace("nr_feature 4", "nr_feature 5") + "1\n", "5 features and the vectoriser 4 columns"),
    ],
)
def test_a_wrong_file_is_refused_with_a_reason(tmp_path, content, reason):
    with pytest.raises((ModelFileError, Unsupported, InputError), match=reason):
        from_liblinear(*written(tmp_path, content))


def test_every_truncation_is_an_error(tmp_path):
    for end in range(len(GOOD) - 3):
        with pytest.raises((ModelFileError, Unsupported)):
            from_liblinear(*written(tmp_path, GOOD[:end]))


def test_labels_must_name_every_class(tmp_path):
    with pytest.raises(InputError, match="no name for class -1"):
        from_liblinear(*written(tmp_path, GOOD), labels={1: "spam"})
