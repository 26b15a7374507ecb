"""Data sets of Hugging Face: labels come back as they are, of the real package and of look-alikes."""

import pickle

import pyarrow as pa
import pytest

import textodds

TEXTS = [
    "win a free phone",
    "free prize inside",
    "claim your prize",
    "see you at six",
    "lunch at noon",
    "at home",
]
NAMES = ["ham", "spam"]
NUMBERS = [1, 1, 1, 0, 0, 0]


def like(name, module, **members):
    """A class that goes by the name of one of `datasets`, and is not."""
    return type(name, (), {"__module__": module, **members})


def with_format(self, kind):
    assert kind == "arrow"
    return self


def batches(self, batch_size):
    return (self.table.slice(at, batch_size) for at in range(0, len(self.table), batch_size))


ClassLabel = like("ClassLabel", "datasets.features.features")
Dataset = like(
    "Dataset",
    "datasets.arrow_dataset",
    with_format=with_format,
    iter=batches,
    __len__=lambda self: len(self.table),
    __iter__=lambda self: iter(self.table.to_pylist()),
)
DatasetDict = type("DatasetDict", (dict,), {"__module__": "datasets.dataset_dict"})


class LookAlike:
    """Makes objects that look like those of `datasets`."""

    @staticmethod
    def dataset(labels, names=None):
        found = Dataset()
        found.table = pa.table({"text": TEXTS[: len(labels)], "label": labels})
        found.features = {"text": object(), "label": ClassLabel() if names else object()}
        if names:
            found.features["label"].names = names
        return found

    @staticmethod
    def splits(**parts):
        return DatasetDict(parts)


class Real:
    """Makes those of the package itself."""

    @staticmethod
    def dataset(labels, names=None):
        datasets = pytest.importorskip("datasets")
        columns = {"text": TEXTS[: len(labels)], "label": labels}
        if names is None:
            return datasets.Dataset.from_dict(columns)
        label = datasets.ClassLabel(names=names)
        features = datasets.Features({"text": datasets.Value("string"), "label": label})
        return datasets.Dataset.from_dict(columns, features=features)

    @staticmethod
    def splits(**parts):
        return pytest.importorskip("datasets").DatasetDict(parts)


@pytest.fixture(params=[LookAlike, Real])
def make(request):
    if request.param is Real:
        pytest.importorskip("datasets")
    return request.param


@pytest.mark.parametrize(
    "labels", [NUMBERS, [bool(k) for k in NUMBERS], [NAMES[k] for k in NUMBERS], [k / 2 for k in NUMBERS]]
)
def test_labels_come_back_as_they_are(make, labels, tmp_path):
    data = make.dataset(labels)
    model = textodds.train(data, learner="multinomial")
    model.save(tmp_path / "mail.textodds")
    for each in (model, textodds.load(tmp_path / "mail.textodds"), pickle.loads(pickle.dumps(model))):
        assert each.classes_ == tuple(sorted(set(labels)))
        assert {type(label) for label in each.classes_} == {type(labels[0])}
        assert each.predict(data).tolist() == labels
        assert each("free prize").label == labels[0]


def test_the_numbers_of_classes_come_back_as_their_names(make, tmp_path):
    data = make.dataset(NUMBERS, NAMES)
    model = textodds.train(data, learner="multinomial")
    model.save(tmp_path / "mail.textodds")
    for each in (model, textodds.load(tmp_path / "mail.textodds")):
        assert each.classes_ == ("ham", "spam")
        assert [NAMES.index(name) for name in each.predict(data)] == NUMBERS
        assert each.evaluate(data).accuracy == 1.0
    assert model.learn(data) == 6
    assert model.class_documents == {"ham": 6, "spam": 6}


def test_splits_are_learned_from_and_measured_on(make):
    splits = make.splits(train=make.dataset(NUMBERS, NAMES), test=make.dataset([1, 1], NAMES))
    model = textodds.train(splits, learner="multinomial")
    assert model.classes_ == ("ham", "spam")
    assert model.info["source"] == "the split `train`, a datasets Dataset of 6 rows"
    assert model.evaluate(splits).n == 2


def test_columns_of_a_data_set_are_texts_and_numbers():
    data = Real.dataset(NUMBERS, NAMES)
    model = textodds.train(data["text"], data["label"], learner="multinomial")
    assert model.classes_ == (0, 1)
    assert model.predict(data["text"]).tolist() == NUMBERS
    assert model.evaluate(data["text"], data["label"]).accuracy == 1.0
