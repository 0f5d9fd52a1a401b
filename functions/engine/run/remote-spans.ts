/**
 * The work of a step on machines, as parts of its span: the machine, the kind of work, and how it ended. Commands, paths and
 * output are left out.
 */
import { Problem } from '../../../shared/problems.js';
import type { Host, Job, Remote } from '../../remote/remote.js';
import type { Span } from '../../tracing/tracing.js';

type Facts = Readonly<Record<string, string | number>>;

/** Runs `work` in a child span called `name`. `found`: attributes that its outcome adds. */
type Timed = <T>(name: string, facts: Facts, work: () => Promise<T>, found?: (outcome: T) => Facts) => Promise<T>;

const timedBy =
  (step: Span): Timed =>
  async (name, facts, work, found) => {
    const span = step.child(name, { kind: 'client', attributes: facts });
    try {
      const outcome = await work();
      span.end({ attributes: found?.(outcome) ?? {} });
      return outcome;
    } catch (error) {
      span.end({ failure: error instanceof Problem ? error.code : 'unknown' });
      throw error;
    }
  };

export function remoteWithSpans(remote: Remote, step: Span): Remote {
  const timed = timedBy(step);
  return {
    async host(request, signal) {
      const { name } = request.machine ?? request.jumpbox;
      return hostWithSpans(
        await timed('ssh connect', { 'plinth.machine': name }, () => remote.host(request, signal)),
        timed,
      );
    },
    close: () => remote.close(),
  };
}

function hostWithSpans(host: Host, timed: Timed): Host {
  const facts = { 'plinth.machine': host.name };
  return {
    name: host.name,
    exec: (...given) =>
      timed(
        'ssh exec',
        facts,
        () => host.exec(...given),
        ({ exitCode }) => ({ 'plinth.exit_code': exitCode }),
      ),
    upload: (...given) => timed('ssh upload', facts, () => host.upload(...given)),
    send: (...given) => timed('ssh send', facts, () => host.send(...given)),
    install: (...given) => timed('ssh install', facts, () => host.install(...given)),
    read: (...given) => timed('ssh read', facts, () => host.read(...given)),
    job: (id) => jobWithSpans(host.job(id), { ...facts, 'plinth.job': id }, timed),
    asRoot: () => hostWithSpans(host.asRoot(), timed),
  };
}

const jobWithSpans = (job: Job, facts: Facts, timed: Timed): Job => ({
  id: job.id,
  start: (script) => timed('job start', facts, () => job.start(script)),
  poll: (...given) =>
    timed(
      'job poll',
      facts,
      () => job.poll(...given),
      ({ state, exitCode }) => ({
        'plinth.job_state': state,
        ...(exitCode === undefined ? {} : { 'plinth.exit_code': exitCode }),
      }),
    ),
  claim: (token) => timed('job claim', facts, () => job.claim(token)),
  kill: () => timed('job kill', facts, () => job.kill()),
});
