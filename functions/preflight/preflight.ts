/** The preflight: one round of questions before a bootstrap begins, side by side. Nothing is made or changed. */
import type { Option } from '../../shared/bootstrap/options.js';
import type { Trace } from '../../shared/trace.js';
import type { Context } from '../context.js';
import { type Asker, type Asking, type Finding, reporters } from '../engine/finding.js';
import { askCheck } from './ask-check.js';
import { reported } from './deployment/reported.js';
import { createOnce, type Found, foundAs, lookAt } from './look.js';

interface Wanted {
  readonly asking: Pick<Asking, 'intent' | 'secrets' | 'signal'>;
  readonly trace: Trace | undefined;
  /** Whether it is to be looked at. */
  wants(finding: Finding): boolean;
  /** Those of the flags that are wrong or not allowed. */
  wrong(about: readonly Option[]): readonly string[];
}

/** In the order of the list. */
export async function preflight(
  context: Context,
  list: readonly Finding[],
  { asking: given, trace, wants, wrong }: Wanted,
): Promise<readonly Found[]> {
  const asking = { ...given, context, once: createOnce() };
  const wanted = list.filter((finding) => wants(finding) && (finding.when?.(asking) ?? true));
  const isAsked = ({ about }: Finding) => wrong(about).length === 0;
  const by = (who: Asker) => wanted.filter((finding) => finding.by === who && isAsked(finding));
  const answers = await Promise.all([
    lookAt(by('bootstraps'), asking),
    askCheck(by('check'), asking, trace),
    ...reporters.map((who) => reported(who, by(who), asking)),
  ]);
  const found = new Map(answers.flat().map((each) => [each.code, each]));
  const stopped = new Set<string>();
  return wanted.map((finding) => {
    const { code, about, standsOn = '' } = finding;
    const unmet = stopped.has(standsOn) ? standsOn : wrong(about).join(', ');
    const told = unmet === '' ? found.get(code) : undefined;
    // What stands on this one stands on what stops it, too.
    if (stopped.has(standsOn) || told?.verdict.state === 'stop') stopped.add(code);
    return told ?? foundAs(finding, { state: 'unknown', what: `not judged, as ${unmet} must be mended first` });
  });
}
