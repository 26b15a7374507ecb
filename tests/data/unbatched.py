"""The rows of a source one by one, however its batches hold them."""

from textodds.data import read


def values(column):
    if column is None or isinstance(column, list):
        return column
    import pyarrow as pa

    array = pa.array(column)
    strings = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    assert strings in (pa.string(), pa.large_string(), pa.string_view())
    return array.to_pylist()


def rows(source):
    """(text, label, weight) of each row; a source can be given as to `read`."""
    listed = []
    for batch in source:
        count = len(batch)
        assert count > 0
        columns = [values(batch.texts), values(batch.labels), batch.weights]
        columns = [[None] * count if column is None else list(column) for column in columns]
        assert all(len(column) == count for column in columns)
        listed += zip(*columns, strict=True)
    return listed


def pairs(source):
    """(text, label) of each row."""
    return [(text, label) for text, label, _ in rows(source)]


def read_pairs(*args, **options):
    """(text, label) of each row that `read` finds."""
    return pairs(read(*args, **options))
