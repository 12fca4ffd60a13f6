"""No statement writes a file, or reads one that is not its database."""

import ast
import re
import socket
import sqlite3
from contextlib import closing, suppress
from itertools import cycle
from pathlib import Path
from urllib.parse import quote

import duckdb
import numpy as np
import pytest
import sqlalchemy as sa
import yaml
from cases import THOROUGH, sampled
from statements import ANY, DUCKDB, POSTGRES, SECRET, SQLITE, Bank, in_many_forms
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.datasets import read_table, sources
from fairdash.sweep import SweepSpec, benchmark_specs, source_file

ROOT = Path(__file__).parents[2]
ROLES = "roles: {target: a, positive: 1, sensitive_feature: b, features: [c]}"

FILES = [
    *[("duckdb", *case) for case in {**ANY, **DUCKDB}.items()],
    *[("sqlite", *case) for case in {**ANY, **SQLITE}.items()],
]
variable = None


@pytest.fixture
def bank(request, tmp_path):
    folder = tmp_path / "bank"
    folder.mkdir()
    return Bank(folder, request.param)


def refusal(address):
    with pytest.raises(ValueError) as caught:
        read_table(address)
    assert type(caught.value) is ValueError
    words = str(caught.value)
    assert re.search("was not read|could not be read from|is damaged", words), words
    assert "\n" not in words
    return words


EACH = [pytest.param(*case, id=f"{case[0]}: {case[1]}") for case in FILES]


@pytest.mark.parametrize("bank, name, statement", sampled(EACH, 2), indirect=["bank"])
def test_a_statement_is_one_select_of_its_database(bank, name, statement):
    bank.assert_untouched(refusal(bank.address(query=statement)))


def forms(database, thorough):
    """Return statements in many forms, or each seventh as a sample."""
    return list(in_many_forms(database))[:: 1 if thorough else 7]


@pytest.mark.parametrize("bank", ["duckdb"], indirect=True)
def test_whatever_form_it_has_a_statement_reaches_nothing(bank, thorough):
    for statement in forms("duckdb", thorough):
        bank.assert_untouched(refusal(bank.address(query=statement)))


@pytest.mark.parametrize("bank", ["duckdb", "sqlite"], indirect=True)
@pytest.mark.parametrize(
    "table",
    [
        "loans\"; COPY loans TO '{out}'; --",
        "loans\" AS s; ATTACH '{out}'; --",
        "loans; DROP TABLE loans",
        "read_text('{secret}')",
        "loans' OR '1'='1",
        "loans\0",
        "；DROP TABLE loans",
    ],
)
def test_a_table_is_a_name_and_no_statement(bank, table):
    bank.assert_untouched(refusal(bank.address(table=table)))


@pytest.mark.parametrize("bank", ["duckdb"], indirect=True)
@pytest.mark.parametrize("body", ["SELECT content AS a FROM read_text('{secret}')"])
def test_a_view_of_the_database_reads_no_file_either(bank, body):
    with duckdb.connect(bank.file) as link:
        link.execute(f"CREATE VIEW sly AS {body.format(secret=bank.secret)}")
    bank.before = bank.file.read_bytes()
    bank.assert_untouched(refusal(bank.address(table="sly")))


@pytest.mark.parametrize("bank", ["duckdb", "sqlite"], indirect=True)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, b FROM loans",
        "SELECT a, b FROM loans; ",
        "SELECT a, b FROM loans -- all; of them",
        "/* COPY */ SELECT a, b FROM loans",
        "WITH c AS (SELECT a, b FROM loans) SELECT a, b FROM c",
        "SELECT l.* FROM loans AS l",
        "SELECT a, b FROM loans WHERE 'a;b' <> 'x) AS s; COPY' ORDER BY a DESC, b",
    ],
)
def test_one_select_is_read_as_it_is_written(bank, query, tmp_path):
    frame = read_table(bank.address(query=query))
    assert sorted(zip(frame["a"], frame["b"], strict=True)) == [(0, 1), (1, 0), (1, 1)]
    path = tmp_path / "rows.parquet"
    sources.write_source(bank.address(query=query), path, columns=["b"])
    assert list(read_table(path)) == ["b"]
    with pytest.raises(ValueError, match="`column` must be one of"):
        sources.write_source(bank.address(query=query), path, columns=["nope"])


