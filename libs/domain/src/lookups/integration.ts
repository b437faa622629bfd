import type { Duration } from '@carillon/kernel';
import { DEFAULT_TIMEOUTS, type INTEGRATIONS } from '@carillon/shapes/integrations';
import type { Configuration } from '../configuration/configuration.ts';
import { findResource } from '../configuration/configuration.ts';
import { isPartner } from '../configuration/integrations.ts';
import type { LookupIntegration } from '../configuration/resources.ts';
import { writtenDuration } from '../configuration/written-duration.ts';
import type { Attribution } from './answer.ts';

export const lookupTimeouts = ({ timeouts }: LookupIntegration): { connect: Duration; total: Duration } => ({
  connect: writtenDuration(timeouts?.connect, DEFAULT_TIMEOUTS.connect),
  total: writtenDuration(timeouts?.total, DEFAULT_TIMEOUTS.total),
});

export function attributionOf({ match, in_order: inOrder }: LookupIntegration): Attribution {
  if (match !== undefined) return { kind: 'match', path: match.split('.') };
  return inOrder ? { kind: 'in_order' } : { kind: 'none' };
}

/** Whether a partner is called: always, less because most calls fail, or once a minute because it refuses our key. */
export type PartnerState = (typeof INTEGRATIONS)[number]['states'][number];

/** The integration of a workspace that looks up recipients. */
export type Partner = { readonly workspace: string; readonly integration: string };

/** Display name of a partner. Never parsed. */
export const partnerTitle = ({ workspace, integration }: Partner): string => `${workspace}/${integration}`;

/** Returns the integration of a partner, if the configuration has one. */
export const findPartner = (
  configuration: Configuration,
  { workspace, integration }: Partner,
): LookupIntegration | undefined => {
  const body = findResource(configuration, 'integration', workspace, integration)?.body;
  return body !== undefined && isPartner(body) ? body : undefined;
};

/** Names of the secrets that a call needs besides its key. */
export const headerSecrets = ({ headers }: LookupIntegration): readonly string[] =>
  Object.values(headers ?? {}).flatMap((value) => (typeof value === 'string' ? [] : [value.secret]));
