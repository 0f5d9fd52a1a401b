/**
 * Doctor's checks of the service: its address, whether it answers, its version, its clock, and who it thinks the caller is.
 */
import { version } from '../../shared/version.js';
import type { CommandContext } from '../frame/command.js';
import { versionAdvice } from '../service/other-version.js';
import { probe } from '../service/probe.js';
import type { Api } from '../settings.js';
import { callerChecks, type Reached } from './caller.js';
import { type Check, failed, failedBy, ok, skipped, warning } from './check.js';
import { proxyChecks } from './proxy.js';
import { tlsCheck } from './tls.js';

const names = { bootstraps: 'bootstrap API', api: 'organization API' } as const;
/** Google refuses signed requests that are more than five minutes off. Well before that, expired tokens look fresh. */
const skewSeconds = { warning: 30, failed: 300 } as const;

export async function serviceChecks(call: CommandContext): Promise<Check[]> {
  const [bootstraps, api] = await Promise.all([reach('bootstraps', call), reach('api', call)]);
  const reached = [bootstraps, api];
  const origins = new Set(reached.flatMap(({ url }) => (url === undefined ? [] : [new URL(url).origin])));
  const tls = await Promise.all([...origins].map((origin) => tlsCheck(origin, call)));
  return [
    ...proxyChecks(call, [...origins]),
    ...reached.map(({ check }) => check),
    ...tls,
    versionCheck(reached),
    clockCheck(reached),
    ...(await callerChecks(bootstraps, api, call)),
  ];
}

async function reach(api: Api, call: CommandContext): Promise<Reached> {
  const name = names[api];
  let url: string;
  try {
    url = await call.endpoint(api);
  } catch (error) {
    return { api, name, check: failedBy(name, error) };
  }
  const found = await probe(api, url, call);
  const advice =
    'Check the address: plinth configure shows and changes it, unless --endpoint or PLINTH_ENDPOINT says another.';
  const check = {
    plinth: () => ok(name, `${url} answers`),
    older: () => warning(name, `${url} answers as an older plinth does`, 'Ask an operator to bring it up to date.'),
    // Only a call with a token shows what is behind it.
    front: () => ok(name, `${url} answers; ${found.why}`),
    'other-api': () => failed(name, 'not-found', `${url}: ${found.why}`, advice),
    stranger: () => failed(name, 'unavailable', `${url} is not plinth: ${found.why}`, advice),
    unreachable: () => failed(name, 'unavailable', `${url} cannot be reached: ${found.why}`, found.advice ?? advice),
  }[found.kind]();
  return { api, name, url, found, check };
}

function versionCheck(reached: readonly Reached[]): Check {
  const told = [...new Set(reached.flatMap(({ found }) => found?.version ?? []))];
  if (told.length === 0) return skipped('versions', `this is plinth ${version}; no service has told its own`);
  const other = told.find((each) => each !== version);
  if (other === undefined) return ok('versions', `${version} here and there`);
  return warning('versions', `${version} here, ${told.join(' and ')} there`, versionAdvice(other) ?? '');
}

function clockCheck(reached: readonly Reached[]): Check {
  const off = reached.flatMap(({ found }) => found?.skewSeconds ?? [])[0];
  if (off === undefined) return skipped('clock', 'no service has told its time');
  const detail =
    off === 0 ? 'agrees with the service' : `${Math.abs(off)} s ${off > 0 ? 'ahead of' : 'behind'} the service`;
  const advice = 'Set the clock of this computer by the network: timedatectl set-ntp true.';
  if (Math.abs(off) >= skewSeconds.failed) return failed('clock', 'unauthenticated', detail, advice);
  return Math.abs(off) >= skewSeconds.warning ? warning('clock', detail, advice) : ok('clock', detail);
}
