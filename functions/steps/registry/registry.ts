/**
 * Runs the registry on the jumpbox: the distribution's docker-registry, with TLS and one user. Secret Manager has its CA key
 * and password. Only the jumpbox has the server's key, and a lost one is made again.
 */
import { createPublicKey } from 'node:crypto';
import * as z from 'zod';
import { done, of, type StepCall } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { makeServerCertificate, servesAs } from '../config/certificates.js';
import { secrets } from '../config/secrets.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { mustRun, runScript } from '../hosts/script.js';
import { hasLocalRegistry, localRegistryServer, localRegistryUser } from '../topology.js';
import { registryConfig, registryPaths, registryUnit, registryUnitFile } from './registry-files.js';
import { registryPrograms } from './tools.js';

const needs = { ...hostNeeds(), registryPrograms, secrets: of(secrets, () => ['dc1']) } as const;
type Call = StepCall<typeof needs, undefined>;

export const registry = defineHostStep({
  name: 'registry',
  title: 'Registry on the jumpbox',
  needs,
  when: hasLocalRegistry,
  describe: () => ['docker-registry on the jumpbox at port 5000, with TLS and a password'],
  output: z.object({ server: z.string() }),
  async observe(call) {
    const host = await reach(call);
    const facts = await factsOf(call);
    if (!(await hasFiles(host, facts)) || !(await isServed(call, host, facts))) return undefined;
    const { exitCode } = await runScript(host, answers, [facts.server, registryPaths.caCertificate, registryUnit], {
      stdin: `user = "${localRegistryUser}:${facts.password}"\n`,
    });
    return exitCode === 0 ? { server: facts.server } : undefined;
  },
  async run(call) {
    const host = await reach(call);
    const facts = await factsOf(call);
    // Stop it before anything else changes. After a crash, the next run then sees that nothing runs.
    await mustRun(host, 'Stopping the registry', stopped, [registryUnit]);
    for (const [path, text] of Object.entries(facts.files)) await host.upload(path, text, { mode: 0o644 });
    if (!(await isServed(call, host, facts))) await makePair(call, host, facts);
    await mustRun(host, 'Writing the user of the registry', user, [registryPaths.users, localRegistryUser], {
      stdin: facts.password,
    });
    await mustRun(host, 'Starting the registry', started, [registryUnit, registryPaths.data, facts.server]);
    return done;
  },
  summary: ({ server }) => server,
});

interface Facts {
  readonly address: string;
  readonly server: string;
  readonly password: string;
  readonly ca: { readonly privateKey: string; readonly certPem: string };
  /** The files that anybody may read. */
  readonly files: Readonly<Record<string, string>>;
}

async function factsOf({ secrets: store, needs }: Call): Promise<Facts> {
  const { readMadeSecrets } = await import('../config/making.js');
  const made = await readMadeSecrets(store, 'dc1', needs.secrets['dc1']?.secretVersion ?? '');
  if (made.registry === undefined) throw new Error('no authority and password were made for the registry');
  const { caKeyPem, caCertPem, password } = made.registry;
  const address = needs.machines['jumpbox']?.internalIp ?? '';
  const server = localRegistryServer(address);
  return {
    address,
    server,
    password,
    ca: { privateKey: caKeyPem, certPem: caCertPem },
    files: {
      [registryPaths.config]: await registryConfig(server),
      [registryPaths.unit]: registryUnitFile,
      [registryPaths.caCertificate]: caCertPem,
    },
  };
}

async function hasFiles(host: Host, { files }: Facts): Promise<boolean> {
  const found = await Promise.all(
    Object.entries(files).map(async ([path, text]) => (await host.read(path))?.toString() === text),
  );
  return !found.includes(false);
}

/** Key and certificate exist, and fit this address and CA. */
async function isServed({ context }: Call, host: Host, { address, ca }: Facts): Promise<boolean> {
  const [certificate, key] = await Promise.all([host.read(registryPaths.certificate), host.read(registryPaths.key)]);
  if (certificate === undefined || key === undefined) return false;
  const name = { hostname: 'jumpbox', ip: address };
  return servesAs(certificate.toString(), ca.certPem, key.toString(), name, context.clock.now());
}

async function makePair({ context }: Call, host: Host, { address, ca }: Facts): Promise<void> {
  const { privateKey } = await context.keys.make('rsa-2048');
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  const name = { hostname: 'jumpbox', ip: address };
  const certificate = await makeServerCertificate(ca, publicKey, name, {
    now: context.clock.now(),
    random: context.random,
  });
  await host.upload(registryPaths.key, privateKey, { mode: 0o600 });
  await host.upload(registryPaths.certificate, certificate, { mode: 0o644 });
}

/** It answers with the password, which comes through standard input, and not without. It also starts with the machine. */
const answers = `set -eu
systemctl is-enabled --quiet "$3"
ask() { curl --silent --output /dev/null --max-time 20 --write-out '%{http_code}' --cacert "$ca" "$@" "https://$server/v2/" || true; }
server=$1 ca=$2
[ "$(ask </dev/null)" = 401 ]
[ "$(ask --config -)" = 200 ]`;

const stopped = `systemctl stop "$1" 2>/dev/null || true
# The distribution's own has the same port.
systemctl disable --now docker-registry.service >/dev/null 2>&1 || true`;

/** bcrypt with a salt, so the text differs each time. */
const user = `set -eu
umask 077
htpasswd -niB "$2" > "$1.new"
mv -f "$1.new" "$1"`;

const started = `set -eu
mkdir -p -m 700 "$2"
systemctl daemon-reload
systemctl enable --quiet "$1"
systemctl start "$1"
for _ in $(seq 100); do
  curl --silent --insecure --output /dev/null --max-time 5 "https://$3/v2/" && exit 0
  sleep 0.1
done
journalctl --no-pager --lines 3 --output cat --unit "$1" >&2 || true
exit 1`;
