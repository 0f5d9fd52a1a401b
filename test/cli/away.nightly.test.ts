/** How long the command line waits for a service that stays away. */
import { expect } from 'chai';
import { bootstrap, createSandbox } from './run-cli.js';

describe('plinth, where the service stays away,', () => {
  it('gives up after half a minute, with the endpoint named', async () => {
    const sandbox = createSandbox('http://127.0.0.1:1023');
    try {
      const begun = performance.now();
      const { code, stderr } = await sandbox.run([...bootstrap, 'list']);
      expect(code).to.equal(6);
      expect(stderr).to.include('http://127.0.0.1:1023 cannot be reached: ECONNREFUSED').and.include('--endpoint');
      expect(performance.now() - begun).to.be.within(28_000, 45_000);
    } finally {
      sandbox.remove();
    }
  });
});
