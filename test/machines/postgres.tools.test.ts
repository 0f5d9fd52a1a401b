/** PostgreSQL on a simulated VM, as Debian's tools set it up there: asked by the real psql from outside, and by the one of the machines. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freePort } from '../package/postgres-server.js';
import { type MachineWorld, machineWorld } from './machine-world.js';

const run = promisify(execFile);
const password = "it's \\ a:secret";

const setUp = `set -e
apt-get -y -qq install postgresql-common
pg_conftool /etc/postgresql-common/createcluster.conf set create_main_cluster false
apt-get -y -qq install postgresql
[ "$(dpkg-query -W -f '\${db:Status-Status}' postgresql)" = installed ]
version=$(dpkg-query -W -f '\${Version}' postgresql); version=\${version%%+*}
pg_createcluster $version main --encoding=UTF8 --locale=C.UTF-8
printf "listen_addresses = '*'\\n" > /etc/postgresql/$version/main/conf.d/ours.conf
printf 'local all all peer\\nhost all all 10.10.0.0/20 scram-sha-256\\n' > /etc/postgresql/$version/main/pg_hba.conf
systemctl restart postgresql@$version-main
runuser -u postgres -- psql -X -q -v ON_ERROR_STOP=1 -d postgres -f - <<'END'
alter role postgres password 'it''s \\ a:secret';
END
`;

describe('PostgreSQL on a simulated VM', () => {
  let world: MachineWorld;
  let address: string;
  before(async () => {
    world = await machineWorld(['node-1']);
    address = (await world.address('node-1')).internal;
    const made = await world.ssh('root@node-1', 'bash', { stdin: setUp, timeoutSeconds: 60 });
    expect(made.code, made.stderr).to.equal(0);
  });
  after(() => world?.close());

  /** By a jump over the jumpbox, as a person would. */
  async function withTunnel(work: (port: number) => Promise<void>): Promise<void> {
    const port = await freePort();
    const args = ['-o', 'ExitOnForwardFailure=yes', '-L', `127.0.0.1:${port}:${address}:5432`];
    const tunnel = world.startSsh('ubuntu@jumpbox', 'echo on; cat', { args });
    try {
      await once(tunnel.stdout as NodeJS.ReadableStream, 'data');
      await work(port);
    } finally {
      tunnel.kill();
      await once(tunnel, 'close');
    }
  }

  interface Said {
    readonly code: number;
    readonly stdout: string;
    readonly stderr: string;
  }
  const plain = ['-X', '-q', '-A', '-t', '-F', '\t', '-v', 'ON_ERROR_STOP=1'];
  /** Debian's, on this computer. */
  async function real(port: number, sql: string): Promise<Said> {
    const asked = run(
      'psql',
      [...plain, '-d', `host=127.0.0.1 port=${port} user=postgres dbname=postgres`, '-f', '-'],
      { env: { ...process.env, PGPASSWORD: password } },
    );
    asked.child.stdin?.end(sql);
    return asked.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: Said) => error,
    );
  }
  /** The one that stands for it, on the jumpbox. */
  async function ours(sql: string, more = ''): Promise<Said> {
    const words = `-X -q -A -t -F $'\\t' -v ON_ERROR_STOP=1 -d "host='${address}' user=postgres dbname=postgres ${more}" -f -`;
    const command = `PGPASSWORD=$(cat password) psql ${words}`;
    const { code, stdout, stderr } = await world.ssh('ubuntu@jumpbox', command, { stdin: sql });
    return { code: code ?? 0, stdout, stderr };
  }

  it('gives both the same rows, faults and exit codes', async () => {
    const client = await world.ssh('ubuntu@jumpbox', 'sudo apt-get -y -qq install postgresql-client; cat > password', {
      stdin: password,
    });
    expect(client.code, client.stderr).to.equal(0);
    await withTunnel(async (port) => {
      const table = `create table things (id int, name text, good bool, at timestamptz, more jsonb, raw bytea);
insert into things values (1, 'ä''b', true, '2026-03-04 05:06:07+00', '{"a": [1, 2]}', '\\x00ff'), (2, null, false, null, null, null);`;
      expect(await real(port, table)).to.include({ code: 0, stdout: '', stderr: '' });
      for (const sql of [
        'select * from things order by id;',
        "select 1; select 'two', 3.50; update things set good = not good where false; select count(*) from things;",
        '',
      ]) {
        expect(await ours(sql), sql).to.deep.include({ ...(await real(port, sql)) });
      }
      const wrong = 'select 1;\nselect * from nothing;\n';
      const [theirs, own] = [await real(port, wrong), await ours(wrong)];
      expect([theirs.code, own.code]).to.deep.equal([3, 3]);
      expect(own.stderr).to.include(theirs.stderr.split('\n')[0]);
    });
  });

  it('keeps its tables over a stop and a start of the VM', async () => {
    await world.vm('POST instances/node-1/stop');
    await world.vm('POST instances/node-1/start');
    await world.machines.settle();
    const ready =
      'for _ in {1..300}; do systemctl is-active --quiet postgresql@18-main && exit; sleep 0.1; done; exit 1';
    expect((await world.ssh('root@node-1', ready, { timeoutSeconds: 60 })).code).to.equal(0);
    await withTunnel(async (port) => {
      expect((await real(port, 'select count(*) from things;')).stdout).to.equal('2\n');
    });
  });

  it('lets nobody in with a wrong password, or from elsewhere than its rules say', async () => {
    await world.ssh('ubuntu@jumpbox', 'cat > password', { stdin: 'wrong' });
    const refused = await ours('select 1;');
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include('password authentication failed for user "postgres"');
  });
});
