/** Checks a configuration: first each value by itself, then by asking each address what answers there. */
import { Problem } from '../../shared/problems.js';
import type { CommandContext } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { discover } from '../identity/oauth.js';
import { versionAdvice } from '../service/other-version.js';
import { probe } from '../service/probe.js';
import { type Api, defaultIssuer } from '../settings.js';
import { type ConfigName, type ConfigValues, whyNoEndpoint } from './config-file.js';

/** Why the written value is wrong. Undefined if it isn't. */
export function whyBad(name: ConfigName, value: string): string | undefined {
  if (value === '') return 'is empty';
  if (/[\s\p{C}]/u.test(value)) return 'holds a space or what cannot be seen';
  return name.startsWith('endpoints.') || name === 'oauth.issuer' ? whyNoEndpoint(value) : undefined;
}

interface Validated {
  readonly checks: readonly { readonly text: string }[];
  /** One problem that names every address that failed. */
  readonly failed: Problem | undefined;
}

export async function validate(values: ConfigValues, { settings, interrupted }: CommandContext): Promise<Validated> {
  const endpoint = async (api: Api): Promise<{ text?: string; why?: string }> => {
    const url = values[`endpoints.${api}`];
    if (url === undefined) return {};
    // Without a token, because the address may be wrong.
    const { kind, why, version } = await probe(api, url.replace(/\/+$/, ''), { settings, interrupted });
    const name = `endpoints.${api}`;
    if (kind === 'plinth') {
      const advice = versionAdvice(version);
      return { text: `${name}: plinth ${version}${advice === undefined ? '' : `. ${advice}`}` };
    }
    if (kind === 'older') return { text: `${name}: an older plinth, which does not name its version` };
    if (kind === 'front') return { text: `${name}: ${why}; plinth doctor tells more once you are logged in` };
    return { why: `${name}, ${printable(url)}: ${kind === 'unreachable' ? `it cannot be reached (${why})` : why}` };
  };
  const issuer = async (): Promise<{ text?: string; why?: string }> => {
    if (values['oauth.clientId'] === undefined) return {};
    const url = (values['oauth.issuer'] ?? defaultIssuer).replace(/\/+$/, '');
    return discover({ issuer: url }, settings).then(
      () => ({ text: `oauth.issuer: ${printable(url)} says where people log in` }),
      (error: unknown) => ({ why: error instanceof Problem ? error.detail.replace(/\.$/, '') : String(error) }),
    );
  };
  const all = await Promise.all([endpoint('bootstraps'), endpoint('api'), issuer()]);
  const wrong = all.flatMap(({ why }) => (why === undefined ? [] : [why]));
  return {
    checks: all.flatMap(({ text }) => (text === undefined ? [] : [{ text }])),
    failed:
      wrong.length === 0
        ? undefined
        : new Problem('unavailable', `${wrong.join('; ')}.`, {
            advice: 'Nothing was written. Correct the addresses, or write them all the same with --force.',
          }),
  };
}
