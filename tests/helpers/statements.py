"""Statements that would write a file or read one, and a database to try them on."""

import sqlite3
from contextlib import closing
from urllib.parse import quote

import duckdb

SECRET = "words of a file that no statement may read"
# {out} is a file that must not appear, {secret} one that must not be read
ANY = {
    "closing bracket": "SELECT 1 y) AS s; COPY (SELECT 'x') TO '{out}'; --",
    "second statement": "SELECT a FROM loans; COPY loans TO '{out}'",
    "first statement": "COPY loans TO '{out}'; SELECT a FROM loans",
    "behind a comment": "SELECT a FROM loans /* ; */ ; COPY loans TO '{out}'",
    "open comment": "SELECT a FROM loans) /* x */; COPY loans TO '{out}' --",
    "only a comment": "-- SELECT a FROM loans",
    "delete": "DELETE FROM loans",
    "insert": "INSERT INTO loans VALUES (7, 7)",
    "create": "CREATE TABLE more AS SELECT a FROM loans",
    "drop": "DROP TABLE loans",
    "no statement": ";",
    "zero byte": "SELECT a FROM loans\0; COPY loans TO '{out}'",
    "wide signs": "SELECT a FROM loans； COPY loans TO '{out}'",
    "brackets closed early": 'SELECT a FROM "loans" ") AS s; COPY loans TO \'{out}\'',
}
DUCKDB = {
    "copy in a name": "WITH c AS (COPY loans TO '{out}') SELECT a FROM loans",
    "insert in a name": (
        "WITH c AS (INSERT INTO loans VALUES (7, 7) RETURNING a) SELECT a FROM c"
    ),
    "read_text": "SELECT content AS a FROM read_text('{secret}')",
    "read_blob": "SELECT content AS a FROM read_blob('{secret}')",
    "read_csv": "SELECT a FROM read_csv('{secret}', header=false) AS s(a)",
    "nested": "SELECT a FROM loans WHERE a IN (SELECT 1 FROM read_text('{secret}'))",
    "scalar": "SELECT (SELECT content FROM read_text('{secret}')) AS a",
    "file as table": "SELECT a FROM '{secret}'",
    "file as name": 'SELECT a FROM "{secret}"',
    "glob": "SELECT file AS a FROM glob('{folder}/*')",
    "sniff_csv": "SELECT Columns AS a FROM sniff_csv('{secret}')",
    "parquet": "SELECT file_name AS a FROM parquet_metadata('{secret}')",
    "query": "SELECT * FROM query('SELECT content FROM read_text(''{secret}'')')",
    "serialized": (
        "SELECT * FROM json_execute_serialized_sql(json_serialize_sql("
        "'SELECT content FROM read_text(''{secret}'')'))"
    ),
    "attach": "ATTACH '{out}' AS other",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "pragma": "PRAGMA database_list",
    "set": "SET enable_external_access = true",
    "reset": "RESET enable_external_access",
    "logging": "SELECT * FROM enable_logging(storage='file', storage_path='{out}')",
    "profile": "PRAGMA enable_profiling='json'",
    "export": "EXPORT DATABASE '{out}'",
    "getenv": "SELECT getenv('HOME') AS a",
    "variable of Python": "SELECT * FROM variable",
    "explain": "EXPLAIN ANALYZE SELECT a FROM loans",
    "call": "CALL pragma_version()",
    "prepare": "PREPARE p AS COPY loans TO '{out}'",
}
SQLITE = {
    "explain": "EXPLAIN SELECT a FROM loans",
    "explain behind": "/* SELECT */ EXPLAIN QUERY PLAN SELECT a FROM loans",
    "attach": "ATTACH '{out}' AS other",
    "attach by URI": "ATTACH 'file:{out}?mode=rwc' AS other",
    "load_extension": "SELECT load_extension('{secret}') AS a",
    "writefile": "SELECT writefile('{out}', 'x') AS a",
    "readfile": "SELECT readfile('{secret}') AS a",
    "vacuum": "VACUUM INTO '{out}'",
    "pragma": "PRAGMA query_only = OFF",
    "pragma as table": "SELECT * FROM pragma_database_list",
    "returning": "DELETE FROM loans RETURNING a",
    "insert in a name": "WITH c AS (SELECT 7) INSERT INTO loans SELECT 7, 7 FROM c",
    "virtual table": "CREATE VIRTUAL TABLE t USING fts5(a)",
}
POSTGRES = {
    "program": "COPY loans TO PROGRAM 'cat > {out}'",
    "program behind": "SELECT a FROM loans; COPY loans TO PROGRAM 'cat > {out}'",
    "pg_read_file": "SELECT pg_read_file('{secret}') AS a",
    "pg_ls_dir": "SELECT pg_ls_dir('{folder}') AS a",
    "lo_import": "SELECT lo_import('{secret}') AS a",
    "lo_export": "SELECT lo_export(1, '{out}') AS a",
    "insert in a name": (
        "WITH c AS (INSERT INTO loans VALUES (7, 7) RETURNING a) SELECT a FROM c"
    ),
    "volatile function": "SELECT adds() AS a",
    "query_to_xml": "SELECT query_to_xml('DELETE FROM loans', true, true, '') AS a",
    "read-write": (
        "SELECT set_config('transaction_read_only', 'off', true), adds() AS a"
    ),
    "sequence": "SELECT nextval('numbers') AS a",
    "select into": "SELECT a INTO more FROM loans",
    "lock": "SELECT a FROM loans FOR UPDATE",
    "dollar quotes": "SELECT $$a$$; COPY loans TO '{out}'",
    "do": "DO $$ BEGIN COPY loans TO '{out}'; END $$",
    "set": "SET transaction_read_only = off",
}
# expressions and tables that reach beyond a database, for `in_many_forms`
REACHING = {
    "duckdb": [
        "read_text('{secret}')",
        "read_blob('{secret}')",
        "read_csv('{secret}', header=false)",
        "read_csv_auto(['{secret}'])",
        "read_json('{secret}')",
        "read_ndjson_objects('{secret}')",
        "read_parquet('{secret}')",
        "glob('{folder}/*')",
        "sniff_csv('{secret}')",
        "sqlite_scan('{secret}', 'loans')",
        "postgres_query('host=127.0.0.1', 'SELECT 1')",
        "read_csv('http://127.0.0.1:1/words.csv')",
        "query('FROM read_text(''{secret}'')')",
        "'{secret}'",
        '"{secret}"',
    ],
    "postgresql": [
        "pg_read_file('{secret}')",
        "pg_read_binary_file('{secret}')",
        "pg_ls_dir('{folder}')",
        "pg_stat_file('{secret}')",
        "lo_import('{secret}')",
        "lo_export(1, '{out}')",
        "dblink_connect('host=127.0.0.1 port={port}')",
        "dblink_connect('c', 'host=127.0.0.1 port={port} password=x')",
        "dblink_exec('host=127.0.0.1 port={port}', 'DROP TABLE loans')",
        "dblink('host=127.0.0.1 port={port}', 'SELECT 1') AS t(a int)",
        "query_to_xml('SELECT dblink_connect(''host=127.0.0.1 port={port}'')', "
        "true, true, '')",
        "adds()",
    ],
}
FORMS = {
    "plain": "SELECT * FROM {reach}",
    "in brackets": "(SELECT * FROM {reach})",
    "in a name": "WITH c AS (SELECT * FROM {reach}) SELECT * FROM c",
    "materialized": "WITH c AS MATERIALIZED (SELECT * FROM {reach}) SELECT * FROM c",
    "nested": "SELECT a FROM loans WHERE EXISTS (SELECT * FROM {reach})",
    "counted": "SELECT a FROM loans WHERE (SELECT count(*) FROM {reach}) >= 0",
    "in a case": "SELECT CASE WHEN a > 9 THEN 0 ELSE (SELECT count(*) FROM {reach}) "
    "END AS a FROM loans",
    "beside": "SELECT l.a FROM loans AS l CROSS JOIN (SELECT * FROM {reach}) AS s",
    "lateral": "SELECT l.a FROM loans AS l, LATERAL (SELECT * FROM {reach}) AS s",
    "union": "SELECT count(*) AS a FROM loans UNION ALL SELECT count(*) FROM {reach}",
    "values": "VALUES ((SELECT count(*) FROM {reach}))",
    "order": "SELECT a FROM loans ORDER BY (SELECT count(*) FROM {reach})",
    "limit": "SELECT a FROM loans LIMIT (SELECT count(*) FROM {reach})",
    "commented": "/* one; */ SELECT/**/*/**/FROM -- ; \n {reach} -- ;",
    "second": "SELECT a FROM loans; SELECT * FROM {reach}",
}


