"""Where the sample's service is and where its tables are: from the config, the same for every component that asks."""
from component import ETC, at, config, given

VERSION_FILE = f'{ETC}/platform.json'
own = (config.get('override') or {}).get('sample') or {}
PORT = int(own.get('port', 8080))
URL = f'http://127.0.0.1:{PORT}'
DATABASE, ROLE = 'plinth_sample', 'workspace_blue'
postgres = config['postgres']


def server():
    """PostgreSQL's own address, and how far its certificate is believed."""
    address = {'host': postgres['primary']['ip'], 'port': str(own.get('postgresPort', 5432))}
    if postgres.get('caCertPem'):
        return {**address, 'sslmode': 'verify-ca', 'sslrootcert': at(f'{ETC}/postgres-ca.pem')}
    return {**address, 'sslmode': 'prefer'}


def database():
    # In a second datacenter the step is left out and the server is the first one's.
    if 'postgres' in given['skipped'] and postgres['mode'] == 'install':
        return {'kind': 'sqlite', 'path': at('/var/lib/plinth-sample/platform.sqlite')}
    return {'kind': 'postgresql', **server(), 'user': ROLE, 'dbname': DATABASE, 'passfile': at(f'{ETC}/pgpass')}
