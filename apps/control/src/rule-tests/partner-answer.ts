import type { LookupIntegration } from '@carillon/domain/configuration';
import { countJsonValues, readJson } from '@carillon/domain/events';
import { MAX_ANSWER_VALUES } from '@carillon/domain/lookups';
import { CarillonError, type Json } from '@carillon/kernel';
import type { RoutePorts } from '../ports.ts';
import { answerWords, askPartner, readPartnerSecrets } from '../partner-calls.ts';

/** Source of a partner's answer: the partner, the person who tests the rule, or a file. */
export type PartnerSays =
  | { readonly from: 'partner' }
  /** Undefined: there is no answer. */
  | { readonly from: 'person'; readonly pasted: string | undefined }
  | {
      readonly from: 'file';
      readonly answer: (integration: string, userIds: readonly string[]) => readonly Json[] | null;
    };

type PartnerPorts = Pick<RoutePorts, 'partners' | 'secrets' | 'ids'>;

/** Limits of a partner's real answer. */
const ANSWER_LIMITS = { depth: 32, keys: MAX_ANSWER_VALUES };

/** User ids in one test call. The bound keeps a test from reading all people of a partner. */
const MAX_ASKED = 100;

/** Returns the items of a pasted answer, or asks the partner now. Null if there is neither. */
export async function partnerItems(
  says: PartnerSays,
  userIds: readonly string[],
  {
    workspace,
    integration,
    partner,
  }: { readonly workspace: string; readonly integration: string; readonly partner: LookupIntegration | undefined },
  ports: PartnerPorts,
): Promise<{ readonly items: readonly Json[] | null; readonly answered: string | null; readonly unread?: Unread }> {
  if (says.from === 'person')
    return { items: says.pasted === undefined ? null : readPasted(says.pasted), answered: null };
  if (says.from === 'file') return { items: says.answer(integration, userIds), answered: null };
  if (!partner) throw new CarillonError('invalid_configuration', 'the integration of this rule does not exist');
  if (userIds.length > MAX_ASKED) {
    const most = `this event asks about ${userIds.length} user ids; a try asks about ${MAX_ASKED} at most`;
    throw new CarillonError('invalid_request', `ask_partner: ${most}; take an event with fewer`);
  }
  const { values, missing } = await readPartnerSecrets(workspace, partner, ports);
  if (missing.length > 0) throw new CarillonError('invalid_configuration', missing.join('; '));
  const answer = await askPartner(partner, userIds, values, ports);
  if (answer.kind !== 'answered') return { items: null, answered: answerWords(answer) };
  return { items: answer.items, answered: answerWords(answer), ...(answer.unread && { unread: answer.unread }) };
}
type Unread = ReadonlyMap<number, string>;

function readPasted(answer: string): readonly Json[] {
  const bytes = new TextEncoder().encode(answer);
  if (countJsonValues(bytes) > MAX_ANSWER_VALUES) {
    const most = `more than ${MAX_ANSWER_VALUES} fields and items of lists, which is what a call takes; paste fewer people`;
    throw new CarillonError('invalid_request', `answer: ${most}`);
  }
  const read = readJson(bytes, ANSWER_LIMITS);
  if (!read.ok) throw new CarillonError('invalid_request', `answer: ${read.error.detail}`, read.error);
  if (!Array.isArray(read.value)) {
    throw new CarillonError('invalid_request', 'answer: expected an array: [{"to": {…}, "variables": {…}}]');
  }
  return read.value as Json[];
}
