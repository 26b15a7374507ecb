"""Other libraries: scikit-learn's classes, pipelines in and out, fastText's files, and ONNX.

`estimators` and `vectorisers` are scikit-learn's classes with our learners and kernels behind them;
`from_sklearn` takes in a fitted pipeline, `to_sklearn` and `to_onnx` write one (`full_matrix` is what they
share); `from_fasttext` and `from_liblinear` take in the files of their classifiers. `portable` writes
models that run without textodds; `in_duckdb` and `in_pandas` are ours within theirs. `labels`,
`class_priors` and `containers` read what their callers give: labels of any type, priors in any form, rows
and texts in any container.

From outside: the public names, which `textodds` has too.
"""