@pytest.mark.parametrize("bank", ["duckdb", "sqlite"], indirect=True)
def test_a_column_that_is_not_there_is_no_column_of_its_name(bank, tmp_path):
    with pytest.raises(ValueError, match="could not be read from"):
        sources.write_source(
            bank.address(table="loans"), tmp_path / "rows.parquet", columns=["nope"]
        )


DOORS = ["shell", "configuration", "benchmark", "monitor", "source list"]


def through_doors():
    """Return every statement before every door; the sample has each behind one."""
    doors = cycle(DOORS)
    for kind, name, statement in FILES:
        tried = next(doors)
        for door in DOORS:
            marks = () if door == tried else THOROUGH
            case = f"{kind}: {name}-{door}"
            yield pytest.param(kind, name, statement, door, id=case, marks=marks)


@pytest.mark.parametrize(
    "bank, name, statement, door", list(through_doors()), indirect=["bank"]
)
def test_no_door_lets_a_statement_through(
    bank, name, statement, door, tmp_path, monkeypatch
):
    address = bank.address(query=statement)
    config = tmp_path / "config.yaml"
    path = f"{{path: {yaml.safe_dump(address).splitlines()[0]}, {ROLES}}}"
    match door:
        case "source list":
            (tmp_path / "sources.yaml").write_text(
                yaml.safe_dump({"Loans": {"address": address}})
            )
            monkeypatch.setenv("FAIRDASH_SOURCES", str(tmp_path / "sources.yaml"))
            with pytest.raises(ValueError, match="read") as caught:
                sources.write_listed("Loans", "ann", tmp_path / "rows.parquet")
            bank.assert_untouched(str(caught.value))
            return
        case "shell":
            command = ["data", "add", address]
        case "configuration":
            config.write_text(f"data: {path}\nmethods: [{{method: unconstrained}}]")
            command = ["run", str(config)]
        case "benchmark":
            config.write_text(f"tables: [{path}]\nmethods: [{{method: unconstrained}}]")
            command = ["run", str(config)]
        case "monitor":
            config.write_text("group: b\ndecision: a=1\nlimits: []")
            command = ["monitor", "add", "m", "--source", address]
            command += ["--policy", str(config)]
    home = ["--home", str(tmp_path / "home")]
    done = CliRunner().invoke(app, [*command, *home])
    if door == "monitor" and done.exit_code == 0:
        done = CliRunner().invoke(app, ["monitor", "run", *home])
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
    assert len(done.stderr.splitlines()) == 1
    bank.assert_untouched(done.stderr)


@pytest.mark.parametrize("bank", ["duckdb", "sqlite"], indirect=True)
def test_a_configuration_names_no_database_but_a_listed_source(
    bank, tmp_path, monkeypatch
):
    address = bank.address(table="loans")
    method = "methods: [{method: unconstrained}]"
    for scheme in (bank.kind, bank.kind.upper(), "postgresql", "postgresql+psycopg"):
        named = address.replace(bank.kind, scheme, 1)
        text = f"data: {{path: '{named}', {ROLES}}}\n{method}"
        with pytest.raises(ValueError, match="may not name a database by its address"):
            SweepSpec.from_yaml(text)
        config = tmp_path / "config.yaml"
        config.write_text(
            f"tables: [{{sample: hiring}}, {{path: '{named}', {ROLES}}}]\n{method}"
        )
        with pytest.raises(ValueError, match="may not name a database by its address"):
            benchmark_specs(config)
    listed = {
        "Loans": {"address": address},
        "Hers": {"address": address, "users": ["ann@example.org"]},
    }
    (tmp_path / "sources.yaml").write_text(yaml.safe_dump(listed))
    monkeypatch.setenv("FAIRDASH_SOURCES", str(tmp_path / "sources.yaml"))
    spec = SweepSpec.from_yaml(f"data: {{source: Loans, {ROLES}}}\n{method}")
    with source_file(spec.data) as (path, name):
        assert name == "Loans"
        assert list(read_table(path)) == ["a", "b"]
    spec = SweepSpec.from_yaml(f"data: {{source: Hers, {ROLES}}}\n{method}")
    with (
        pytest.raises(ValueError, match="no source 'Hers' that you may read"),
        source_file(spec.data),
    ):
        pass


