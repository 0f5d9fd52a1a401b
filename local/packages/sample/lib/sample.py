"""Where the sample's service is and where its tables are: from the config, the same for every component that asks."""
from component import DATACENTER, ETC, FIRST, NAME, at, config, given

own = (config.get('override') or {}).get('sample') or {}
PORT = int(own.get('port', 8080 + DATACENTER - FIRST))
URL = f'http://127.0.0.1:{PORT}'
DATABASE, ROLE = 'plinth_sample', 'workspace_blue'
postgres = config['postgres']


def server():
    """PostgreSQL's own address, and how far its certificate is believed."""
    primary, port = postgres['primary'], str(own.get('postgresPort', 5432))
    if postgres['mode'] == 'install':
        # The certificate bears its name, which no name server here needs to know.
        return {'host': primary['hostname'], 'hostaddr': primary['ip'], 'port': port,
                'sslmode': 'verify-full', 'sslrootcert': at(f'{ETC}/postgres-ca.pem')}
    address = {'host': primary['ip'], 'port': port}
    if postgres.get('caCertPem'):
        return {**address, 'sslmode': 'verify-ca', 'sslrootcert': at(f'{ETC}/postgres-ca.pem')}
    return {**address, 'sslmode': 'prefer'}


def database():
    # In a second datacenter the step is left out and the server is the first one's.
    if 'postgres' in given['skipped'] and postgres['mode'] == 'install':
        return {'kind': 'sqlite', 'path': at(f'/var/lib/{NAME}/platform.sqlite')}
    return {'kind': 'postgresql', **server(), 'user': ROLE, 'dbname': DATABASE, 'passfile': at(f'{ETC}/pgpass')}
