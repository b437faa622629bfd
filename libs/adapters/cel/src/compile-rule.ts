import {
  conditionOf,
  userIdsOf,
  type CompiledRule,
  type EventRecipients,
  type Expression,
  type ExpressionFault,
  type ExpressionPlace,
  type LookupRecipients,
  type PlacedRule,
} from '@carillon/domain';
import type { Result } from '@carillon/kernel';
import { err, ok } from '@carillon/kernel';
import type { ExpressionLanguage } from '@carillon/ports';

/** A fault with the field of the rule that it stands in: `when`, `recipients.to.email`. */
export type RuleFault = ExpressionFault & { readonly field: string };

type Read = (field: string, source: string | undefined, place: ExpressionPlace) => Expression | null;

/** Compiles all expressions of a rule, or tells everything that is wrong with them. */
export function compileRule(
  placed: PlacedRule,
  language: ExpressionLanguage,
): Result<CompiledRule, readonly RuleFault[]> {
  const faults: RuleFault[] = [];
  const read: Read = (field, source, place) => {
    if (source === undefined) return null;
    const compiled = language.compile(source, place);
    if (compiled.ok) return compiled.value;
    faults.push(...compiled.error.map((fault) => ({ field, ...fault })));
    return null;
  };
  const { recipients } = placed.body;
  const when = read('when', conditionOf(placed.body), 'when');
  const rule = recipients.from === 'lookup' ? readLookup(read, recipients) : readEventRecipients(read, recipients);
  return when === null || rule === null || faults.length > 0 ? err(faults) : ok({ placed, when, ...rule });
}

type RecipientParts = Omit<CompiledRule, 'placed' | 'when'>;

function readEventRecipients(read: Read, recipients: EventRecipients): RecipientParts {
  const { email, phone, token } = recipients.to;
  return {
    forEach: read('recipients.for_each', recipients.for_each, 'for_each'),
    to: {
      email: read('recipients.to.email', email, 'recipient'),
      phone: read('recipients.to.phone', phone, 'recipient'),
      token: read('recipients.to.token', token, 'recipient'),
    },
    uniqueId: readUniqueId(read, recipients.unique_id, 'recipient'),
    person: read('recipients.person', recipients.person, 'recipient'),
    variables: readVariables(read, recipients.variables),
    where: read('recipients.where', recipients.where, 'where'),
    lookup: null,
  };
}

function readLookup(read: Read, recipients: LookupRecipients): RecipientParts | null {
  const { integration } = recipients;
  const userIds = read('recipients.user_ids', userIdsOf(recipients.user_ids), 'user_ids');
  const rest = {
    forEach: null,
    to: { email: null, phone: null, token: null },
    uniqueId: readUniqueId(read, recipients.unique_id, 'answer'),
    person: read('recipients.person', recipients.person, 'answer'),
    variables: [],
    where: read('recipients.where', recipients.where, 'where'),
  };
  return userIds && { ...rest, lookup: { integration, userIds } };
}

/** `event_id` and `trigger_id` as the whole expression are reserved words (rules.md section 3). */
function readUniqueId(read: Read, source: string | undefined, place: ExpressionPlace): CompiledRule['uniqueId'] {
  const word = source?.trim();
  if (word === 'event_id' || word === 'trigger_id') return word;
  return read('recipients.unique_id', source, place);
}

function readVariables(read: Read, variables: Readonly<Record<string, string>> = {}): CompiledRule['variables'] {
  return Object.entries(variables).flatMap(([name, source]) => {
    const value = read(`recipients.variables.${name}`, source, 'recipient');
    return value === null ? [] : [[name, value] as const];
  });
}
