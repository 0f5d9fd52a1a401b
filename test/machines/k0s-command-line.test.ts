/** The stand-in for k0s by its command line alone: what it does not know it refuses, as k0s would, and k0s.yaml is checked. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { readClusterConfig } from '../../local/machines/k0s/cluster-config.js';
import { startK0sReleases } from '../../local/releases/k0s.js';

const version = 'v1.31.14+k0s.0';

describe('the command line of the stand-in for k0s', function () {
  this.timeout(240_000);
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-k0s-cli-'));
    const releases = await startK0sReleases();
    const path = encodeURIComponent(version);
    const reply = await fetch(`${releases.url}/${path}/k0s-${path}-amd64`);
    writeFileSync(join(folder, 'k0s'), Buffer.from(await reply.arrayBuffer()), { mode: 0o755 });
    await releases.close();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function k0s(args: readonly string[], stdin = '') {
    const child = spawn(process.execPath, [join(folder, 'k0s'), ...args]);
    child.stdin.on('error', () => undefined).end(stdin);
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.once('close', resolve)),
    ]);
    return { code, stdout, stderr };
  }

  const refused: readonly (readonly [line: string, says: string])[] = [
    ['frobnicate', 'unknown command "frobnicate" for "k0s"'],
    ['token bake', 'unknown command "bake" for "k0s token"'],
    ['config show', 'unknown command "show" for "k0s config"'],
    ['start now', 'unknown command "now" for "k0s start"'],
    ['install', 'Usage:'],
    ['install both', 'unknown command "both" for "k0s install"'],
    ['install worker --tokenfile /x', 'unknown flag: --tokenfile'],
    ['token create -x', "unknown shorthand flag: 'x' in -x"],
    ['token create --role', 'flag needs an argument: --role'],
    ['controller --single=perhaps', 'invalid argument "perhaps" for "--single" flag'],
    ['worker --data-dir /elsewhere', '--data-dir /elsewhere is not stood for here'],
    ['config validate', 'required flag(s) "config" not set'],
  ];
  it('refuses commands, words and flags that k0s does not have', async () => {
    for (const [line, says] of refused) {
      const { code, stdout, stderr } = await k0s(line.split(' '));
      expect(stdout + stderr, line).to.include(says);
      expect(code, line).to.equal(says === 'Usage:' ? 0 : 1);
    }
    expect(await k0s(['version'])).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  const configs: readonly (readonly [spec: string, says: string])[] = [
    ['api: { adress: 10.10.0.2 }', 'unknown field "spec.api.adress"'],
    ['network: { podCIDR: 10.0.0.0/8, mtu: 1400 }', 'unknown field "spec.network.mtu"'],
    ['storage: []', 'spec.storage must be an object'],
    ['network: { podCIDR: 10.244.0.0/33 }', 'podCIDR: Invalid value: "10.244.0.0/33": invalid CIDR address'],
    ['network: { serviceCIDR: 10.300.0.0/16 }', 'serviceCIDR: Invalid value: "10.300.0.0/16": invalid CIDR address'],
    ['network: { provider: weave }', 'provider: Unsupported value: "weave"'],
    ['api: { address: k0s-1 }', 'address: Invalid value: "k0s-1": invalid IP address'],
    ['api: { port: 70000 }', 'port: Invalid value: 70000'],
    ['api: { sans: ["not a name"] }', 'sans[0]: Invalid value: "not a name"'],
  ];
  it('checks k0s.yaml: fields, addresses, ranges', async () => {
    const head = 'apiVersion: k0s.k0sproject.io/v1beta1\nkind: ClusterConfig\n';
    const read = (content: string) => () => readClusterConfig(content, '10.10.0.2');
    for (const [spec, says] of configs) expect(read(`${head}spec: { ${spec} }\n`), spec).to.throw(says);
    expect(read('kind: Cluster\n')).to.throw('unsupported kind "Cluster"');
    expect(read('speck: {}\n')).to.throw('unknown field "speck"');

    const validate = (content: string) => k0s(['config', 'validate', '--config', '-'], content);
    const good = await validate(`${head}spec: { network: { podCIDR: 100.96.0.0/11, serviceCIDR: 100.64.0.0/13 } }\n`);
    expect(good).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    // All at once.
    const both = await validate('spec: { network: { podCIDR: x, serviceCIDR: y } }\n');
    expect(both.code).to.equal(1);
    expect(both.stderr).to.include('podCIDR').and.to.include('serviceCIDR');
  });

  it('joins nobody with what is no token for a worker', async () => {
    const joinWith = async (content: string) => {
      const file = join(folder, 'token');
      writeFileSync(file, content);
      return k0s(['worker', '--token-file', file]);
    };
    expect(await k0s(['worker'])).to.deep.include({ code: 1 });
    expect((await k0s(['worker', '--token-file', join(folder, 'none')])).stderr).to.include('obtain a new token');
    expect((await joinWith('garbage')).stderr).to.include('failed to decode join token');
    const forControllers = gzipSync('clusters: []\nusers: [{ name: controller-bootstrap, user: { token: a.b } }]\n');
    const wrong = await joinWith(forControllers.toString('base64'));
    expect(wrong.stderr).to.include('wrong token type controller-bootstrap, expected type: kubelet-bootstrap');
    expect(wrong.code).to.equal(1);
  });
});
