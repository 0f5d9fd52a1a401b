/** What of a session's environment a job has, also where systemd begins it, which hands on nothing by itself. */
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { createRemote, type Remote } from '../../functions/remote/remote.js';
import { type Sshd, startSshd } from './sshd.js';

const proxies = {
  ALL_PROXY: 'socks5h://127.0.0.1:1080',
  HTTPS_PROXY: 'http://robot:planted-word@proxy.example:3128',
  https_proxy: 'http://robot:planted-word@proxy.example:3128',
  no_proxy: '10.0.0.0/8',
};

/** A unit's environment is systemd's own. */
const systemdRun = `#!/bin/bash
while [ "$1" != /bin/bash ]; do echo "$1" >> /usr/local/bin/asked; shift; done
env -i PATH="$PATH" HOME="$HOME" setsid "$@" </dev/null >/dev/null 2>&1 &
`;

describe('the environment of a job', () => {
  let sshd: Sshd;
  let remote: Remote;
  before(async () => {
    sshd = await startSshd('jumpbox', { ...proxies, PLANTED: 'planted' });
    remote = createRemote({});
  });
  after(async () => {
    await remote?.close();
    await sshd?.stop();
  });

  const seenBy = async (id: string): Promise<Record<string, string>> => {
    const host = await remote.host({ bootstrapId: 'b1', jumpbox: sshd.machine, privateKey: sshd.privateKey });
    const job = host.job(id);
    await job.start('env');
    for (;;) {
      const { state, bytes } = await job.poll(0, { waitSeconds: 5 });
      if (state === 'running') continue;
      const lines = bytes.toString().trim().split('\n');
      return Object.fromEntries(lines.map((line) => [line.replace(/=.*/, ''), line.replace(/^[^=]*=/, '')]));
    }
  };

  it('has the way out of a session', async () => {
    expect(await seenBy('without-systemd')).to.include(proxies);
  });

  it('has it where systemd begins the job, too, and no command line tells it', async () => {
    writeFileSync(`${sshd.folder}/systemd-run`, systemdRun, { mode: 0o755 });
    sshd.inside(
      `mount -t tmpfs tmpfs /run && mkdir -p /run/sshd /run/systemd/system && mount -t tmpfs tmpfs /usr/local/bin && cp ${sshd.folder}/systemd-run /usr/local/bin/`,
    );
    const seen = await seenBy('by-systemd');
    expect(seen).to.include(proxies).and.not.have.property('PLANTED');
    expect(sshd.inside('cat /usr/local/bin/asked'))
      .to.include('--unit=plinth-job-by-systemd')
      .and.not.include('planted');
    expect(sshd.inside('stat -c %a /var/lib/plinth/jobs/by-systemd/environment').trim()).to.equal('600');
  });
});