@pytest.fixture
def server_bank(new_database, tmp_path):
    """A Postgres that a plain login and a superuser may read, as addresses."""
    database = new_database()
    engine = sa.create_engine(database, poolclass=sa.pool.NullPool)
    with engine.begin() as link:
        for statement in (
            "CREATE TABLE public.loans (a INTEGER, b INTEGER)",
            "INSERT INTO public.loans VALUES (1, 0), (0, 1)",
            "CREATE SEQUENCE public.numbers",
            "CREATE FUNCTION public.adds() RETURNS int LANGUAGE sql VOLATILE AS "
            "'INSERT INTO public.loans VALUES (7, 7) RETURNING a'",
            "CREATE VIEW public.sly AS SELECT pg_read_file('/etc/passwd') AS a",
            "DROP ROLE IF EXISTS reader",
            "CREATE ROLE reader LOGIN",
            "GRANT ALL ON ALL TABLES IN SCHEMA public TO reader",
            "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO reader",
        ):
            link.execute(sa.text(statement))
    mighty = sa.make_url(database).set(drivername="postgresql")
    mighty = mighty.update_query_dict({"options": "-c search_path=public"})
    yield engine, mighty.set(username="reader"), mighty
    with engine.begin() as link:
        link.execute(sa.text("DROP OWNED BY reader"))
        link.execute(sa.text("DROP ROLE reader"))


def test_postgres_takes_one_select_too(server_bank, tmp_path):
    engine, plain, mighty = server_bank
    folder = tmp_path / "server"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    out = folder / "out.txt"
    secret = folder / "secret.csv"
    secret.write_text(SECRET)
    for login in (plain, mighty):
        place = f"{login.render_as_string()}&"
        for statement in {**ANY, **POSTGRES}.values():
            text = statement.format(out=out, secret=secret, folder=folder)
            assert SECRET not in refusal(f"{place}query={quote(text)}")
            assert not out.exists()
        assert len(read_table(f"{place}table=public.loans")) == 2
        refusal(f"{place}table=sly")
        refusal(f"{place}autocommit=1&table=loans")
    assert len(read_table(f"{plain.render_as_string()}&query=SELECT a FROM loans")) == 2
    with pytest.raises(ValueError, match="CREATE ROLE reader LOGIN"):
        read_table(f"{mighty.render_as_string()}&query=SELECT a FROM loans")
    with engine.begin() as link:
        assert link.execute(sa.text("SELECT count(*) FROM public.loans")).scalar() == 2
        tables = link.execute(
            sa.text("SELECT count(*) FROM pg_tables WHERE tablename = 'more'")
        )
        assert tables.scalar() == 0


