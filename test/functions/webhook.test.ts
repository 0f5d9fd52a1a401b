import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { readKey, signatureOf } from '../../functions/webhook/webhook.js';

describe('the webhook', () => {
  it('signs as the specification’s own example does', () => {
    const key = readKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n');
    expect(key?.length).to.equal(24);
    expect(signatureOf([key as Buffer], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}')).to.equal(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  it('takes keys of 24 to 64 bytes alone', () => {
    for (const secret of ['', 'whsec_', 'secret', 'whsec_c2hvcnQ=', `whsec_${Buffer.alloc(65).toString('base64')}`]) {
      expect(readKey(secret), secret).to.equal(undefined);
    }
  });

  it('goes to https, or loopback', () => {
    const read = (PLINTH_WEBHOOK_URL: string) =>
      readConfig({
        PLINTH_PROJECT: 'plinth-test',
        PLINTH_DEPLOYMENT: 'test',
        PLINTH_MACHINE_ACCESS: 'direct',
        PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
        PLINTH_WEBHOOK_URL,
      }).webhookUrl;
    for (const url of ['https://example.com/hook/?a=b', 'http://127.0.0.1:8080/']) expect(read(url)).to.equal(url);
    for (const url of ['http://example.com/hook', 'ftp://example.com', 'example.com']) {
      expect(() => read(url), url).to.throw('PLINTH_WEBHOOK_URL');
    }
    expect(read('')).to.equal(undefined);
  });
});
