/** A function for the framework: its first request rejects where nobody looks, while its second one waits. */
import { http } from '@google-cloud/functions-framework';
import { outsideDomain } from '../../functions/http/outside-domain.js';
import { serve } from '../../functions/serve.js';
import { functionNames } from '../../shared/names.js';

let secondComes: () => void = () => undefined;

serve([
  () =>
    http(
      functionNames.api,
      outsideDomain(async ({ originalUrl }) => {
        if (originalUrl !== '/first') return secondComes();
        const second = new Promise<void>((resolve) => {
          secondComes = resolve;
        });
        process.stdout.write(`${JSON.stringify({ message: 'The first has come' })}\n`);
        await second;
        void Promise.reject(new Error('the secret of the first'));
      }),
    ),
]);
