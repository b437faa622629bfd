import { parseDuration, type Duration } from '@carillon/kernel';
import type { Configuration } from '../configuration/configuration.ts';
import { findResource } from '../configuration/configuration.ts';
import type { LookupIntegration } from '../configuration/resources.ts';
import type { Attribution } from './answer.ts';

const CONNECT: Duration = 3_000;
const TOTAL: Duration = 10_000;

const spanOr = (text: string | undefined, otherwise: Duration): Duration => {
  const span = text === undefined ? undefined : parseDuration(text);
  return span?.ok ? span.value : otherwise;
};

export const lookupTimeouts = ({ timeouts }: LookupIntegration): { connect: Duration; total: Duration } => ({
  connect: spanOr(timeouts?.connect, CONNECT),
  total: spanOr(timeouts?.total, TOTAL),
});

export function attributionOf({ match, in_order: inOrder }: LookupIntegration): Attribution {
  if (match !== undefined) return { kind: 'match', path: match.split('.') };
  return inOrder ? { kind: 'in_order' } : { kind: 'none' };
}

/** The partner of this name, if the configuration has one. */
export const findPartner = (
  configuration: Configuration,
  workspace: string,
  name: string,
): LookupIntegration | undefined => findResource(configuration, 'integration', workspace, name)?.body;

/** Names of the secrets that a call needs besides its key. */
export const headerSecrets = ({ headers }: LookupIntegration): readonly string[] =>
  Object.values(headers ?? {}).flatMap((value) => (typeof value === 'string' ? [] : [value.secret]));
