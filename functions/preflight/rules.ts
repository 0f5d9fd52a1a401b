/** Findings that follow from the request, the settings and the records alone. */
import { installFlags } from '../../shared/bootstrap/option-rules.js';
import { flagName } from '../../shared/bootstrap/options.js';
import { refusalOf } from '../../shared/bootstrap/rules.js';
import type { Fault, Problem } from '../../shared/problems.js';
import { defineFinding, type Finding, ok, stop, stopFor } from '../engine/finding.js';
import type { StoredBootstrap } from '../engine/record/documents.js';
import { installs } from '../steps/install/k0s.js';
import { valuesOfOwnPostgres } from '../steps/install/own-postgres.js';

export interface RuleParts {
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
  /** What the settings of the deployment forbid. */
  readonly notAllowed: Problem | undefined;
  /** Undefined: it is no name of a project. */
  readonly name: string | undefined;
  /** The bootstrap that has the name. */
  readonly standing: StoredBootstrap | undefined;
  /** Throws unless this deployment knows where its executable is. Undefined: another finding looks whether it is there. */
  readonly checkRelease: (() => unknown) | undefined;
  /** Throws if the price is above a ceiling, or its team has no room. Undefined: it was judged when the bootstrap began. */
  readonly checkPrice: (() => unknown) | undefined;
  /** There is no install config yet, neither with plinth nor in the request. */
  readonly withoutFiles: boolean;
  /** Nothing is to begin now. A plan warns of what a run would be refused for because of files that do not exist yet. */
  readonly isPreview: boolean;
  /** Throws unless that bootstrap can be resumed like this. */
  checkResume(standing: StoredBootstrap): Promise<void>;
}

export const optionsCode = 'options';

const releaseKnown = (check: () => unknown): Finding =>
  defineFinding({
    code: 'release-known',
    title: 'Executable of plinth, known here',
    why: 'Otherwise the jumpbox would find out, with all VMs running.',
    by: 'bootstraps',
    mustBeAsked: true,
    about: [],
    onResume: 'always',
    onPlan: true,
    ask: async () => void check(),
    judge: () => ok('known'),
  });

const ceiling = (check: () => unknown): Finding =>
  defineFinding({
    code: 'ceiling',
    title: 'Price and ceilings',
    why: 'Operators say what one bootstrap may cost, and you say what you will pay.',
    by: 'bootstraps',
    mustBeAsked: true,
    about: ['region', 'projectTtl', 'rootDiskSize', 'multiDc'],
    onResume: 'always',
    onPlan: true,
    ask: async () => void (await check()),
    judge: () => ok('beneath all ceilings'),
  });

const installValues = ({ withoutFiles, isPreview }: RuleParts): Finding =>
  defineFinding({
    code: 'install-values',
    title: 'Values for the install',
    why: 'Otherwise the install would fail once all VMs exist.',
    by: 'bootstraps',
    mustBeAsked: true,
    about: ['customPgIp', ...installFlags, 'installSkipSteps'],
    onResume: 'always',
    onPlan: true,
    when: ({ intent: { options } }) => installs(options),
    ask: async () => withoutFiles,
    judge(_, { options }) {
      const missing = withoutFiles ? valuesOfOwnPostgres(options) : [];
      if (missing.length === 0) return ok('none that only you can give');
      const given = installFlags.filter((option) => options[option] !== undefined);
      const flags = given.map(flagName).join(' and ');
      const message = `cannot go together yet: the install needs ${missing.join(' and ')}, and the first run writes these files`;
      const remedy = `Run the command without ${flags} first. Fill in these values (sops opens the secrets file), then run it with ${flags}.`;
      return isPreview
        ? { state: 'warning', what: `--custom-pg-ip and ${flags} ${message}. ${remedy}` }
        : stopFor(['customPgIp', ...given], message, remedy);
    },
  });

export const ruleFindings = (parts: RuleParts): readonly Finding[] => [
  defineFinding({
    code: optionsCode,
    title: 'Flags',
    why: 'They say what the bootstrap is.',
    by: 'bootstraps',
    mustBeAsked: true,
    about: [],
    onResume: 'always',
    onPlan: true,
    ask: async () => parts,
    judge({ faults, warnings }) {
      if (faults.length > 0) return stop(refusalOf(faults));
      return warnings.length > 0 ? { state: 'warning', what: warnings.join('; ') } : ok('valid');
    },
  }),
  defineFinding({
    code: 'allowed',
    title: 'Use in this deployment',
    why: 'Its operators say which accounts, parents and zones may be used, and for how long.',
    by: 'bootstraps',
    mustBeAsked: true,
    about: [],
    onResume: 'always',
    onPlan: true,
    ask: async () => parts.notAllowed,
    judge: (problem) => (problem === undefined ? ok('allowed') : stop(problem)),
  }),
  ...(parts.checkPrice === undefined ? [] : [ceiling(parts.checkPrice)]),
  ...(parts.checkRelease === undefined ? [] : [releaseKnown(parts.checkRelease)]),
  defineFinding({
    code: 'name',
    title: 'Name of the project',
    why: 'Each name is one bootstrap.',
    by: 'bootstraps',
    mustBeAsked: true,
    about: ['projectName'],
    onResume: 'always',
    onPlan: true,
    async ask() {
      if (parts.standing !== undefined) await parts.checkResume(parts.standing);
      return parts.standing;
    },
    judge: (standing, { options: { projectName } }) =>
      ok(standing === undefined ? `${projectName} is free` : `${projectName} is yours: the same command resumes it`),
  }),
  installValues(parts),
];