def test_whatever_form_it_has_a_statement_of_postgres_reaches_nothing(
    server_bank, tmp_path, thorough
):
    """Neither a file nor another server, even where anybody may call dblink."""
    engine, plain, mighty = server_bank
    folder = tmp_path / "server"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    out = folder / "out.txt"
    secret = folder / "secret.csv"
    secret.write_text(SECRET)
    with engine.begin() as link:
        link.execute(sa.text("CREATE EXTENSION dblink SCHEMA public"))
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        stranger.setblocking(False)
        port = stranger.getsockname()[1]
        for login in (plain, mighty):
            place = f"{login.render_as_string()}&"
            for statement in forms("postgresql", thorough):
                text = statement.format(
                    out=out, secret=secret, folder=folder, port=port
                )
                words = refusal(f"{place}query={quote(text)}")
                assert "or other servers" in words
            assert len(read_table(f"{place}table=public.loans")) == 2
        with engine.begin() as link:
            revoke = "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC"
            link.execute(sa.text(revoke))
        place = f"{plain.render_as_string()}&"
        assert len(read_table(f"{place}query=SELECT a FROM loans")) == 2
        for statement in forms("postgresql", thorough):
            text = statement.format(out=out, secret=secret, folder=folder, port=port)
            assert SECRET not in refusal(f"{place}query={quote(text)}")
        with pytest.raises(BlockingIOError):
            stranger.accept()
    assert not out.exists()


def test_only_the_gate_and_the_store_open_a_database():
    """The gate loads DuckDB and psycopg by name."""
    opening = {"duckdb", "psycopg", "sqlite3", "sqlalchemy"}
    reached = set()
    for path in sorted((ROOT / "fairdash").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            match node:
                case ast.Import():
                    names = [alias.name for alias in node.names]
                case ast.ImportFrom():
                    names = [node.module or ""]
                case ast.Call(args=[ast.Constant(value=str(name))]):
                    names = [name]
            if {name.partition(".")[0] for name in names} & opening:
                reached.add(path.relative_to(ROOT / "fairdash").parts[:3])
    assert {parts for parts in reached if parts[0] != "store"} == {
        ("datasets", "sources", "database.py")
    }


@pytest.mark.parametrize("bank", ["duckdb", "sqlite"], indirect=True)
def test_a_damaged_database_is_said_to_be_damaged(bank):
    rng = np.random.default_rng(0)
    answers = []
    for _ in range(40):
        content = bytearray(bank.before)
        for place in rng.integers(0, len(content), 400):
            content[place] = rng.integers(256)
        bank.file.write_bytes(content)
        with suppress(ValueError):
            read_table(bank.address(table="loans"))
            continue
        answers.append(refusal(bank.address(table="loans")))
    # the name of the table may be what was changed
    damaged = [words for words in answers if "the file is damaged, or no" in words]
    assert len(damaged) >= 0.9 * len(answers) > 30


def test_text_of_another_encoding_is_damage(tmp_path):
    with closing(sqlite3.connect(tmp_path / "bank.db")) as link:
        link.execute("CREATE TABLE loans AS SELECT CAST(x'ff41' AS TEXT) AS a")
        link.commit()
    assert "is damaged" in refusal(f"sqlite:///{tmp_path}/bank.db?table=loans")


@pytest.mark.parametrize(
    "bank, query, words",
    [
        ("duckdb", "SELECT a, a FROM loans", "two columns named 'a'"),
        ("sqlite", "SELECT a, b AS a FROM loans", "two columns named 'a'"),
        ("duckdb", "SELECT INTERVAL 1 DAY AS a FROM loans", "a kind that is not kept"),
    ],
    indirect=["bank"],
)
def test_rows_that_cannot_be_kept_are_refused_by_a_sentence(bank, query, words):
    with pytest.raises(ValueError, match=words) as caught:
        read_table(bank.address(query=query))
    assert type(caught.value) is ValueError


def test_a_database_of_another_kind_is_said_to_be_none(tmp_path):
    with closing(sqlite3.connect(tmp_path / "bank.db")) as link:
        link.execute("CREATE TABLE loans AS SELECT 1 AS a")
        link.commit()
    words = refusal(f"duckdb:///{tmp_path}/bank.db?table=loans")
    assert "no database of this version of DuckDB" in words
