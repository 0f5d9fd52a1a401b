/** What people read of organization policies: the refusal, the warning, and the command that shows a policy. */
import type * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import type { PoliciesOutput } from './outputs.js';

type Output = z.infer<typeof PoliciesOutput>;
type Finding = Output['findings'][number];

const admin = 'roles/orgpolicy.policyAdmin';

/** `folders/1` → `--folder=1` */
const flagOf = (place: string): string => place.replace(/^(\w+)s\/(.*)$/, '--$1=$2');

const commandFor = (place: string, constraint: string): string =>
  `gcloud org-policies describe ${constraint} --effective ${flagOf(place)}`;

const inWords = ({ constraint, value, why }: Finding): string => `${constraint} (${value}): ${why}`;

const unmetIn = ({ findings }: Output): Finding[] => findings.filter(({ state }) => state === 'unmet');

/** All that forbids the bootstrap, in one failure. */
export function refusal(output: Output): Problem {
  const { place } = output;
  const unmet = unmetIn(output);
  const constraints = unmet.map(({ constraint, hits, value, why }) => ({
    constraint,
    policy: `${place}/policies/${constraint}`,
    hits,
    value,
    why,
    look: commandFor(place, constraint),
  }));
  return new Problem(
    'cloud-policy',
    `Organization policies in force for ${place} forbid this bootstrap, so nothing was made. ${unmet.map(inWords).join('; ')}.`,
    {
      advice: [
        `Ask somebody with ${admin} on the organization to allow it for ${place}, or give another --folder-id where it is allowed.`,
        'A change takes up to 15 minutes. Then run the same command again.',
        `What is in force: ${constraints.map(({ look }) => look).join('; ')}`,
      ].join(' '),
      members: { place, mayChange: admin, constraints },
    },
  );
}

/** Undefined: all is known, and nothing is forbidden. */
export function warningOf(output: Output): string | undefined {
  const { place, findings, grant } = output;
  const unmet = unmetIn(output);
  const unknown = new Map<string, string[]>();
  for (const { constraint, state, why = '' } of findings) {
    if (state === 'unknown') unknown.set(why, [...(unknown.get(why) ?? []), constraint]);
  }
  const words = [
    ...(unmet.length === 0
      ? []
      : [
          `Organization policies in force for ${place} forbid what is not made yet: ${unmet.map(inWords).join('; ')}. What stands stays. Somebody with ${admin} on the organization may change that.`,
        ]),
    ...(unknown.size === 0
      ? []
      : [
          `It is not known whether organization policies of ${place} allow this bootstrap: ${[...unknown].map(([why, names]) => `${names.join(', ')}: ${why}`).join('; ')}. Google may still refuse something.`,
        ]),
    ...(grant === undefined ? [] : [`Missing is ${grant}.`]),
  ];
  return words.length === 0 ? undefined : words.join(' ');
}
