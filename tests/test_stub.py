"""`_kernels.pyi` says of the compiled module what is true of it."""

import ast
import inspect
from pathlib import Path

import pytest

import textodds
from textodds import _kernels

STUB = ast.parse((Path(textodds.__file__).parent / "_kernels.pyi").read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}


def members(node):
    """The functions of a class in the stub, by name."""
    return {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}


def is_property(node):
    return any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list)


def written(node):
    """Name, kind and default of each parameter in the stub, without `self` and `cls`."""
    arguments = node.args
    positional = [(each.arg, "positional") for each in arguments.posonlyargs + arguments.args]
    defaults = [inspect.Parameter.empty] * (len(positional) - len(arguments.defaults))
    defaults += [ast.literal_eval(default) for default in arguments.defaults]
    found = [(*each, default) for each, default in zip(positional, defaults, strict=True)]
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(
            (each.arg, "keyword", inspect.Parameter.empty if default is None else ast.literal_eval(default))
        )
    return [each for each in found if each[0] not in ("self", "cls")]


def compiled(member):
    """The same of the compiled module, from its text signature."""
    kinds = {inspect.Parameter.KEYWORD_ONLY: "keyword"}
    parameters = inspect.signature(member).parameters.values()
    return [
        (p.name, kinds.get(p.kind, "positional"), p.default)
        for p in parameters
        if p.name not in ("self", "cls")
    ]


def agree(stub, module):
    """Equal, but for defaults that the compiled signature leaves open with `...`."""
    shown = [(*each[:2], mine[2]) if each[2] is ... and mine[2] is not inspect.Parameter.empty else each
             for each, mine in zip(module, stub, strict=True)]  # fmt: skip
    assert stub == shown


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_stub_names_what_the_module_has():
    assert public(dir(_kernels)) == set(CLASSES) | set(FUNCTIONS)


@pytest.mark.parametrize("name", CLASSES)
def test_the_stub_names_the_members_of_each_class(name):
    kind = getattr(_kernels, name)
    special = {each for each in members(CLASSES[name]) if each.startswith("__")}
    assert public(dir(kind)) == public(members(CLASSES[name]))
    assert special <= set(vars(kind))
    own = {each for each in vars(kind) if each.startswith("__")} - {"__doc__", "__module__"}
    assert own == special


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_signature_of_each_function_is_the_compiled_one(name):
    agree(written(FUNCTIONS[name]), compiled(getattr(_kernels, name)))


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, node in CLASSES.items() for name in members(node)]
)
def test_the_signature_of_each_method_is_the_compiled_one(kind, name):
    node, owner = members(CLASSES[kind])[name], getattr(_kernels, kind)
    if is_property(node):
        assert inspect.isdatadescriptor(vars(owner)[name])
    elif name == "__new__":
        agree(written(node), compiled(owner))
    elif name != "__len__":  # a slot without a text signature
        agree(written(node), compiled(getattr(owner, name)))


@pytest.mark.parametrize("name", [*CLASSES, *FUNCTIONS])
def test_everything_compiled_says_what_it_is(name):
    assert getattr(_kernels, name).__doc__
