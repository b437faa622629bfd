import { EMPTY_CONFIGURATION, foldConfiguration, type AccountOf } from '@carillon/domain/configuration';
import { expect, it } from 'vitest';
import { reportChecks } from './report-checks.ts';

const LMTP = { host: '127.0.0.1', port: 7425, protocol: 'lmtp' } as const;
const smtp = (more: Partial<AccountOf<'smtp'>> = {}): AccountOf<'smtp'> => ({
  kind: 'smtp',
  host: 'mx.example.com',
  port: 25,
  from: 'a@example.com',
  ...more,
});
const withAccount = (body: AccountOf<'smtp'>) => {
  const changes = [{ ref: { kind: 'account', workspace: 'shop', name: 'mail' }, based_on: null, body }] as const;
  return foldConfiguration(EMPTY_CONFIGURATION, { changes }, 0).configuration;
};

it('the doctor says nothing about bounces if they are not configured', () => {
  expect(reportChecks(withAccount(smtp()), null)).toEqual([]);
});

it('doctor names an account without a bounce address, with the setting to add', () => {
  const [check] = reportChecks(withAccount(smtp({ return_path: 'bounces.shop.example.com' })), null);
  expect(check).toMatchObject({ step: 'bounces', ok: false });
  expect(check?.detail).toMatch(/shop\/mail.*bounces\.listen/);
});

it('a listener is shown with the accounts that use it', () => {
  const used = withAccount(smtp({ return_path: 'bounces.shop.example.com' }));
  expect(reportChecks(used, LMTP)).toEqual([
    {
      step: 'bounces',
      ok: true,
      detail: 'listens for bounce mail on LMTP 127.0.0.1:7425; accounts with a return_path: 1',
    },
  ]);
});
