/** Gathers what a support archive holds. A part that cannot be had is named with the reason, and the rest goes on. */
import { arch, platform, release } from 'node:os';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../shared/problems.js';
import { flagsRelease, version } from '../../shared/version.js';
import { allChecks } from '../doctor/all.js';
import { type ConfigName, readConfig } from '../files/config-file.js';
import { fileWord } from '../files/files.js';
import type { CommandContext } from '../frame/command.js';
import { joinedSignal } from '../frame/joined-signal.js';
import type { Client } from '../service/client.js';
import { probe } from '../service/probe.js';
import type { ArchivedFile } from './archive.js';

interface Missing {
  readonly part: string;
  readonly why: string;
}

export interface Gathered {
  readonly files: readonly ArchivedFile[];
  readonly missing: readonly Missing[];
}

/** A running bootstrap's stream has no end. Its past comes at once, so that this much silence is the end of it. */
const quietMs = 2000;
/** Of one log, counted from its end. */
const mostLogBytes = 4 * 1024 * 1024;

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

export async function gather(call: CommandContext, client: Client, id: string): Promise<Gathered> {
  const files: ArchivedFile[] = [];
  const missing: Missing[] = [];
  const part = async <T>(name: string, take: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await take();
    } catch (error) {
      call.interrupted.throwIfAborted();
      if (!(error instanceof Problem)) throw error;
      missing.push({ part: name, why: error.detail });
      return undefined;
    }
  };
  const text = async (path: string, take: () => Promise<string>): Promise<void> => {
    const found = await part(path, take);
    if (found !== undefined) files.push({ path, text: found });
  };

  await text('versions.json', async () => jsonText(await versionsOf(call)));
  await text('doctor.json', async () => jsonText(await allChecks(call)));
  await text('settings.json', async () => jsonText(await settingsOf(call)));
  const view = await part('bootstrap.json', () => client.get(id));
  if (view === undefined) return { files, missing };
  files.push({ path: 'bootstrap.json', text: jsonText(view) });
  await text('events.jsonl', () => eventsOf(call, client, id));
  for (const { instance, bytes } of (await part('logs', () => client.logs(id))) ?? []) {
    await text(`logs/${fileNameOf(instance)}.log`, () => logOf(client, id, instance, bytes));
  }
  for (const { key, ready } of standingConfigs(view)) {
    if (ready) await text(`install-config-${fileWord(key)}.yaml`, () => client.config(id, key));
  }
  return { files, missing };
}

const fileNameOf = (instance: string): string => instance.replaceAll(/[^\w.-]/g, '-').slice(0, 60);

/** With the project all files go. */
const standingConfigs = ({ state, result }: BootstrapView) => (state === 'removed' ? [] : result.datacenters);

async function versionsOf(call: CommandContext): Promise<object> {
  const own = { version, flags: flagsRelease, platform: platform(), arch: arch(), release: release() };
  const { kind, version: service } = await probe('bootstraps', await call.endpoint('bootstraps'), call);
  return { commandLine: own, service: { answers: kind, ...(service !== undefined && { version: service }) } };
}

/** The deployment's addresses as configured. Of the environment only which variables are set. */
async function settingsOf({ settings }: CommandContext): Promise<object> {
  const config = await readConfig(settings);
  const shown: Partial<Record<ConfigName, string>> = { ...config };
  if (shown['oauth.clientSecret'] !== undefined) shown['oauth.clientSecret'] = '<secret>';
  const variables = Object.keys(settings.env)
    .filter((name) => /^(?:PLINTH|OTEL|XDG|CLOUDSDK|GOOGLE)_|^(?:HTTPS?|NO|ALL)_PROXY$|^SSH_AUTH_SOCK$/i.test(name))
    .sort();
  return { config: shown, setVariables: variables };
}

async function eventsOf({ interrupted }: CommandContext, client: Client, id: string): Promise<string> {
  const enough = new AbortController();
  const ends = joinedSignal(interrupted, enough.signal);
  const lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => enough.abort(), quietMs);
  };
  try {
    wait();
    for await (const item of client.follow(id, ends.signal)) {
      // What was said on machines stands in the logs, in whole.
      if (item.type !== 'log' && item.type !== 'end') lines.push(JSON.stringify(item));
      wait();
    }
  } catch (error) {
    if (!enough.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    ends.release();
  }
  return lines.map((line) => `${line}\n`).join('');
}

async function logOf(client: Client, id: string, instance: string, bytes: number): Promise<string> {
  let text = '';
  for (let offset = 0; offset < bytes; ) {
    const { chunks, next } = await client.log(id, instance, offset);
    if (chunks.length === 0) break;
    text += chunks.map((chunk) => chunk.text).join('');
    offset = next;
  }
  if (text.length <= mostLogBytes) return text;
  // From the beginning of a line: half a secret would not be known for one.
  const from = text.indexOf('\n', text.length - mostLogBytes) + 1;
  return `[${from} characters before this are left out]\n${text.slice(from)}`;
}
