"""Metrics from strings such as ``huber(delta=2)``, for config files and command lines."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from tallymark.data.arguments import describe
from tallymark.errors import Argument, ParameterError, TallymarkError, Text, UnknownMetricError, brief, nearest
from tallymark.metrics import registry
from tallymark.metrics.base import Metric

if TYPE_CHECKING:
    from tallymark.metrics.names_elsewhere import NameElsewhere

__all__ = ["metric"]


_LONGEST = 10_000  # characters of a metric string


def metric(name: str | Metric | Mapping[str, Any] = "rmse", /, **parameters: Any) -> Metric:
    """The metric with this name and these parameters; rmse without a name.

    >>> metric("huber(delta=2)")
    Huber(delta=2.0)
    >>> metric("huber", delta=2) == metric("huber(delta=2.0)") == metric({"name": "huber", "delta": 2})
    True
    """
    if isinstance(name, Metric):
        return _with(name, parameters)
    if isinstance(name, Mapping):
        if not isinstance(name.get("name"), str):
            raise ParameterError(f'a metric given as a mapping must have a "name"; got {brief(dict(name))}')
        return metric(name["name"], **{**{k: v for k, v in name.items() if k != "name"}, **parameters})
    if isinstance(name, str):
        if not parameters:
            return _from_text(name)
        word, written = _parse(name)
        return _find(word, _join(name, written, parameters))
    item: object = name() if isinstance(name, type) and issubclass(name, Metric) else name
    if not isinstance(item, Metric):
        hint = "Wrap a function with tm.custom" if callable(name) else None
        raise ParameterError(f"a metric must be a name or a metric object; got {describe_other(name)}", hint=hint)
    return _with(item, parameters)


def describe_other(value: object) -> str:
    """What was given in the place of a metric; what has metrics itself, as a choice does, is told by its type."""
    if isinstance(getattr(value, "metrics", None), (list, Mapping)):
        return f"a {type(value).__name__}; pass its .metrics"
    return describe(value)


def _with(item: Metric, parameters: dict[str, Any]) -> Metric:
    return item.replace(**parameters) if parameters else item


@lru_cache(maxsize=1024)
def _from_text(text: str) -> Metric:
    """The metric that a string names; the same object each time, so that what it caches lasts."""
    return _find(*_parse(text))


registry.on_change(_from_text.cache_clear)


def known_metric(text: str) -> Metric | None:
    """The metric that a string names; None if it names none. It is fast for those too, of which there may be many."""
    word = text.partition("(")[0].strip()
    if not _is_known(word) and _other_name(fold(word)) is None:
        return None
    try:
        return metric(text)
    except TallymarkError:
        return None


def named_attribute(name: str) -> Metric | None:
    """The metric of an attribute such as `tm.f1`: by an alias, by its name in another library, or in capitals."""
    names = (*registry.classes, *registry.aliases)
    listed = name in names or (name.isupper() and name.lower() in names)
    rows = [row for row in _rows() if row.name == name and row.here]
    if name not in registry.classes:
        _refuse_other_values(name, rows)
    return metric(name) if listed or rows else None


def _refuse_other_values(name: str, rows: Iterable[NameElsewhere]) -> None:
    """Reject a function of another library whose value is another than here: it would be taken for the same."""
    from tallymark.metrics.names_elsewhere import OTHER_VALUES

    for row in rows:
        if any(note in row.note for note in OTHER_VALUES):
            raise AttributeError(f"tallymark has no {name!r}: use tm.{row.here}, which differs ({row.note})")


def fold(word: str) -> str:
    """What is the same in all spellings of a name: no case, no underscores, hyphens, apostrophes and blanks.

    >>> fold("Mean-Squared_Error") == fold("MeanSquaredError"), fold("R²")
    (True, 'r2')
    """
    return word.translate(_FOLDED).lower()


_FOLDED = str.maketrans("²", "2", "_-–'’ ")


def _is_known(word: str) -> bool:
    return any(word in names for names in (registry.functions, registry.makers, registry.aliases, registry.classes))


def _find(word: str, parameters: dict[str, Any]) -> Metric:
    if word in registry.functions:
        return _with(registry.functions[word], parameters)
    if word in registry.makers:
        return registry.makers[word](**parameters)
    name, implied = registry.aliases.get(word, (word, {}))
    if name in registry.classes:
        return registry.classes[name](**_join(word, implied, parameters))
    other = _other_name(fold(word))
    if other is None:
        raise _unknown(word)
    if not other.words:
        raise UnknownMetricError(f"there is no metric {word!r}", hint=other.note)
    parsed = [_parse(each) for each in other.words]
    found = list(dict.fromkeys(_find(each, _join(word, written, parameters)) for each, written in parsed))
    if len(found) > 1:
        raise UnknownMetricError(f"{word!r} can be {' or '.join(map(repr, other.words))}; write one of them as it is")
    return found[0].replace(**_join(word, other.implied, parameters)) if other.implied else found[0]


def _join(name: str, implied: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a name implies, and those given beside it, which must not set another value."""
    for key in implied.keys() & given.keys():
        if implied[key] != given[key]:
            values = brief(implied[key]), repr(name), brief(given[key])
            raise ParameterError(
                Text("{} is {} in {} and {} beside it; set it once", Argument(key), *values), argument=key
            )
    return {**implied, **given}


