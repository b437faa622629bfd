import { composeMessage } from '../../src/channels/index.ts';
import { listResources, type AccountBody, type AccountOf, type WorkspaceBody } from '../../src/configuration/index.ts';
import {
  accountCalled,
  accountsOf,
  allDeploymentAccounts,
  callsAtOnce,
  deploymentAccounts,
  maxSegments,
  rateOf,
  reaches,
  reportAddress,
  sendingSecrets,
} from '../../src/deliveries/index.ts';
import { account, configurationOf, deployment, notification, workspaceOf } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';

const smtp = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'shop@example.com' } as const;
const twilio: AccountOf<'twilio'> = {
  kind: 'twilio',
  account_sid: 'AC01',
  auth_token: { secret: 'T' },
  from: '+4930123',
};
const fcm = { kind: 'fcm', credentials: { secret: 'F' } } as const;
const shop = configurationOf([
  deployment({
    accounts: {
      email: smtp,
      sms: [
        { name: 'main', ...twilio },
        { name: 'spare', ...twilio, account_sid: 'AC02' },
      ],
    },
  }),
  account('main', smtp),
  account('default', fcm),
]);

describe('the provider accounts of the deployment', () => {
  it('have unique keys that contain the channel, so that no two share a circuit breaker, queue or sender', () => {
    expect(allDeploymentAccounts(shop).map(({ key, name }) => [key, name])).toEqual([
      ['default', 'default'],
      ['default:sms:main', 'main'],
      ['default:sms:spare', 'spare'],
      ['sandbox:push', 'default'],
    ]);
    expect(allDeploymentAccounts(configurationOf([])).map(({ key }) => key)).toEqual([
      'sandbox',
      'sandbox:sms',
      'sandbox:push',
    ]);
  });

  it('are tried in the order of the configuration', () => {
    expect(deploymentAccounts(shop, 'sms').map(({ body }) => body)).toEqual([
      twilio,
      { ...twilio, account_sid: 'AC02' },
    ]);
  });
});

describe('a test environment', () => {
  const sends = (more: WorkspaceBody, accounts?: readonly string[]) => {
    const configuration = configurationOf([
      deployment({ accounts: { email: smtp } }),
      account('main', smtp),
      workspaceOf(more),
      notification('paid', { channels: { email: { template: 'paid', ...(accounts && { accounts }) } }, rules: {} }),
    ]);
    const [found] = listResources(configuration, 'notification');
    return found && accountsOf(configuration, found, 'email').map(({ key }) => key);
  };

  it('sends to the sandbox, whatever accounts the deployment has or its notifications name', () => {
    const test = { environment: 'test', of: 'live' } as const;
    expect([sends(test), sends(test, ['main']), sends(test, ['gone'])]).toEqual([
      ['sandbox'],
      ['sandbox'],
      ['sandbox'],
    ]);
    expect(sends({ ...test, allow_real_accounts: false }, ['main'])).toEqual(['sandbox']);
  });

  it('sends over real accounts if its configuration allows that', () => {
    expect(sends({ environment: 'test', allow_real_accounts: true }, ['main'])).toEqual(['shop/main']);
    expect(sends({ environment: 'test', allow_real_accounts: true })).toEqual(['default']);
    expect([sends({ environment: 'live' }, ['main']), sends({}, ['main'])]).toEqual([['shop/main'], ['shop/main']]);
  });
});

describe('a provider account that is looked up by name', () => {
  const called = (name: string, workspace = 'shop') => accountCalled(shop, workspace, name)?.key;
  it('is found by its key, or by its name within the workspace', () => {
    expect(called('main')).toBe('shop/main');
    expect(called('shop/main')).toBe('shop/main');
    expect(called('default:sms:spare')).toBe('default:sms:spare');
  });

  it('named `default` is the deployment’s account, or the sandbox if the deployment has none', () => {
    expect([called('default'), called('default:push')]).toEqual(['default', 'sandbox:push']);
    expect(accountCalled(configurationOf([]), 'shop', 'default')?.key).toBe('sandbox');
  });

  it('is never that of another workspace', () => {
    expect([called('main', 'zebra'), called('shop/main', 'zebra'), called('default:sms')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('the settings of a provider account', () => {
  it('list the secrets that sending needs, without those that only verify receipts', () => {
    const signed = { domain: 'example.com', selector: 'k1', key: { secret: 'D' } };
    const receipts = { kind: 'mailgun', signing_key: { secret: 'W' } } as const;
    const mail: AccountBody = { ...smtp, password: { secret: 'P' }, dkim: signed, receipts };
    expect(sendingSecrets(mail)).toEqual(['P', 'D']);
    expect(sendingSecrets(twilio)).toEqual(['T']);
    expect(sendingSecrets({ ...twilio, api_key: { sid: 'SK01', secret: { secret: 'K' } } })).toEqual(['K']);
    expect([sendingSecrets(fcm), sendingSecrets({ kind: 'sandbox' })]).toEqual([['F'], []]);
  });

  it('give the number of concurrent calls, and of messages per second', () => {
    expect([smtp, twilio, fcm].map((body) => callsAtOnce(body))).toEqual([5, 16, 64]);
    expect(callsAtOnce({ ...fcm, requests: 3 })).toBe(3);
    expect([rateOf(twilio), rateOf({ ...twilio, rate: { per_second: 10 } }), rateOf({ kind: 'sandbox' })]).toEqual([
      null,
      10,
      null,
    ]);
  });

  it('give the maximum number of SMS segments, by default ten', () => {
    expect([twilio, { ...twilio, max_segments: 3 }, { kind: 'sandbox' }, {}].map((body) => maxSegments(body))).toEqual([
      6, 3, 10, 10,
    ]);
    const sms = { channel: 'sms', deliveryId: 'd', attempt: 1, to: '+4915112345678' } as const;
    const filled = { parts: { text: 'x'.repeat(153 * 7) }, settings: {} };
    expect(composeMessage(sms, filled, twilio)).toMatchObject({ ok: false });
    expect(composeMessage(sms, filled, { kind: 'sandbox' })).toMatchObject({ ok: true });
  });

  it('give the phone numbers that may be sent to, by default all', () => {
    const german = { ...twilio, allow: ['+49'] };
    expect([reaches(german, '+4915112345678'), reaches(german, '+439999999'), reaches(german, null)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(reaches(twilio, '+439999999')).toBe(true);
  });
});

describe('the address to which a provider sends its reports', () => {
  const at = (name: string) => {
    const choice = accountCalled(shop, 'shop', name);
    if (!choice) throw new Error('no such account');
    return reportAddress('https://notify.example.com', choice, 'tok-1-abc');
  };
  it('contains kind, workspace, account and message; an account of the deployment has no workspace', () => {
    expect(at('main')).toBe('https://notify.example.com/receipts/smtp/shop/main/tok-1-abc');
    expect(at('default:sms:spare')).toBe('https://notify.example.com/receipts/twilio/-/spare/tok-1-abc');
  });

  it('is null if the deployment has no public address', () => {
    const [choice] = deploymentAccounts(shop, 'sms');
    expect(choice && reportAddress(null, choice, 'tok')).toBeNull();
  });
});
