"""Ray Data classifies files by a batch function, as docs/predict.md shows."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import textodds

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]  # Ray's own

MAIL = ["win a free prize", "see you at six", "free phone", "are you at home"]


@pytest.fixture(scope="module")
def ray():
    """Ray on this machine."""
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=4, include_dashboard=False, logging_level="error", object_store_memory=100 * 2**20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def test_batches_of_a_folder_have_the_answers_of_the_model(ray, tmp_path):
    class Classify:  # here, so that Ray sends it along: its processes cannot import tests
        def __init__(self, path):
            self.model = textodds.load(path, threads=1)

        def __call__(self, batch):
            return self.model.predict_frame(batch, proba=True)

    model = textodds.train(MAIL, ["spam", "ham", "spam", "ham"], learner="multinomial")
    model.save(tmp_path / "mail.textodds")
    (tmp_path / "in").mkdir()
    for number in range(3):
        rows = {"id": range(number * 100, number * 100 + 100), "text": MAIL * 25}
        pq.write_table(pa.table(rows), tmp_path / "in" / f"{number}.parquet")
    given = ray.data.read_parquet(str(tmp_path / "in"))
    by_class = given.map_batches(
        Classify,
        fn_constructor_args=[str(tmp_path / "mail.textodds")],
        batch_format="pyarrow",
        concurrency=1,
    )
    by_class.write_parquet(str(tmp_path / "out"))
    found = pq.read_table(tmp_path / "out").sort_by("id")
    assert found["id"].to_pylist() == list(range(300))
    assert found["label"].to_pylist() == model.predict(found["text"].to_pylist()).tolist()
    shares = model.predict_proba(found["text"].to_pylist())
    assert found["p(spam)"].to_pylist() == shares[:, model.class_number("spam")].tolist()
    sent = given.map_batches(model.predict_frame, batch_format="pyarrow").to_pandas().sort_values("id")
    assert sent["label"].tolist() == found["label"].to_pylist()
