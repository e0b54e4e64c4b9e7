"""What goes into a rehearsal and what comes out of it: plain values that travel between processes as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Job:
    """One model to rehearse.

    Attributes:
        folder: The checkpoint's folder.
        draft: Build the speculative draft that the checkpoint holds.
        tensors: The header of every stored tensor: name, dtype as the header spells it in lower case, shape.
            Empty to build without following the load.
        draft_index: Which of several MTP layers to build, or None.
        neutral: The name of a config that answers every question with plain weights and is used in place of the
            checkpoint's own, for the names alone; empty to build with the checkpoint's.
        plugin: Whether the plugin is active while the model is built.
        policy: The policy file that it uses; None for the one beside the checkpoint, if there is one.
        limit: Seconds after which it is given up.
    """

    folder: str
    draft: bool = False
    tensors: tuple[tuple[str, str, tuple[int, ...]], ...] = ()
    draft_index: int | None = None
    neutral: str = ""
    plugin: bool = False
    policy: str | None = None
    limit: float = 300.0


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the model.

    Attributes:
        name: The name under which it asks; for a layer that asks nobody, the name that it would have asked under.
        path: Where it is inside the model.
        kind: ``linear``, ``moe``, ``lm_head``, ``embedding`` or ``attention``.
        layer: Its class.
        asked: Whether it was given a quantization config to ask.
        config: The class of the config that it was given; empty when it was given none.
        method: The class of the quantization method that it has; empty for a plain ``torch.nn.Linear``.
        scheme: The class of the scheme within the method; empty where the method has none.
        kernel: What the method says about the kernel that it will run; empty where it says nothing.
        sizes: The output sizes of the parts of a fused layer, in order; empty for other layers.
        shared: Whether the shared experts are built into it.
    """

    name: str
    path: str
    kind: str
    layer: str
    asked: bool
    config: str = ""
    method: str = ""
    scheme: str = ""
    kernel: str = ""
    sizes: tuple[int, ...] = ()
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A stored tensor that the model's own ``load_weights`` did not take.

    Attributes:
        tensor: The stored tensor.
        error: The exception and its text.
    """

    tensor: str
    error: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter after the load was followed.

    Attributes:
        name: Its path in the model.
        dtype: Its dtype.
        shape: Its shape.
        filled: How much of it was written, from 0 to 1.
        sources: The stored tensors that reached it.
        loader: Whether it says how it is loaded; one that does not is loaded by the model itself, or by nobody.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    filled: float
    sources: tuple[str, ...] = ()
    loader: bool = True


@dataclass(frozen=True, slots=True)
class Converted:
    """A stored tensor that was written into a parameter of another kind of dtype.

    Attributes:
        tensor: The stored tensor.
        dtype: Its dtype.
        parameter: The parameter.
        expected: The parameter's dtype.
    """

    tensor: str
    dtype: str
    parameter: str
    expected: str


@dataclass(slots=True)
class Rehearsed:
    """What a rehearsal saw.

    Attributes:
        model: The model's class.
        architecture: The architecture under which SGLang found the class.
        layers: Every layer, asked or not.
        packed: Fused name to the names of its parts, as the class has it once the model is built.
        mapper: The arguments of the class's name mapper.
        parameters: Every parameter; filled and with sources where the load was followed.
        failures: Stored tensors that stopped the load.
        converted: Stored tensors whose dtype does not fit.
        skipped: Stored tensors that reached no parameter although nothing failed.
        followed: Whether the load was followed, as far as the note says.
        problems: What would have stopped the load in strict mode, as the plugin says it.
        error: Why the model could not be built, or None.
        note: What of the load could not be followed; empty when all of it was.
        seconds: How long it took.
    """

    model: str = ""
    architecture: str = ""
    layers: list[Layer] = field(default_factory=list)
    packed: dict[str, list[str]] = field(default_factory=dict)
    mapper: dict[str, dict[str, str | None]] = field(default_factory=dict)
    parameters: list[Parameter] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    converted: list[Converted] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    followed: bool = False
    problems: list[str] = field(default_factory=list)
    error: str | None = None
    note: str = ""
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Rehearsed:
        """Return what :meth:`to_json` gave."""
        values = dict(data)
        values["layers"] = [Layer(**{**one, "sizes": tuple(one["sizes"])}) for one in data["layers"]]
        values["parameters"] = [
            Parameter(**{**one, "shape": tuple(one["shape"]), "sources": tuple(one["sources"])})
            for one in data["parameters"]
        ]
        values["failures"] = [Failure(**one) for one in data["failures"]]
        values["converted"] = [Converted(**one) for one in data["converted"]]
        return cls(**values)
