import type { LookupIntegration } from '@carillon/domain/configuration';
import { attribute, attributionOf, lookupTimeouts, type OwnAnswer } from '@carillon/domain/lookups';
import { formatDuration } from '@carillon/kernel';
import type { PartnerAnswer } from '@carillon/ports';
import { answerWords, askPartner, readPartnerSecrets } from './partner-calls.ts';
import type { Check, ControlPorts } from './ports.ts';
import { CHECK_TIMEOUT } from './routes/configuration/cohorts.ts';

/** The user id of a check without user ids. A partner that does not know it returns an empty array. */
export const MADE_UP = 'carillon-check';

export type PartnerCheckPorts = Pick<ControlPorts, 'secrets' | 'partners' | 'ids'>;

/** Calls the endpoint as the engine would, with both schemes, and says in words what came of it. */
export async function checkPartner(
  integration: LookupIntegration,
  { workspace, userIds }: { readonly workspace: string; readonly userIds: readonly string[] },
  ports: PartnerCheckPorts,
): Promise<Check[]> {
  const { authorization } = integration;
  const { scheme = 'Bearer' } = authorization;
  const steps: Check[] = [{ step: 'integration', ok: true, detail: `kind lookup, ${integration.url}` }];
  const second = authorization.second_key ? [authorization.second_key.secret] : [];
  const { values, missing } = await readPartnerSecrets(workspace, integration, ports);
  steps.push(...missing.map((detail) => ({ step: 'secret', ok: false, detail })));
  if (steps.some(({ ok }) => !ok)) return steps;

  const call = (as: LookupIntegration, keyName: string): Promise<PartnerAnswer> =>
    askPartner(as, userIds, values, ports, keyName);
  const other = scheme === 'Bearer' ? 'Basic' : 'Bearer';
  const { base64: _, ...plain } = authorization;
  // Concurrent, because all calls together must fit into the time of one API request.
  const [answer, otherAnswer, ...seconds] = await Promise.all([
    call(integration, authorization.key.secret),
    call({ ...integration, authorization: { ...plain, scheme: other } }, authorization.key.secret),
    ...second.map((secret) => call(integration, secret)),
  ]);
  steps.push({
    step: `call with ${scheme} (as configured)`,
    ok: answer.kind === 'answered',
    detail: firstWords(answer, integration),
  });
  steps.push({ step: `call with ${other}`, ok: true, detail: answerWords(otherAnswer) });
  steps.push(schemeStep(scheme, other, answer, otherAnswer));
  for (const again of seconds) {
    steps.push({ step: 'call with the second key', ok: again.kind === 'answered', detail: answerWords(again) });
  }
  if (answer.kind === 'answered') steps.push(...answerSteps(answer, userIds, integration));
  return steps;
}

/**
 * Returns the text of a partner's first answer. Adds a note if the check gave up earlier than a call for a rule would.
 */
function firstWords(answer: PartnerAnswer, integration: LookupIntegration): string {
  const { total } = lookupTimeouts(integration);
  const cut = answer.kind === 'unavailable' && answer.status === null && total > CHECK_TIMEOUT;
  const longer = `; a check waits ${formatDuration(CHECK_TIMEOUT)} at the most, a call for a rule ${formatDuration(total)}`;
  return `${answerWords(answer)}${cut ? longer : ''}`;
}

function schemeStep(scheme: string, other: string, answer: PartnerAnswer, otherAnswer: PartnerAnswer): Check {
  const step = 'scheme';
  const taken = answer.kind === 'answered';
  const otherTaken = otherAnswer.kind === 'answered';
  if (taken && otherTaken)
    return { step, ok: true, detail: `the partner takes both Bearer and Basic; ${scheme} is used` };
  if (taken) return { step, ok: true, detail: `the partner takes ${scheme}, as configured` };
  if (otherTaken) {
    return {
      step,
      ok: false,
      detail: `the partner takes ${other}: write scheme: ${other} under authorization, and apply`,
    };
  }
  const unauthorized = answer.kind === 'unauthorized' && otherAnswer.kind === 'unauthorized';
  const detail = unauthorized
    ? 'the partner takes the key with neither scheme: is it the right key?'
    : 'no call was answered, so the scheme cannot be told';
  return { step, ok: false, detail };
}

/** Returns a step for each person and each mistake in the partner's answer, without addresses. */
function answerSteps(
  { items, unread }: Extract<PartnerAnswer, { kind: 'answered' }>,
  userIds: readonly string[],
  integration: LookupIntegration,
): Check[] {
  const attributed = attribute(items, [userIds], attributionOf(integration), unread);
  const [own] = attributed.ok ? attributed.value : [];
  if (!own) return [];
  const madeUp = userIds.length === 1 && userIds[0] === MADE_UP;
  const people = own.items.map(personStep);
  // Nobody has the made-up id, so nobody has to be found.
  const missing = madeUp ? [] : own.problems.filter(({ kind }) => kind === 'missing').map(problemStep);
  const wrong = own.problems.filter(({ kind }) => kind !== 'missing').map(problemStep);
  if (people.length === 0 && wrong.length === 0 && madeUp) {
    const detail = `no user ${MADE_UP}, as expected; pass --user-id with a real user to see more`;
    return [{ step: 'answer', ok: true, detail }];
  }
  return [...people, ...missing, ...wrong];
}

function personStep({ userId, to, variables }: OwnAnswer['items'][number]): Check {
  const channels = (['email', 'phone', 'token'] as const).map((key) => `${key} ${to[key] === null ? 'no' : 'yes'}`);
  const names = Object.keys(variables);
  const about = userId === null ? 'a person' : `user id ${userId}`;
  const detail = `${about}: ${channels.join(', ')}; variables: ${names.length === 0 ? 'none' : names.join(', ')}`;
  return { step: 'answer', ok: to.email !== null || to.phone !== null || to.token !== null, detail };
}

const problemStep = ({ kind, index, userId, detail }: OwnAnswer['problems'][number]): Check => ({
  step: kind.replaceAll('_', ' '),
  ok: false,
  detail: [index === null ? '' : `item ${index}`, userId === null ? '' : `user id ${userId}`, detail]
    .filter((part) => part !== '')
    .join(', '),
});
