"""What the components of the sample share: their input, files that are looked at, written and taken away, and the end."""
import json
import os
import subprocess
import sys
import tempfile

ACTION = os.environ['PLINTH_ACTION']
PACKAGE = os.environ['PLINTH_PACKAGE']
ROOT = os.environ['PLINTH_ROOT']
STATE = os.environ['PLINTH_STATE']
TEMPORARY, CONFIG = 75, 78

given = json.load(sys.stdin)
config, secrets = given['config'], given['secrets']
# One jumpbox installs in all datacenters: what is of another than the first bears its number.
DATACENTER = config['dataCenter']['id']
FIRST = config.get('defaultDataCenterId', DATACENTER)
NAME = 'plinth-sample' if DATACENTER == FIRST else f'plinth-sample-dc{DATACENTER}'
ETC, OPT = f'/etc/{NAME}', f'/opt/{NAME}'


def at(path):
    """On a host the path itself; beneath another root when PLINTH_ROOT names one."""
    return os.path.join(ROOT, path.lstrip('/'))


def say(text):
    print(text, flush=True)


def progress(done, total, text):
    say(f'::progress {done}/{total} {text}')


def fail(why, code=2):
    print(why, file=sys.stderr, flush=True)
    sys.exit(code)


def secret(name, kind='password'):
    entry = secrets.get(name) or fail(f'the secrets file has no secret {name}', CONFIG)
    value = entry.get('fields', {}).get(kind) or entry.get('file', {}).get('content')
    return value or fail(f'the secret {name} is empty', CONFIG)


def stands(path, content, mode):
    try:
        with open(at(path), 'rb') as file:
            return file.read() == content and os.stat(at(path)).st_mode & 0o777 == mode
    except FileNotFoundError:
        return False


def write(path, content, mode=0o644):
    target = at(path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target))
    with os.fdopen(handle, 'wb') as file:
        os.fchmod(handle, mode)
        file.write(content)
        file.flush()
        os.fsync(handle)
    os.rename(temporary, target)


def remove(path):
    try:
        os.unlink(at(path))
    except FileNotFoundError:
        pass


def keep_files(wanted):
    """The whole of a component that is nothing but files: { path: (content, mode) }."""
    if ACTION == 'check':
        differing = [path for path, (content, mode) in wanted.items() if not stands(path, content, mode)]
        if differing:
            say(f'differs: {", ".join(differing)}')
        sys.exit(1 if differing else 0)
    for done, (path, (content, mode)) in enumerate(wanted.items(), 1):
        if ACTION == 'remove':
            remove(path)
        elif not stands(path, content, mode):
            write(path, content, mode)
        progress(done, len(wanted), path)
    sys.exit(0)


def as_json(value):
    return (json.dumps(value, indent=2, sort_keys=True) + '\n').encode()


def packed(path):
    with open(os.path.join(PACKAGE, path), 'rb') as file:
        return file.read()


def run(*command, env=None, input=None):
    """Its output, or a failure that says what it said."""
    try:
        done = subprocess.run(command, input=input, capture_output=True, text=True, env={**os.environ, **(env or {})})
    except FileNotFoundError:
        fail(f'{command[0]} is not on this host', CONFIG)
    if done.returncode != 0:
        fail(f'{command[0]} ended with {done.returncode}: {done.stderr.strip()[-2000:]}', TEMPORARY)
    return done.stdout
