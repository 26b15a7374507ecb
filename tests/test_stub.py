"""`_kernels.pyi` says of the compiled module what is true of it."""

import ast
import inspect
from pathlib import Path

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


def shown(stub, module):
    """The compiled signature, with the stub's defaults where it leaves them open with `...`."""
    if len(stub) != len(module):
        return module
    return [
        (*each[:2], mine[2]) if each[2] is ... and mine[2] is not inspect.Parameter.empty else each
        for each, mine in zip(module, stub, strict=True)
    ]


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_stub_names_what_the_module_has():
    assert public(dir(_kernels)) == set(CLASSES) | set(FUNCTIONS)


def test_the_stub_names_the_members_of_each_class():
    for name, node in CLASSES.items():
        kind = getattr(_kernels, name)
        special = {each for each in members(node) if each.startswith("__")}
        own = {each for each in vars(kind) if each.startswith("__")} - {"__doc__", "__module__"}
        assert (name, public(dir(kind)), own) == (name, public(members(node)), special)


def test_the_signature_of_each_function_is_the_compiled_one():
    stub = {name: written(node) for name, node in FUNCTIONS.items()}
    assert stub == {name: shown(stub[name], compiled(getattr(_kernels, name))) for name in FUNCTIONS}


def test_the_signature_of_each_method_is_the_compiled_one():
    stub, module = {}, {}
    for kind, node in CLASSES.items():
        owner = getattr(_kernels, kind)
        for name, member in members(node).items():
            if is_property(member):
                assert inspect.isdatadescriptor(vars(owner)[name]), (kind, name)
            elif name != "__len__":  # a slot without a text signature
                stub[kind, name] = written(member)
                made = compiled(owner if name == "__new__" else getattr(owner, name))
                module[kind, name] = shown(stub[kind, name], made)
    assert stub == module


def test_everything_compiled_says_what_it_is():
    assert [name for name in (*CLASSES, *FUNCTIONS) if not getattr(_kernels, name).__doc__] == []
