"""An ONNX file says what its maker's model says, or is refused by a sentence."""

import os
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import psutil
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from conftest import wait_until  # noqa: E402
from crafted.models import (  # noqa: E402
    DESCRIBED,
    MODELS,
    RUN,
    WIDE,
    doubling,
    foreign_label,
    many_nodes,
    model,
    sigmoid,
)
from onnx import helper  # noqa: E402

from fairdash import box  # noqa: E402
from fairdash.box.slots import AT_ONCE  # noqa: E402
from fairdash.brought import OnnxModel, positive_scores  # noqa: E402
from fairdash.brought.model import OnnxInput  # noqa: E402
from fairdash.brought.onnx_file import Runner, checked  # noqa: E402

ONES = pd.DataFrame({"x": np.ones(64)})


@pytest.mark.parametrize("case", MODELS)
def test_a_file_that_is_not_run_is_refused_by_a_sentence(case):
    make, why = MODELS[case]
    proto = make()
    content = proto if isinstance(proto, bytes) else proto.SerializeToString()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    with pytest.raises(ValueError, match=why):
        OnnxModel(content)
    assert time.perf_counter() - start < 30
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000  # kB: the file is never read in this process
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 3_000_000


@pytest.mark.parametrize("case", DESCRIBED)
def test_what_cannot_be_fed_or_read_is_said(case):
    make, why = DESCRIBED[case]
    with pytest.raises(ValueError, match=why):
        Runner(make().SerializeToString())


@pytest.mark.parametrize("case", RUN)
def test_what_is_not_asked_for_never_leaves_the_box(case):
    make, why = RUN[case]
    onnx_model = OnnxModel(make().SerializeToString(), "wide.onnx")
    rows = pd.DataFrame({"x": np.ones(50_000)})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=f"wide.onnx cannot be used: .*{why}") as error:
        onnx_model.predict_proba(rows)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 50_000  # kB; 900 columns of 50,000 rows are 360 MB
    words = str(error.value)
    assert "onnxruntime_src" not in words
    assert "zero-dimensional" not in words


def test_one_number_a_row_is_sent_for_the_positive_class(monkeypatch):
    sizes = []
    ask = box.Child.ask

    def measured(child, *arguments, **options):
        answer = ask(child, *arguments, **options)
        sizes.append((len(answer), options["most_bytes"]))
        return answer

    monkeypatch.setattr(box.Child, "ask", measured)
    monkeypatch.setattr("fairdash.brought.model.PART", 40)
    onnx_model = OnnxModel(model(sigmoid()).SerializeToString())
    scores = positive_scores(onnx_model, ONES)
    np.testing.assert_allclose(scores, 1 / (1 + np.exp(-1.0)))
    assert sizes == [(8 * n, 8 * n) for n in (40, 24)]
    assert onnx_model.predict_proba(ONES).shape == (64, 2)


def test_a_label_of_another_encoding_is_no_error_of_a_library():
    _, facts = checked(foreign_label().SerializeToString())
    assert facts["classes"] == ["\N{REPLACEMENT CHARACTER}", "a"]


def test_a_long_text_in_one_row_makes_the_others_no_wider():
    texts = pd.Series(["a" * 1_000_000, *["b"] * 20_000], name="town")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    values = OnnxInput("town", "str", 1, labels=False).values(texts)
    assert values.dtype == object
    assert [*values] == [*texts]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 50_000  # kB; 20,000 rows of a million characters are 80 GB


def test_the_process_that_serves_pages_loads_no_library_of_models(tmp_path):
    (tmp_path / "model.onnx").write_bytes(model(sigmoid()).SerializeToString())
    code = """if True:
        import sys
        import pandas as pd
        from pathlib import Path
        from fairdash.brought import OnnxModel
        model = OnnxModel(Path(sys.argv[1]).read_bytes())
        model.predict_proba(pd.DataFrame({"x": [1.0]}))
        assert not {"onnx", "onnxruntime"} & set(sys.modules)
    """
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model.onnx")], check=True
    )


def test_two_models_of_a_user_live_and_one_that_was_ended_goes_on():
    content = model(sigmoid()).SerializeToString()
    others = {*boxed_processes()}  # of tests before this one

    def living():
        return {*boxed_processes()} - others

    models = [OnnxModel(content, owner="ann") for _ in range(6)]
    try:
        wait_until(lambda: len(living()) <= AT_ONCE)
        for onnx_model in models:  # four of them begin again
            assert onnx_model.predict_proba(ONES).shape == (64, 2)
            wait_until(lambda: len(living()) <= AT_ONCE)
    finally:
        for onnx_model in models:
            onnx_model.close()
    wait_until(lambda: not living())


def boxed_processes():
    """Return the processes that answer, not the one they are forked from."""
    return [
        child
        for supervisor in psutil.Process().children()
        if any("fairdash.box" in word for word in supervisor.cmdline())
        for child in supervisor.children()
    ]


def test_a_model_that_grows_while_it_runs_is_stopped_and_the_next_one_works():
    grown = OnnxModel(doubling().SerializeToString(), "grow.onnx")
    with pytest.raises(ValueError, match=r"grow\.onnx cannot be used: it"):
        grown.predict_proba(ONES)
    fine = OnnxModel(model(sigmoid()).SerializeToString())
    np.testing.assert_allclose(fine.predict_proba(ONES)[:, 1], 1 / (1 + np.exp(-1.0)))


def test_a_model_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr("fairdash.brought.model.SECONDS", 0.2)
    with pytest.raises(ValueError, match=r"longer than 0\.2 s and was stopped"):
        OnnxModel(many_nodes(1_900).SerializeToString())


def test_columns_without_a_value_are_refused_by_a_sentence():
    text = OnnxInput("a", "str", 1, labels=False)
    with pytest.raises(ValueError, match=r"'a' holds nan.* takes text"):
        text.values(pd.Series([np.nan, np.nan], name="a"))


def test_a_model_runs_where_many_files_are_open():
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2_000, most), most))
    taken = [os.dup(0) for _ in range(1_024)]
    try:
        result = OnnxModel(model(sigmoid()).SerializeToString()).inputs
    finally:
        for taken_name in taken:
            os.close(taken_name)
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, most))
    assert len(result) == 1


def test_too_large_a_file_starts_no_process(monkeypatch):
    monkeypatch.setattr("fairdash.brought.model.LARGEST_ONNX", 10)
    monkeypatch.setattr("fairdash.box.Child", None)
    with pytest.raises(ValueError, match="larger than"):
        OnnxModel(b"0" * 11)


def test_a_column_is_found_by_its_name_or_the_only_one_like_it():
    onnx_model = OnnxModel(model(sigmoid()).SerializeToString())
    (name,) = (column.name for column in onnx_model.inputs)
    assert onnx_model.columns(pd.DataFrame({name: [1.0]})) == {name: name}
    with pytest.raises(ValueError, match="none of that name"):
        onnx_model.columns(pd.DataFrame({"other": [1.0]}))


def test_one_input_of_several_numbers_is_refused():
    total = helper.make_node("ReduceMean", ["x"], ["m"], axes=[1])
    proto = model(total, sigmoid("m"), inputs=[WIDE])
    with pytest.raises(ValueError, match="an input for each column"):
        OnnxModel(proto.SerializeToString())
