"""Certificates are replaced before they end, and whoever uses one is told in time."""

import logging
from datetime import UTC, datetime, timedelta

import dask
import pytest
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.jobs import certificate_end, write_certificates
from fairdash.jobs._certificates import warn_of_the_end


def init(folder, *options):
    done = CliRunner().invoke(app, ["cluster", "init", str(folder), *options])
    assert done.exit_code == 0, done.output
    return done.output


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(("days", "kept"), [(1, False), (30, False), (31, True)])
def test_a_certificate_is_replaced_when_it_ends_within_the_days_of_renew(
    tmp_path, days, kept
):
    init(tmp_path, "--days", str(days))
    before = files(tmp_path)
    output = init(tmp_path, "--renew", "30")
    after = files(tmp_path)
    assert (after == before) is kept
    assert (after["key.pem"] == before["key.pem"]) is kept
    end = certificate_end(tmp_path / "certificate.pem")
    assert f"valid until {end:%Y-%m-%d}." in output
    year = datetime.now(UTC) + timedelta(days=364)
    assert (end > year) is not kept


def test_without_renew_a_certificate_is_never_replaced(tmp_path):
    write_certificates(tmp_path, days=1)
    before = files(tmp_path)
    with pytest.raises(ValueError, match=r"key\.pem is there; .* --renew"):
        write_certificates(tmp_path)
    assert files(tmp_path) == before


@pytest.mark.parametrize(("days", "said"), [(29, True), (31, False)])
def test_a_certificate_that_ends_soon_is_said_and_replaced(
    tmp_path, caplog, days, said
):
    write_certificates(tmp_path, days=days)
    path = tmp_path / "certificate.pem"
    with (
        caplog.at_level(logging.WARNING, "fairdash.jobs"),
        dask.config.set({"distributed.comm.tls.ca-file": str(path)}),
    ):
        warn_of_the_end()
        assert bool(caplog.messages) is said
        for message in caplog.messages:
            assert f"{path} ends on {certificate_end(path):%Y-%m-%d}" in message
            assert f"fairdash cluster init {tmp_path} --renew 30" in message
        caplog.clear()
        write_certificates(tmp_path, renew=30)
        warn_of_the_end()
        assert caplog.messages == []


def test_a_check_names_a_scheduler_that_is_not_there():
    done = CliRunner().invoke(app, ["cluster", "check", "tcp://127.0.0.1:1"])
    assert done.exit_code == 2
    assert "No scheduler answers at tcp://127.0.0.1:1." in done.output
