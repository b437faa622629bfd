import { integrationSecrets, type LookupIntegration } from '@carillon/domain/configuration';
import { lookupTimeouts } from '@carillon/domain/lookups';
import { formatDuration, type Duration } from '@carillon/kernel';
import type { PartnerAnswer } from '@carillon/ports';
import type { ControlPorts } from './ports.ts';
import { CHECK_TIMEOUT } from './routes/configuration/cohorts.ts';
import { missingSecret } from './secret-places.ts';

/** Values behind the names that a call of a partner needs, and a sentence for each that is not there. */
export type PartnerSecrets = {
  readonly values: Readonly<Record<string, string>>;
  readonly missing: readonly string[];
};

export async function readPartnerSecrets(
  workspace: string,
  integration: LookupIntegration,
  { secrets }: Pick<ControlPorts, 'secrets'>,
): Promise<PartnerSecrets> {
  const values: Record<string, string> = {};
  const missing: string[] = [];
  for (const name of integrationSecrets(integration)) {
    const value = await secrets.resolve(workspace, name);
    if (value === null) missing.push(await missingSecret(workspace, name, secrets));
    else values[name] = value;
  }
  return { values, missing };
}

/** Asks a partner as the engine would, but for no longer than a request to this API may take. */
export const askPartner = (
  integration: LookupIntegration,
  userIds: readonly string[],
  secrets: PartnerSecrets['values'],
  { partners, ids }: Pick<ControlPorts, 'partners' | 'ids'>,
  keyName = integration.authorization.key.secret,
): Promise<PartnerAnswer> =>
  partners.ask({
    integration: asPatientAsAllowed(integration),
    key: secrets[keyName] ?? '',
    secrets,
    userIds,
    requestId: ids.random('request'),
  });

const asPatientAsAllowed = (integration: LookupIntegration): LookupIntegration => {
  const { connect, total } = lookupTimeouts(integration);
  const allowed = (span: Duration): string => formatDuration(Math.min(span, CHECK_TIMEOUT));
  return { ...integration, timeouts: { connect: allowed(connect), total: allowed(total) } };
};

/** Describes a partner's answer without quoting it. */
export function answerWords(answer: PartnerAnswer): string {
  if (answer.kind === 'answered') return `${answer.status}, an array of ${answer.items.length}`;
  return answer.kind === 'invalid' && answer.status !== null ? `${answer.status}, but ${answer.detail}` : answer.detail;
}
