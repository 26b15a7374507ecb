"""Other libraries: scikit-learn's classes, pipelines in and out, and ONNX.

`estimators` and `vectorisers` are scikit-learn's classes with our learners and kernels behind them;
`from_sklearn` takes in a fitted pipeline, `to_sklearn` and `to_onnx` write one (`full_matrix` and `analyzer`
are their parts).

From outside: the public names, which `textodds` has too.
"""
