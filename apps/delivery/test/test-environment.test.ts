import { workspaceSettings } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RoleUnderTest } from './delivery-role.ts';

let under: RoleUnderTest;
beforeEach(async () => {
  under = await RoleUnderTest.open();
});
afterEach(() => under.close());

const received = (): number => under.mail.accepted.length;
const kept = async (): Promise<number> => (await under.topology.data.inbox.list({}, 10)).items.length;

describe('a workspace that is a test environment', () => {
  it('keeps messages in the sandbox, even if the notification names an account', async () => {
    await under.topology.publish(workspaceSettings({ environment: 'test' }));
    await under.shop();
    await under.start();
    await under.paid('A-1');
    const sent = await under.reaches('SENT');
    expect(sent.attempts.map(({ account }) => account)).toEqual(['sandbox']);
    expect([received(), await kept()]).toEqual([0, 1]);
  });

  it('sends over its account once real accounts are allowed, and stops when that is withdrawn', async () => {
    await under.shop();
    await under.topology.publish(workspaceSettings({ environment: 'test', allow_real_accounts: true }));
    await under.start();
    await under.paid('A-1');
    await under.reaches('SENT', 'A-1');
    expect([received(), await kept()]).toEqual([1, 0]);

    await under.topology.publish(workspaceSettings({ environment: 'test' }));
    await under.paid('A-2');
    await under.reaches('SENT', 'A-2');
    expect([received(), await kept()]).toEqual([1, 1]);
  });
});
