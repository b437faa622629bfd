import { sendersOver } from '../../src/deliveries/index.ts';
import { account, configurationOf, deployment, notification, ORDER_PAID } from '@carillon/testing/given';
import { expect, it } from 'vitest';

const smtp = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'shop@example.com' } as const;
const twilio = { kind: 'twilio', account_sid: 'AC1', auth_token: { secret: 'T' }, from: '+49151' } as const;
const named = (...accounts: string[]) => ({ ...ORDER_PAID, channels: { email: { template: 'order-paid', accounts } } });

it('a provider account of a workspace is used only by that workspace, on the channel of its kind', () => {
  const configuration = configurationOf([account('sms', twilio), account('sms', twilio, 'blog')]);
  expect(sendersOver(configuration, 'shop/sms')).toEqual([{ workspace: 'shop', channel: 'sms' }]);
});

it('a provider account of the deployment is used by every workspace whose notifications need it, each listed once', () => {
  const configuration = configurationOf([
    deployment({ accounts: { email: smtp } }),
    notification('one', ORDER_PAID),
    notification('two', ORDER_PAID),
    notification('one', ORDER_PAID, 'blog'),
    account('own', smtp, 'zebra'),
    notification('one', named('own'), 'zebra'),
  ]);
  expect(sendersOver(configuration, 'default')).toEqual([
    { workspace: 'blog', channel: 'email' },
    { workspace: 'shop', channel: 'email' },
  ]);
});

it('a removed provider account is used by nobody', () => {
  expect(sendersOver(configurationOf([]), 'shop/gone')).toEqual([]);
});
