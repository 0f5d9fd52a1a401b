/**
 * Machines of a recording and of its replay, with what they fetch. The plinth there installs nothing, and nobody opens the package:
 * a recording proves what functions do with machines. Both lie in the recording, as a later release brings others.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChosenPackage } from '../../functions/engine/record/documents.js';
import { computeEnvironment } from '../../local/cloud/gcloud.js';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import { listen } from '../../local/loopback.js';
import { startMachines } from '../../local/machines/index.js';
import { startK0sReleases } from '../../local/releases/k0s.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { sha256 } from '../../shared/sha256.js';
import type { LabMachines } from '../laws/engine-lab.js';
import type { WorldEntry } from './recording.js';

/** Of another content for another release, so that a machine shows whose it has. */
export const plinthOf = (release: string): string => `#!/bin/bash
# plinth ${release}
case "$1 $2" in
  '--version '*) echo '${release}' ;;
  'install platform')
    shift 2
    for word; do case "$word" in /*) [ -s "$word" ] || { echo "$word is not there" >&2; exit 1; } ;; esac; done
    for part in kubernetes platform; do echo "installing $part"; sleep 1; done ;;
  'install user') echo '{"type":"result","exitCode":0,"email":"test@example.com","token":"of the test user"}' ;;
  *) echo "plinth was asked for $*" >&2; exit 64 ;;
esac
`;
export const packageText = 'a package that nobody opens\n';

const packageVersion = '1.0.0';
const hashOf = (text: string): string => sha256(text).slice(0, 12);

export function chosenPackage({ package: text }: WorldEntry): ChosenPackage {
  const hash = hashOf(text);
  const object = `packages/${packageVersion}/${hash}/installer.tar.gz`;
  return { version: packageVersion, hash, archive: 'full', object, bytes: text.length, sha256: sha256(text) };
}

export interface UpgradeMachines extends LabMachines {
  /** Base URLs that texts may name, by what is there. */
  urls(): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** `own`: the text of the plinth that functions find deployed. */
export function upgradeMachines(world: WorldEntry, own: string): UpgradeMachines {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-upgrade-'));
  const closers: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  let urls: Readonly<Record<string, string>> = {};

  const startReleases = () =>
    listen((request, response) => {
      const [, wanted] = /^\/v[^/]+\/([0-9a-f]{64})\/[^/]+$/.exec(request.url ?? '') ?? [];
      const found = [world.plinth, own].find((text) => sha256(text) === wanted);
      response.writeHead(found === undefined ? 404 : 200).end(found);
    });

  async function publish(cloud: SimulatedCloud): Promise<void> {
    const path = join(folder, 'installer.tar.gz');
    const lite = join(folder, 'installer-lite.tar.gz');
    const digest = sha256(world.package);
    for (const each of [path, lite]) writeFileSync(each, world.package);
    await publishPackage(cloud, {
      version: packageVersion,
      hash: hashOf(world.package),
      full: { path, sha256: digest },
      lite: { path: lite, sha256: digest },
    });
  }

  return {
    async start(cloud) {
      const k0s = await startK0sReleases();
      closers.push(() => k0s.close());
      const releases = await startReleases();
      closers.push(() => releases.close());
      await publish(cloud);
      const outside = [cloud.frontUrl, k0s.url, releases.url, ...Object.values(cloud.endpoints)];
      const ports = outside.map((url) => Number(new URL(url).port));
      const machines = await startMachines({
        world: cloud.world,
        identity: cloud.identity,
        environment: computeEnvironment(cloud.endpoints.compute),
        folder: join(folder, 'machines'),
        outsidePorts: () => ports,
        onNote: (note) => process.stderr.write(`${note}\n`),
      });
      closers.push(() => machines.close());
      urls = { k0s: k0s.url, releases: releases.url, storage: cloud.endpoints.storage };
      return {
        sshProxyUrl: machines.proxyUrl,
        k0sReleasesUrl: k0s.url,
        releases: { url: releases.url, sha256: sha256(own) },
      };
    },
    urls: () => urls,
    async close() {
      for (const each of closers.splice(0).reverse()) await each();
    },
  };
}