def _unknown(word: str) -> UnknownMetricError:
    known = [*registry.classes, *registry.aliases, *registry.functions, *registry.makers]
    near = nearest(word.lower(), known, 3, cutoff=0.5) or [k for k in known if word.lower() in k][:3]
    hint = f"Did you mean {' or '.join(near)}?" if near else Text("{list_metrics()} lists the names")
    return UnknownMetricError(f"there is no metric {word!r}", hint=hint)


class OtherName(NamedTuple):
    """The words that a folded name stands for, which all mean one metric, and the parameters that it implies. Without
    words there is no such metric here, and the note says what to use."""

    words: tuple[str, ...] = ()
    implied: Mapping[str, Any] = MappingProxyType({})
    note: str = ""


@lru_cache(maxsize=1)
def _folded_names() -> dict[str, OtherName]:
    """All names, and those in print, without their spelling. A name known here means that, whatever it is elsewhere;
    but one of the user's own leaves both meanings open."""
    own: dict[str, list[str]] = {}
    for names in (registry.functions, registry.makers, registry.aliases, registry.classes):
        for name in names:
            own.setdefault(fold(name), []).append(name)
    found = {key: OtherName(tuple(words)) for key, words in own.items()}
    for name, cls in registry.classes.items():
        found.setdefault(fold(cls.display or name), OtherName((name,)))
    for row in _rows():
        key, words = fold(row.name), (row.here,) if row.here else ()
        if key in found and registry.functions.keys() >= set(found[key].words):
            words = tuple(dict.fromkeys((*found[key].words, *words)))
        elif key in found:
            continue
        found[key] = OtherName(words, note=_as_hint(row.note))
    return found


registry.on_change(_folded_names.cache_clear)


def _rows() -> Iterable[NameElsewhere]:
    from tallymark.metrics.names_elsewhere import names_elsewhere  # only other names need it

    return names_elsewhere()


def _as_hint(note: str) -> str:
    return note[:1].upper() + note[1:].replace("`", "")


_LONGEST_WORD = 100  # characters of a name that is looked up without its spelling
_AVERAGES = ("micro", "macro", "weighted")
_MACRO_PR = re.compile(r"(f.*)macropr|macropr(f.*)")  # which only F has
_AT = {"precision": "precision_at", "recall": "recall_at", "p": "precision_at", "r": "recall_at", "hit": "hit_rate"}
_AT |= dict.fromkeys(("accuracy", "acc", "top"), "top_k_accuracy")
_WITH_BETA = re.compile(r"f([1-9]\d*(?:\.\d+)?|0?\.\d+)(?:score)?")
_WITH_K = re.compile(r"(.*?[a-z])(?:@|at)(\d+)")
_TOP_K = re.compile(r"top(\d+)(?:(?:categorical)?acc(?:uracy)?)?")
_WITH_THRESHOLD = re.compile(r"error@(0?\.\d+)")


