/** How long the preflight takes, beside the longest of its findings alone: whether its questions are asked side by side. */
import { findings } from '../../functions/preflight/index.js';
import { preflight } from '../../functions/preflight/preflight.js';
import { local, people } from '../../local/stack/deployment.js';
import { createStack } from '../../local/stack/stack.js';
import { checkOptions } from '../../shared/bootstrap/rules.js';
import { functionNames } from '../../shared/names.js';
import { type Measurement, median } from './figures.js';
import { optionsOf } from './stack.js';

/** What a call of Google's takes, so that calls count and not this machine. */
const callSeconds = 0.2;
const rounds = 5;

export const preflightTime: Measurement = {
  name: 'preflight',
  title: 'The round of questions before a bootstrap begins',
  mostSeconds: 180,
  async *measure(say) {
    const stack = await createStack({ timeFactor: 0 });
    try {
      const { cloud } = stack.cloudHalf ?? {};
      const context = stack.functionsHalf?.contextOf(functionNames.bootstraps);
      if (cloud === undefined || context === undefined) throw new Error('Cloud and functions must run here.');
      const given = {
        ...optionsOf('bench-preflight'),
        dnsProjectId: local.standingZone.project,
        dnsZoneName: local.standingZone.name,
      };
      const { options, secrets } = checkOptions(given);
      const intent = {
        options,
        owner: people.alice,
        ownerMember: `user:${people.alice}`,
        machineAccess: context.config.machineAccess,
        loadBalancers: context.config.loadBalancers,
        machines: false,
        projectId: 'bench-preflight-1',
      };
      const timed = async (wants: (finding: { readonly code: string }) => boolean): Promise<number> => {
        const begun = performance.now();
        const asking = { intent, secrets };
        const found = await preflight(context, findings, { asking, trace: undefined, wants, wrong: () => [] });
        const stopped = found.filter(({ verdict }) => verdict.state === 'stop').map(({ code }) => code);
        if (stopped.length > 0) throw new Error(`It is stopped by ${stopped.join(', ')}.`);
        return performance.now() - begun;
      };
      await timed(() => true);
      cloud.faults.add({ method: '*', kind: 'slow', delaySeconds: callSeconds, times: 0 });
      const whole: number[] = [];
      const alone = new Map<string, number[]>(findings.map(({ code }) => [code, []]));
      for (let round = 0; round < rounds; round++) {
        whole.push(await timed(() => true));
        for (const [code, times] of alone) times.push(await timed((finding) => finding.code === code));
      }
      const medians = [...alone].map(([code, times]) => ({ code, value: median(times) }));
      const longest = medians.reduce((best, each) => (each.value > best.value ? each : best));
      const sum = medians.reduce((total, { value }) => total + value, 0);
      say(`one after the other ${sum.toFixed(0)} ms; the longest alone is ${longest.code}`);
      yield* [
        {
          name: `the preflight, each call ${callSeconds * 1000} ms`,
          value: median(whole),
          unit: 'ms',
          baseline: { name: `its longest finding alone, ${longest.code}`, value: longest.value, unit: 'ms' },
          aim: 1.3,
        },
      ];
    } finally {
      await stack.close();
    }
  },
};
