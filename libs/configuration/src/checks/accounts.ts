import type { AccountBody } from '@carillon/domain';
import { isKind } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import type { Report } from './finding.ts';
import type { Check } from './surroundings.ts';

/** Provider accounts: those of workspaces, and those that the deployment has for all. */
export const checkAccounts: Check = (resource, _around, report) => {
  if (isKind(resource, 'account')) checkAccount(resource.body, [], report);
  if (!isKind(resource, 'deployment')) return;
  for (const [channel, account] of Object.entries(resource.body.accounts ?? {})) {
    checkAccount(account, ['accounts', channel], report);
  }
};

/** What the shape of a provider account cannot say. `at`: where in the body it stands. */
function checkAccount(body: AccountBody, at: ValuePath, report: Report): void {
  if (body.kind !== 'smtp' || body.tls !== 'opportunistic' || body.user === undefined) return;
  report.fault([...at, 'tls'], {
    message: 'opportunistic takes any certificate or none, so whoever stands between gets the password',
    expected: 'starttls or implicit with a user',
    fix: 'write tls: starttls (implicit on port 465), or remove user and password',
  });
}
