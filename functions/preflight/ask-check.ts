/** Asks the function `check` what only `plinth-run-cloud-step` can ask: it runs as that account. */
import { Problem } from '../../shared/problems.js';
import type { Trace } from '../../shared/trace.js';
import { pastHiccup } from '../cloud/hiccup.js';
import type { Context } from '../context.js';
import type { Asking, Finding, Verdict } from '../engine/finding.js';
import { type Found, foundAs } from './look.js';
import { CheckReply, type CheckRequest, fromWire } from './wire.js';

type CheckAsking = Asking & { readonly context: Pick<Context, 'askCheck' | 'log'> };

/** What is not answered is unknown, and its step finds out. */
export async function askCheck(
  asked: readonly Finding[],
  asking: CheckAsking,
  trace?: Trace,
): Promise<readonly Found[]> {
  if (asked.length === 0) return [];
  const { context, intent, signal } = asking;
  const { options, owner, ownerMember, projectId } = intent;
  const codes = asked.map(({ code }) => code);
  const request: CheckRequest = { codes, owner, ownerMember, projectId, options: { ...options } };
  const { askCheck: ask } = context;
  if (ask === undefined) return asked.map((finding) => foundAs(finding, notNamed));
  try {
    const { verdicts } = CheckReply.parse(await pastHiccup(() => ask(request, { signal, trace }), asking));
    return asked.map((finding) => {
      const verdict = verdicts[finding.code];
      return foundAs(finding, verdict === undefined ? notKnown : fromWire(verdict));
    });
  } catch (error) {
    if (!(error instanceof Problem)) context.log('ERROR', 'The reply of the function check cannot be read', { error });
    const what = error instanceof Problem ? error.detail : 'The reply of the function check cannot be read';
    return asked.map((finding) => foundAs(finding, { state: 'unknown', what }));
  }
}

const notNamed: Verdict = { state: 'unknown', what: 'This deployment names no function check (PLINTH_CHECK_URL)' };
const notKnown: Verdict = { state: 'unknown', what: 'The function check is of another release, and cannot tell' };
