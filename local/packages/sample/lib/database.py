"""The sample's tables: in PostgreSQL by psql, or, where the step postgres was left out, in a SQLite file."""
import os
import re
import sqlite3
import subprocess


class DatabaseError(Exception):
    pass


def quoted(value):
    return "'" + value.replace("'", "''") + "'"


def query(database, sql, **values):
    """Rows of text. `:name` in the statement is the value of that name."""
    if database['kind'] == 'sqlite':
        os.makedirs(os.path.dirname(database['path']), exist_ok=True)
        connection = sqlite3.connect(database['path'], timeout=10)
        try:
            with connection:
                return [[str(cell) for cell in row] for row in connection.execute(sql, values).fetchall()]
        except sqlite3.Error as error:
            raise DatabaseError(str(error)) from None
        finally:
            connection.close()
    bound = re.sub(r':([a-z_]+)', lambda match: quoted(values[match[1]]), sql)
    return psql(database, bound)


def psql(database, sql, env=None):
    """The statement goes in by standard input: nothing of it is seen among the processes."""
    connection = ' '.join(f"{key}='{database[key]}'" for key in ('host', 'hostaddr', 'port', 'user', 'dbname', 'sslmode', 'sslrootcert') if key in database)
    passfile = {'PGPASSFILE': database['passfile']} if 'passfile' in database else {}
    done = subprocess.run(
        ['psql', '-X', '-q', '-A', '-t', '-F', '\t', '-v', 'ON_ERROR_STOP=1', '-d', connection + ' connect_timeout=10', '-f', '-'],
        input=sql, capture_output=True, text=True, env={**os.environ, **passfile, **(env or {})})
    if done.returncode != 0:
        raise DatabaseError(done.stderr.strip())
    return [line.split('\t') for line in done.stdout.splitlines()]
