import type { AccountBody, DeploymentBody } from '@carillon/domain';
import { whereOf } from './expressions.ts';
import type { Report } from './names.ts';
import type { ValuePath } from '../files/place.ts';
import type { YamlSource } from '../files/yaml-source.ts';

/** What the shape of a provider account cannot say. `at`: where in the file it stands. */
export function checkAccount(body: AccountBody, at: ValuePath, source: YamlSource, report: Report): void {
  if (body.kind !== 'smtp' || body.tls !== 'opportunistic' || body.user === undefined) return;
  report.faults.push({
    ...whereOf(source, [...at, 'tls']),
    message: 'opportunistic takes any certificate or none, so whoever stands between gets the password',
    expected: 'starttls or implicit with a user',
    fix: 'write tls: starttls (implicit on port 465), or remove user and password',
  });
}

/** The accounts of carillon.yaml. */
export function checkDeployment({ accounts = {} }: DeploymentBody, source: YamlSource, report: Report): void {
  for (const [channel, account] of Object.entries(accounts)) {
    checkAccount(account, ['accounts', channel], source, report);
  }
}
