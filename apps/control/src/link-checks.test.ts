import { account, configurationOf, deployment, notification, ORDER_PAID, type Wish } from '@carillon/testing/given';
import { expect, it } from 'vitest';
import { linkChecks } from './link-checks.ts';

const SMTP = { kind: 'smtp', host: 'mail.example.com', port: 587, from: 'shop@example.com' } as const;
const over = (name: string, more: object = {}) =>
  notification(name, { ...ORDER_PAID, channels: { email: { template: 'paid', accounts: ['mail'] } }, ...more });
const checks = (...wishes: readonly Wish[]) => linkChecks(configurationOf([account('mail', SMTP), ...wishes]));

it('lists notifications whose email has no unsubscribe link, as a passing step', () => {
  const [step, ...others] = checks(over('paid'), over('news'));
  expect(others).toEqual([]);
  expect(step).toMatchObject({ step: 'unsubscribe links', ok: true });
  expect(step?.detail).toMatch(/^no unsubscribe link in email of shop\/news, shop\/paid: .*public_url,/);
});

it('includes notifications that fall back to the email account of the deployment', () => {
  const plain = notification('plain', ORDER_PAID);
  expect(checks(plain)).toEqual([]);
  expect(checks(plain, deployment({ accounts: { email: SMTP } }))).toHaveLength(1);
});

it.each([
  ['everybody can be reached', [over('paid'), deployment({ public_url: 'https://notify.example.com' })]],
  ['it is transactional', [over('paid', { transactional: true })]],
  ['it is switched off', [over('paid', { enabled: false })]],
  ['only the sandbox gets it', [notification('paid', ORDER_PAID)]],
  ['it is no mail', [notification('paid', { ...ORDER_PAID, channels: { sms: { template: 'paid' } } })]],
] as const)('says nothing where %s', (_why, wishes) => {
  expect(checks(...wishes)).toEqual([]);
});
