"""The cases, by name, in the order they are run and shown."""

from collections.abc import Callable

from bench import Bench
from cases.asking import asking
from cases.best import best
from cases.crawl import crawl
from cases.discriminant import discriminant
from cases.explaining import explain
from cases.exports import exports
from cases.few import few
from cases.files import train_csv
from cases.gaussian import gaussian
from cases.imported import imported
from cases.labels import labels
from cases.left_out import left_out
from cases.memory import memory
from cases.optimum import optimum
from cases.prediction import predict, predict_one
from cases.processes import fresh_process, open_model
from cases.ratios import ratios
from cases.serve import requests_per_second
from cases.serve_corrections import corrections
from cases.serve_latency import latency
from cases.softmax import accuracies, softmax
from cases.spark import spark
from cases.spark_scaling import scaling
from cases.tables import tables
from cases.training import train_memory
from cases.updates import updates
from cases.vectorisers import vectorisers
from result import Result

CASES: dict[str, Callable[[Bench], Result]] = {
    "ratios": ratios,
    "train-memory": train_memory,
    "train-csv": train_csv,
    "predict": predict,
    "predict-one": predict_one,
    "explain": explain,
    "fresh-process": fresh_process,
    "open-model": open_model,
    "memory": memory,
    "optimum": optimum,
    "softmax": softmax,
    "accuracy": accuracies,
    "gaussian": gaussian,
    "discriminant": discriminant,
    "tables": tables,
    "left-out": left_out,
    "updates": updates,
    "labels": labels,
    "vectorisers": vectorisers,
    "best": best,
    "few": few,
    "asking": asking,
    "exports": exports,
    "imported": imported,
    "crawl": crawl,
    "serve": requests_per_second,
    "serve-latency": latency,
    "serve-corrections": corrections,
    "spark": spark,
    "spark-scaling": scaling,
}
