"""``benchmarks/gpu_check.py`` as far as a machine without a GPU goes; that it was run on one is not claimed here."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from engine_process import require_engine, results_of, start_script

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPT = BENCHMARKS / "gpu_check.py"
QUANTIZED = {
    "fp8-block": ("Fp8LinearMethod", "Fp8MoEMethod"),
    "fp8-tensor": ("Fp8LinearMethod", "Fp8MoEMethod"),
    "ct-w4a16": ("CompressedTensorsLinearMethod", "CompressedTensorsFusedMoEMethod"),
    "ct-w8a8-fp8": ("CompressedTensorsLinearMethod", "CompressedTensorsFusedMoEMethod"),
}
PLAIN = ("UnquantizedLinearMethod", "UnquantizedFusedMoEMethod")


@pytest.fixture(autouse=True)
def _parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def _run(*options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_unknown_format_is_wrong_use() -> None:
    done = _run("--format", "int3")
    assert done.returncode == 2
    assert "invalid choice: 'int3'" in done.stderr


def test_folder_without_wheels_is_wrong_use(tmp_path: Path) -> None:
    done = _run("--wheels", tmp_path)
    assert (done.returncode, done.stderr) == (2, f"gpu_check: {tmp_path}: no wheels (*.whl) lie here\n")


def test_file_that_is_no_wheel_is_refused_with_what_pip_says(tmp_path: Path) -> None:
    pytest.importorskip("pip")
    (tmp_path / "sglang-0.5.16-py3-none-any.whl").write_bytes(b"nothing")
    done = _run("--wheels", tmp_path)
    assert done.returncode == 2
    assert "pip cannot install these wheels" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_cuda_device_is_said(tmp_path: Path) -> None:
    require_engine()
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    done = _run("--output", tmp_path / "table.md")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("gpu_check: PyTorch ")
    assert "no CUDA device" in done.stderr
    assert not (tmp_path / "table.md").exists()


def _wheel(folder: Path, name: str, files: dict[str, str]) -> Path:
    info = f"{name}-1.0.dist-info"
    files = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in (files | {f"{info}/RECORD": record}).items():
            archive.writestr(file, text)
    return path


def test_trimmed_wheel_lacks_the_files_and_still_installs(tmp_path: Path) -> None:
    pytest.importorskip("pip")
    from gpu.wheels import install, trim

    whole = _wheel(tmp_path, "big", {"big/__init__.py": "kept = 1\n", "big/sm100/ops.so": "x" * 9000})
    (tmp_path / "small").mkdir()
    copy = trim(whole, tmp_path / "small", ["*/sm100/*"])
    with zipfile.ZipFile(copy) as archive:
        assert "big/sm100/ops.so" not in archive.namelist()
        assert "sm100" not in archive.read("big-1.0.dist-info/RECORD").decode()
    install(copy.parent, tmp_path / "target")
    assert (tmp_path / "target" / "big" / "__init__.py").read_text() == "kept = 1\n"
    assert not (tmp_path / "target" / "big" / "sm100").exists()


def test_wheels_come_first_in_the_process_that_checks(tmp_path: Path) -> None:
    """A wheel that calls itself torch is what the second process imports: without a device, it refuses."""
    pytest.importorskip("pip")
    named = {"torch": '__version__ = "0.carried"\nclass cuda:\n    is_available = staticmethod(lambda: False)\n'}
    for name in ("torch", "safetensors", "sglang", "qpolicy"):
        _wheel(tmp_path, name, {f"{name}/__init__.py": named.get(name, "")})
    done = _run("--wheels", tmp_path)
    assert done.returncode == 3
    assert "PyTorch 0.carried finds no CUDA device" in done.stderr


def _seen(**changed: Any) -> Any:
    from gpu.table import Seen

    given = {"method": "Fp8LinearMethod", "scheme": "", "home": "sglang.srt.x", "kernels": ("gemm",), "error": 0.02}
    return Seen("model.layers.0.mlp.down_proj", "RowParallelLinear", **(given | changed))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"method": "UnquantizedLinearMethod"}, "UnquantizedLinearMethod for quantized tensors"),
        ({"home": "qpolicy.kernels"}, "qpolicy.kernels is not SGLang's"),
        ({"scheme": "Other"}, "SGLang alone gives it Fp8LinearMethod"),
        ({"kernels": ()}, "no CUDA kernel was seen"),
        ({"kernels": ("gemm", "copy")}, "SGLang alone runs gemm"),
        ({"error": 0.2}, "error 0.2000 is over 0.06"),
        ({"error": float("nan")}, "error nan is over 0.06"),
    ],
)
def test_what_is_wrong_with_a_layer_is_said(changed: dict[str, Any], problem: str) -> None:
    from gpu.table import Row, markdown

    row = Row("fp8-block", True, 0.06, _seen(**changed), _seen())
    assert problem in " ".join(row.problems())
    table = markdown([row], [])
    assert "| wrong |" in table
    assert f"WRONG fp8-block model.layers.0.mlp.down_proj: {row.problems()[0]}" in table


def test_table_of_a_layer_that_is_right() -> None:
    from gpu.table import Failure, Row, markdown

    row = Row("fp8-block", True, 0.06, _seen(kernels=("void f|g", "k" * 99)), _seen(kernels=("k" * 99, "void f|g")))
    assert markdown([row], [Failure("ct-w4a16", "no marlin")]).splitlines() == [
        "| format | layer | tensors | method | kernels | error |  |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| fp8-block | 0.mlp.down_proj (RowParallelLinear) | quantized | Fp8LinearMethod "
        f"| f/g; {'k' * 53}... | 0.0200 | ok |",
        "FAILED ct-w4a16: no marlin",
    ]


def _formats() -> Any:
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from gpu.formats import FORMATS

    return FORMATS


def test_script_offers_the_formats_that_there_are() -> None:
    from gpu_check import NAMES, arguments

    assert tuple(form.name for form in _formats()) == NAMES
    assert arguments(["--format", "fp8-block", "--format", "ct-w4a16"]).format == ["fp8-block", "ct-w4a16"]


def test_stored_tensors_mean_the_weight_that_was_stored() -> None:
    """To the precision of each format: four bits are coarse, fp8 has three bits of mantissa, bf16 has seven."""
    formats = _formats()
    import torch
    from gpu.formats import LIMIT
    from gpu.reference import relative_error

    weight = (torch.randn(256, 512) * LIMIT / 5).clamp(-LIMIT, LIMIT)
    coarse = {"unquantized": 0.003, "ct-w4a16": 0.15}
    for form in formats:
        error = relative_error(form.read(form.store(weight)), weight)
        assert 0 < error < coarse.get(form.name, 0.03), form.name


def test_int4_is_packed_as_compressed_tensors_packs_it() -> None:
    _formats()
    helpers = pytest.importorskip("compressed_tensors.compressors.pack_quantized.helpers")
    import torch
    from gpu.formats import GROUP, store_int4

    weight = torch.randn(16, 256) * 0.05
    stored = store_int4(weight)
    values = (weight.reshape(16, -1, GROUP) / stored["weight_scale"].float()[:, :, None]).round().clamp(-8, 7)
    assert torch.equal(stored["weight_packed"], helpers.pack_to_int32(values.reshape(16, 256).to(torch.int8), 4))


def test_tolerance_lets_fp8_activations_through_and_not_a_wrong_scale(tmp_path: Path) -> None:
    formats = _formats()
    import torch
    from gpu import reference
    from gpu.checkpoints import HIDDEN, write
    from gpu.formats import FP8, FP8_MAX

    block = "model.layers.0.mlp"
    for form in (form for form in formats if form.config):
        weights = write(tmp_path / form.name, form, policy=True).weights
        given = reference.inputs(HIDDEN).float()
        scale = given.abs().amax(dim=1, keepdim=True) / FP8_MAX
        rounded = (given / scale).to(FP8).float() * scale if "fp8" in form.name else given
        wanted = reference.gate_up(weights, block, given)
        assert reference.relative_error(reference.gate_up(weights, block, rounded).bfloat16(), wanted) < form.tolerance
        swapped = torch.cat(reference.gate_up(weights, block, given).chunk(2, dim=1)[::-1], dim=1)
        assert reference.relative_error(swapped, wanted) > 10 * form.tolerance
        assert reference.relative_error(wanted * 1.1, wanted) > form.tolerance


def test_checkpoint_holds_both_kinds_of_layers_in_every_format(tmp_path: Path) -> None:
    formats = _formats()
    from gpu.checkpoints import write

    from qpolicy import open_checkpoint

    for form in (form for form in formats if form.config):
        folder = write(tmp_path / form.name, form, policy=True).folder
        checkpoint = open_checkpoint(folder)
        stored = {name: module.quantized for name, module in checkpoint.modules.items()}
        assert {name.split(".")[2] for name, quantized in stored.items() if quantized} == {"0", "1"}
        assert {name.split(".")[2] for name, quantized in stored.items() if quantized is False} == {"2", "3"}
        assert not checkpoint.problems


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory: pytest.TempPathFactory) -> Any:
    require_engine()
    path = tmp_path_factory.mktemp("gpu_check") / "results.json"
    return results_of(start_script("gpu_check_cpu.py", path), path)


@pytest.mark.engine
def test_unquantized_layers_agree_with_the_reference_on_a_cpu(on_cpu: Any) -> None:
    whole = on_cpu["whole"]
    assert (whole["failures"], whole["problems"]) == ([], [])
    assert [row[3] for row in whole["rows"]] == [PLAIN[0], PLAIN[0], PLAIN[1]]
    assert all(0 < row[4] < 0.01 for row in whole["rows"])


@pytest.mark.engine
def test_layers_are_built_and_loaded_as_by_sglang_alone(on_cpu: Any) -> None:
    built = on_cpu["built"]
    assert (built["failures"], built["problems"]) == ([], [])
    found = {(row[0], row[1]): (row[2], row[3]) for row in built["rows"]}
    wanted = {}
    for name, quantized in QUANTIZED.items():
        for layer, (linear, experts) in enumerate((quantized, PLAIN)):
            for leaf in ("gate_up_proj", "down_proj"):
                wanted[name, f"model.layers.{2 * layer}.mlp.{leaf}"] = (layer == 0, linear)
            wanted[name, f"model.layers.{2 * layer + 1}.mlp.experts"] = (layer == 0, experts)
    assert found == wanted


@pytest.mark.engine
@pytest.mark.parametrize("name", ["fp8-block", "fp8-tensor", "ct-w8a8-fp8"])
def test_forgotten_plain_layers_are_rounded_to_fp8_without_a_word(on_cpu: Any, name: str) -> None:
    """What docs/mtp.md says of a head that an fp8 list forgets."""
    scale = "weight_scale_inv" if name == "fp8-block" else "weight_scale"
    leaves = ("2.gate_up_proj.", "2.down_proj.", "3.experts.w13_", "3.experts.w2_")
    assert on_cpu["forgotten"][name] == {
        "error": "",
        "unread": [f"blocks.{leaf}{scale}" for leaf in leaves],
        "weight": "torch.float8_e4m3fn",
    }


@pytest.mark.engine
def test_forgotten_plain_layers_have_no_place_in_packed_ones(on_cpu: Any) -> None:
    error = on_cpu["forgotten"]["ct-w4a16"]["error"]
    assert error.startswith("KeyError: 'blocks.")
    assert error.endswith(".weight'")
