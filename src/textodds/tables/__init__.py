"""Models of tables: numbers, categories and texts together."""

from textodds.tables.learners import CategoricalNB, JointTable, MixedNB
from textodds.tables.model import TableModel
from textodds.tables.tally import TableTally
from textodds.tables.training import train_table

__all__ = ["CategoricalNB", "JointTable", "MixedNB", "TableModel", "TableTally", "train_table"]
