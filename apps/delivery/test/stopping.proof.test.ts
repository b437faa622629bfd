import { afterEach, beforeEach, expect, test } from 'vitest';
import { untilFound } from '@carillon/testing/topology';
import { RoleUnderTest } from './delivery-role.ts';

let under: RoleUnderTest;
beforeEach(async () => {
  under = await RoleUnderTest.open({ smtpSilence: 60_000 });
});
afterEach(() => under.close());

/* Its place is among the proofs, because it bounds time: what is put back is shown beside, in `stopping.test.ts`. */
test('a role that stops aborts a call whose body has not begun at once, without the ten seconds that other calls get', async () => {
  await under.shop();
  under.mail.follow(({ stage }) => (stage === 'rcpt' ? { ending: 'hang' } : undefined));
  await under.start();
  await under.paid('A-1');
  await untilFound('the recipient at the server', () => under.mail.heard.find(({ stage }) => stage === 'rcpt'));
  const before = Date.now();
  await under.stop();
  expect(Date.now() - before).toBeLessThan(10_000);
  expect(await under.deliveries()).toMatchObject([{ state: 'WAITING', reason: 'stopped_before_sending' }]);
});