def _other_name(folded: str) -> OtherName | None:
    """What a folded name stands for, by the table or by its form, such as `f0.5`, `ndcg@10` and `f1macro`; None if
    nothing."""
    found = _folded_names().get(folded)
    if found is not None or len(folded) > _LONGEST_WORD:
        return found
    if match := _WITH_BETA.fullmatch(folded):
        return OtherName(("fscore",), {"beta": float(match[1])})
    if match := _TOP_K.fullmatch(folded):
        return OtherName(("top_k_accuracy",), {"k": int(match[1])})
    if match := _WITH_THRESHOLD.fullmatch(folded):
        return OtherName(("error_rate",), {"threshold": float(match[1])})
    if match := _WITH_K.fullmatch(folded):
        return _with_parameter(_AT.get(match[1], match[1]), "k", int(match[2]))
    if match := _MACRO_PR.fullmatch(folded):
        return _with_parameter(match[1] or match[2], "average", "macro_pr")
    for average in _AVERAGES:
        if folded.startswith(average) or folded.endswith(average):
            return _with_parameter(folded.removeprefix(average).removesuffix(average), "average", average)
    return _other_name(folded.removesuffix("metric")) if folded.endswith("metric") else None


def _with_parameter(name: str, key: str, value: object) -> OtherName | None:
    """A folded name with one more parameter, where its metric has it."""
    found = _other_name(fold(name))
    if found is None or not found.words or key in found.implied or found.words[0] in registry.makers:
        return None
    has = key in _find(*_parse(found.words[0])).parameters()
    return found._replace(implied={**found.implied, key: value}) if has else None


_NAME = re.compile(r"[^\W\d][\w.@²'’– -]*")


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    """Read ``name`` or ``name(key=value, ...)`` without evaluating anything."""
    text = text.strip()
    if text.isidentifier():
        return text, {}
    wrong = f'a metric is written as "name" or "name(key=value, ...)"; got {text[:80]!r}'
    word, opened, written = text.partition("(")
    word = word.strip()
    if len(text) > _LONGEST or not _NAME.fullmatch(word):
        several = [each.strip() for each in text[:80].split(",")]
        hint = f"Pass several as a list: {several}" if len(several) > 1 and all(map(_NAME.fullmatch, several)) else None
        raise ParameterError(wrong, hint=hint)
    if not opened:
        return word, {}
    try:
        tree = _tree(f"metric({written}")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ParameterError(wrong) from error
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ParameterError(wrong)
    parameters: dict[str, Any] = {}
    if tree.args:
        other = OtherName((word,)) if _is_known(word) else _other_name(fold(word))
        if other is None or not registry.makers.keys() & other.words:
            raise ParameterError(wrong)
        parameters["of"] = tuple(_metric_text(item, wrong) for item in tree.args)
    for given in tree.keywords:
        if given.arg is None:
            raise ParameterError(wrong)
        if given.arg in parameters:
            raise ParameterError(Text("{} is given twice in {}", Argument(given.arg), repr(text[:80])))
        parameters[given.arg] = _literal(given.value, wrong)
    return word, parameters


def _metric_text(node: ast.expr, wrong: str) -> str:
    """The text of a metric within another, in quotes or not."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    try:
        return ast.unparse(node)
    except RecursionError as error:
        raise ParameterError(wrong) from error


_KEPT = re.compile(rf"=\s*({'|'.join(word for word in keyword.kwlist if word.islower())})(?=\s*[,)])")


def _tree(text: str) -> ast.expr:
    """The syntax of a metric. A bare word may be one that Python keeps for itself, as in ``undefined=raise``."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.parse(_KEPT.sub(r"='\1'", text), mode="eval").body


def _literal(node: ast.expr, wrong: str) -> Any:
    """A Python literal, or a bare word as a string; ``none`` is None."""
    if isinstance(node, ast.Name):
        return None if node.id == "none" else node.id
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_literal(item, wrong) for item in node.elts)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise ParameterError(wrong) from error