def in_many_forms(kind):
    """Yield statements of a database that reach beyond it, in every form."""
    for reach in REACHING[kind]:
        for form in FORMS.values():
            yield form.replace("{reach}", reach)


class Bank:
    """A database file, beside a secret and the file that a statement would write."""

    def __init__(self, folder, kind):
        self.folder, self.kind = folder, kind
        self.secret, self.out = folder / "secret.csv", folder / "out.txt"
        self.secret.write_text(f"{SECRET}\n")
        self.file = folder / f"bank.{kind}"
        link = (duckdb if kind == "duckdb" else sqlite3).connect(self.file)
        with closing(link):
            link.execute("CREATE TABLE loans (a INTEGER, b INTEGER)")
            link.execute("INSERT INTO loans VALUES (1, 0), (0, 1), (1, 1)")
            link.commit()
        self.before = self.file.read_bytes()

    def address(self, **option):
        ((name, text),) = option.items()
        text = text.format(out=self.out, secret=self.secret, folder=self.folder)
        return f"{self.kind}:///{self.file}?{name}={quote(text)}"

    def assert_untouched(self, words):
        assert SECRET not in words
        names = {path.name for path in self.folder.iterdir()}
        assert names == {self.secret.name, self.file.name}
        assert self.file.read_bytes() == self.before
