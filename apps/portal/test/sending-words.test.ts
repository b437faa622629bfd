import { describe, expect, it } from 'vitest';
import {
  accountState,
  formatCallCounts,
  describeDestination,
  formatRefusalShare,
} from '../src/screens/accounts/sending-words.ts';

const none = { accepted: 0, refused: 0, failed: 0, unknown: 0 };
const refusals = (high: boolean) => [{ notification: 'order-paid', calls: 80, refused: 42, high }];

describe('the words about an account', () => {
  it('say whether messages leave or stay in the inbox', () => {
    expect(describeDestination({ account: 'sandbox', kind: 'sandbox', owner: 'deployment' }, '')).toBe(
      'Messages stay in the inbox',
    );
    expect(describeDestination({ account: 'default', kind: 'smtp', owner: 'deployment' }, 'Email by SMTP')).toBe(
      'Sent over the deployment’s account default (Email by SMTP)',
    );
    expect(describeDestination({ account: 'shop/main', kind: 'smtp', owner: 'workspace' }, 'Email by SMTP')).toBe(
      'Notifications that name the account main (Email by SMTP)',
    );
    expect(describeDestination({ account: 'shop/old', kind: null, owner: 'workspace' }, '')).toBe(
      'Account shop/old, which was removed',
    );
  });

  it('count calls by what became of them', () => {
    expect(formatCallCounts({ accepted: 1_200, refused: 3, failed: 2, unknown: 1 }, 'smtp')).toBe(
      '1,200 accepted, 3 refused, 2 failed and tried again, 1 without an answer in the last hour',
    );
    expect(formatCallCounts({ ...none, accepted: 2 }, 'sandbox')).toBe('2 kept in the last hour');
    expect(formatCallCounts(none, 'smtp')).toBe('Nothing sent in the last hour');
    expect(formatCallCounts({ ...none, refused: 9 }, 'smtp', false)).toBe(
      '9 refused in the last hour, of the newest messages',
    );
  });

  it('call an account failing, refused, in use or not used', () => {
    const account = { kind: 'smtp', calls: { ...none, accepted: 5 }, refusals: [] };
    expect(accountState(account, undefined)).toEqual({ tone: 'good', words: 'Works' });
    expect(accountState({ ...account, calls: none }, undefined)).toEqual({ tone: 'none', words: 'Not used' });
    expect(accountState({ ...account, kind: 'sandbox' }, undefined)).toEqual({ tone: 'none', words: 'Inbox' });
    expect(accountState({ ...account, calls: { ...none, refused: 1 } }, undefined).tone).toBe('held');
    expect(accountState({ ...account, refusals: refusals(false) }, undefined).tone).toBe('good');
    expect(accountState({ ...account, refusals: refusals(true) }, undefined)).toEqual({
      tone: 'bad',
      words: 'Many messages are refused',
    });
    expect(accountState(account, { deliveries: 3, sentence: 'the provider refuses our account' })).toEqual({
      tone: 'bad',
      words: 'Failing, 3 in the last hour: the provider refuses our account',
    });
  });

  it('name the share of refused calls', () => {
    expect(formatRefusalShare({ calls: 80, refused: 42 })).toBe('42 of 80 refused (53 %)');
  });
});
