import { durationOr, type Duration } from '@carillon/kernel';
import type { Configuration } from '../configuration/configuration.ts';
import { findResource } from '../configuration/configuration.ts';
import type { LookupIntegration } from '../configuration/resources.ts';
import type { Attribution } from './answer.ts';

const CONNECT: Duration = 3_000;
const TOTAL: Duration = 10_000;

export const lookupTimeouts = ({ timeouts }: LookupIntegration): { connect: Duration; total: Duration } => ({
  connect: durationOr(timeouts?.connect, CONNECT),
  total: durationOr(timeouts?.total, TOTAL),
});

export function attributionOf({ match, in_order: inOrder }: LookupIntegration): Attribution {
  if (match !== undefined) return { kind: 'match', path: match.split('.') };
  return inOrder ? { kind: 'in_order' } : { kind: 'none' };
}

/** Whether a partner is called: always, less because most calls fail, or once a minute because it refuses our key. */
export type PartnerState = 'called' | 'failing' | 'suspended';

/** The partner of this name, if the configuration has one. */
export const findPartner = (
  configuration: Configuration,
  workspace: string,
  name: string,
): LookupIntegration | undefined => {
  const body = findResource(configuration, 'integration', workspace, name)?.body;
  return body?.kind === 'lookup' ? body : undefined;
};

/** Names of the secrets that a call needs besides its key. */
export const headerSecrets = ({ headers }: LookupIntegration): readonly string[] =>
  Object.values(headers ?? {}).flatMap((value) => (typeof value === 'string' ? [] : [value.secret]));
