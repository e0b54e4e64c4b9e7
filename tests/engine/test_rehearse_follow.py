"""Following a load: which stored tensor reaches which parameter, on a model small enough to see through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from qpolicy.sglang.rehearse_follow import follow  # noqa: E402
from qpolicy.sglang.rehearse_job import Rehearsed  # noqa: E402
from qpolicy.sglang.rehearse_steps import Steps  # noqa: E402

pytestmark = pytest.mark.engine

Weights = Iterable[tuple[str, Any]]
SHAPES = {"fused": (8, 4), "plain": (4, 4), "packed": (4, 2), "scale": ()}


def model(load: Callable[[dict[str, Any], Weights], None]) -> Any:
    """A model on the meta device whose ``load_weights`` is the given function."""

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def load_weights(self, weights: Weights) -> None:
            load(dict(self.named_parameters()), weights)

    built = Model()
    for name, shape in SHAPES.items():
        dtype = torch.uint8 if name == "packed" else torch.bfloat16
        parameter = torch.nn.Parameter(torch.empty(shape, dtype=dtype, device="meta"), requires_grad=False)
        built.register_parameter(name, parameter)
    return built


def followed(load: Callable[[dict[str, Any], Weights], None], *headers: tuple[str, str, tuple[int, ...]]) -> Rehearsed:
    result = Rehearsed()
    follow(model(load), headers, result, limit=60)
    return result


def sources(result: Rehearsed) -> dict[str, tuple[str, ...]]:
    return {parameter.name: parameter.sources for parameter in result.parameters if parameter.sources}


def by_name(parameters: dict[str, Any], weights: Weights) -> None:
    for name, weight in weights:
        parameters[name].data.copy_(weight)


def test_every_tensor_is_told() -> None:
    class Told(Steps):
        def __call__(self, doing: str, done: int = 0, total: int = 0) -> None:
            told.append((done, total))

    told: list[tuple[int, int]] = []
    headers = [("fused", "bf16", (8, 4)), ("gone", "bf16", (1,)), ("plain", "bf16", (4, 4))]
    follow(model(by_name), headers, Rehearsed(), limit=60, tell=Told())
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_tensor_is_followed_into_a_view() -> None:
    def load(parameters: dict[str, Any], weights: Weights) -> None:
        for place, (_, weight) in enumerate(weights):
            parameters["fused"].data.narrow(0, 4 * place, 4).copy_(weight.to(torch.bfloat16))

    result = followed(load, ("a", "bf16", (4, 4)))
    (fused,) = (parameter for parameter in result.parameters if parameter.name == "fused")
    assert (fused.sources, fused.filled) == (("a",), 0.5)
    assert sources(followed(load, ("a", "bf16", (4, 4)), ("b", "f32", (4, 4)))) == {"fused": ("a", "b")}


@pytest.mark.parametrize(
    "view",
    [
        lambda weight: weight.view(4, 8)[:, :2].t().unsqueeze(0).squeeze(0).t(),
        lambda weight: weight.narrow(0, 0, 8)[:, :2].chunk(2)[1],
        lambda weight: torch.stack(weight.unbind(0))[:4, :2].contiguous(),
        lambda weight: weight.view(torch.uint8)[:4, :4].view(torch.bfloat16).expand(4, 2),
        lambda weight: weight.as_strided((4, 2), (4, 1)).transpose(0, 1).permute(1, 0).reshape(4, 2),
    ],
)
def test_a_tensor_is_followed_through_its_own_views(view: Callable[[Any], Any]) -> None:
    def load(parameters: dict[str, Any], weights: Weights) -> None:
        for _, weight in weights:
            parameters["fused"].data.view(4, 8)[:, :2].copy_(view(weight))

    assert sources(followed(load, ("a", "bf16", (8, 4)))) == {"fused": ("a",)}


def test_what_is_meant_for_a_gpu_stays_off_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(parameters: dict[str, Any], weights: Weights) -> None:
        for _, weight in weights:
            ones = torch.ones(4, 4, dtype=torch.bfloat16, device="cuda")
            room = torch.empty(4, 4, dtype=torch.bfloat16, device="cuda:0")
            seen.update(ones=ones.device.type, room=room.device.type, moved=weight.cuda().device.type)
            seen["two"] = (torch.tensor(2.0, device="cuda") + torch.as_tensor([0.0], device=0)).device.type
            parameters["plain"].data.copy_(weight.to("cuda", non_blocking=True))

    seen: dict[str, str] = {}
    given = vars(torch.Tensor).get("to"), torch.tensor
    monkeypatch.setattr(torch.cuda, "_lazy_init", lambda: None)
    result = followed(load, ("a", "bf16", (4, 4)))
    assert (result.note, result.failures) == ("", [])
    assert seen == {"ones": "cpu", "room": "meta", "moved": "meta", "two": "cpu"}
    assert sources(result) == {"plain": ("a",)}
    assert (vars(torch.Tensor).get("to"), torch.tensor) == given


def test_a_tensor_is_followed_into_a_parameter_with_data() -> None:
    def load(parameters: dict[str, Any], weights: Weights) -> None:
        for _, weight in weights:
            parameters["real"].data.copy_(weight)

    built = model(load)
    built.register_parameter("real", torch.nn.Parameter(torch.zeros(4, 4)))
    result = Rehearsed()
    follow(built, [("a", "f32", (4, 4)), ("wrong", "f32", (3, 4))], result, limit=60)
    assert sources(result) == {"real": ("a",)}
    assert [failure.tensor for failure in result.failures] == ["wrong"]


def test_a_tensor_is_followed_through_a_concatenation_in_a_thread() -> None:
    def load(parameters: dict[str, Any], weights: Weights) -> None:
        whole = torch.cat([weight for _, weight in weights])
        with ThreadPoolExecutor() as pool:
            pool.submit(parameters["fused"].data.copy_, whole).result()

    result = followed(load, ("a", "bf16", (4, 4)), ("b", "bf16", (4, 4)))
    assert sources(result) == {"fused": ("a", "b")}


def test_a_number_read_from_a_tensor_is_followed() -> None:
    def load(parameters: dict[str, Any], weights: Weights) -> None:
        for _, weight in weights:
            parameters["scale"].data.fill_(weight.item())

    assert sources(followed(load, ("s", "f32", (1,)))) == {"scale": ("s",)}


def test_what_stops_a_load_is_named_and_the_rest_is_followed() -> None:
    result = followed(by_name, ("gone", "bf16", (4, 4)), ("fused", "bf16", (3, 4)), ("plain", "bf16", (4, 4)))
    assert [failure.tensor for failure in result.failures] == ["gone", "fused"]
    assert result.failures[0].error == "KeyError: 'gone'"
    assert "must match the size" in result.failures[1].error
    assert sources(result) == {"plain": ("plain",)}


def test_another_kind_of_dtype_is_named() -> None:
    headers = [("plain", "f8_e4m3", (4, 4)), ("packed", "bf16", (4, 2)), ("fused", "f32", (8, 4))]
    result = followed(by_name, *headers)
    assert {(one.tensor, one.dtype, one.expected) for one in result.converted} == {
        ("plain", "float8_e4m3fn", "bfloat16"),
        ("packed", "bfloat16", "uint8"),
    }


def test_what_is_passed_over_is_named() -> None:
    def load(parameters: dict[str, Any], weights: Weights) -> None:
        by_name(parameters, ((name, weight) for name, weight in weights if name in parameters))

    result = followed(load, ("rotary", "f32", (4,)), ("plain", "bf16", (4, 4)))
    assert (result.skipped, result.failures) == (["rotary"], [])


def test_a_partner_that_waits_inside_the_loader_is_given_again() -> None:
    def load(parameters: dict[str, Any], weights: Weights) -> None:
        waiting: dict[str, Any] = {}
        for name, weight in _strict(weights):
            waiting[name] = weight
            if len(waiting) == 2:
                parameters["fused"].data.copy_(torch.cat(list(waiting.values())))

    headers = [("x.m.a", "bf16", (4, 4)), ("x.m.bad", "bf16", (1,)), ("x.m.b", "bf16", (4, 4))]
    result = followed(load, *headers)
    assert [failure.tensor for failure in result.failures] == ["x.m.bad"]
    assert sources(result) == {"fused": ("x.m.a", "x.m.b")}


def _strict(weights: Weights) -> Iterator[tuple[str, Any]]:
    for name, weight in weights:
        if name.endswith("bad"):
            raise KeyError(name)
        yield name, weight
