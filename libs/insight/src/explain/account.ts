import type { SourceEvent } from '@carillon/domain/events';
import type { Instant } from '@carillon/kernel';
import type { EventRow } from '@carillon/ports';
import type { DraftOutcome } from './draft-findings.ts';
import { allGates, gate, gatesOfDelivery, type Evidence, type Gate, type GateName } from './gates.ts';
import type { NamedPerson } from './people.ts';
import type { TraceStep } from './steps.ts';
import type { RememberedRule } from './remembered.ts';
import { firedGates, ownGatesOf, stateGates } from './state-gates.ts';
import type { TracePorts } from './trace-ports.ts';

export type Verdict = 'told' | 'waiting' | 'in_doubt' | 'stopped';

/** Outcome of one event and rule for a person. */
export type Account = {
  readonly at: Instant;
  readonly eventId: string;
  /** `notification.rule` */
  readonly rule: string;
  readonly verdict: Verdict;
  /** The first gate that did not pass. Null: the person was notified. */
  readonly stoppedAt: GateName | null;
  readonly text: string;
  readonly deliveryId: string | null;
  readonly gates: readonly Gate[];
  /** The outcome with the drafts. Null if the question has no drafts. */
  readonly drafts: DraftOutcome | null;
};

/** Returns the gate of an event that Carillon has received. */
function arrived({ id, at, stream }: EventRow): Gate {
  const evidence: Evidence[] = [{ kind: 'event', id }];
  return gate('event', 'passed', `received on ${stream}`, { at, evidence, source: 'projection' });
}
const sawIt = ({ at, configNumber }: EventRow, rule: string): Gate =>
  gate('rule', 'passed', `evaluated with configuration ${configNumber}`, {
    at,
    evidence: [{ kind: 'rule', id: rule }],
    source: 'log',
  });

export async function accountOf(
  row: EventRow,
  named: NamedPerson,
  { ledger }: TracePorts,
  remembered?: RememberedRule,
): Promise<Account> {
  const { rule, dropped, message } = named;
  const before = [
    arrived(row),
    sawIt(row, rule),
    gate('condition', 'passed', 'its condition was met', { at: row.at, source: 'log' }),
    ...(remembered ? firedGates(remembered) : []),
  ];
  const found = gate('recipient', 'passed', `recipient ${named.place} of the rule`, { at: row.at, source: 'log' });
  const ending = (deliveryId: string | null, gates: readonly Gate[]): Account =>
    concluded(row, rule, deliveryId, { known: [...before, ...gates], own: ownGatesOf(remembered) });
  if (dropped) {
    const text = dropped.detail;
    return ending(null, [gate('recipient', 'stopped', text, { at: row.at, lines: [dropped.reason], source: 'log' })]);
  }
  if (!message) {
    const text = 'they have no address for any channel of the notification';
    return ending(null, [found, gate('address', 'stopped', text, { at: row.at, source: 'log' })]);
  }
  const delivery = await ledger.get(message.deliveryId);
  if (!delivery) {
    return ending(null, [found, gate('provider', 'waiting', 'not in the ledger yet', { source: 'ledger' })]);
  }
  const digest = delivery.digestedIn === undefined ? null : await ledger.get(delivery.digestedIn);
  return ending(delivery.id, [found, ...gatesOfDelivery(delivery, message.intentId, digest)]);
}

/** Returns the account of a rule that named no recipient with the searched name, from the rule's step in the trace. */
export function accountOfSilence(row: EventRow, rule: string, judged: TraceStep, steps: readonly TraceStep[]): Account {
  const facts = { at: row.at, lines: judged.lines, source: 'log' } as const;
  if (judged.reason === 'disabled') {
    const off = gate('rule', 'stopped', 'the rule was switched off', {
      ...facts,
      evidence: [{ kind: 'rule', id: rule }],
    });
    return concluded(row, rule, null, { known: [arrived(row), off] });
  }
  const before = [arrived(row), sawIt(row, rule)];
  if (judged.reason !== null) {
    return concluded(row, rule, null, { known: [...before, gate('condition', 'stopped', judged.text, facts)] });
  }
  const fired = gate('condition', 'passed', judged.text, facts);
  const lookups = steps.filter((each) => each.step === 'lookup');
  const isOpen = lookups.length > 0 && lookups.every((lookup) => lookup.state !== 'recorded');
  const recipient = isOpen
    ? gate('recipient', 'waiting', lookups.at(-1)?.text ?? '', { ...facts, lines: [] })
    : gate('recipient', 'stopped', `${judged.text}, none with this name`, {
        ...facts,
        lines: [...judged.lines, ...lookups.flatMap(({ lines }) => lines)],
      });
  return concluded(row, rule, null, { known: [...before, fired, recipient] });
}

/**
 * Returns the account of a rule with state that named no recipient with the searched name, from its decisions about the
 * entity.
 */
export function accountOfState(row: EventRow, rule: string, event: SourceEvent, remembered: RememberedRule): Account {
  const known = stateGates(remembered, event, row.at);
  const before = known.some((each) => each.gate === 'rule') ? [arrived(row)] : [arrived(row), sawIt(row, rule)];
  return concluded(row, rule, null, { known: [...before, ...known], own: ownGatesOf(remembered) });
}

/** The account of a message that only drafts want. `problem`: why no published rule saw the event. Null if one did. */
export function accountOfDraftsOnly(row: EventRow, rule: string, problem: string | null): Account {
  const known =
    problem === null
      ? [sawIt(row, rule), gate('recipient', 'stopped', 'the rule makes no such message for them', { source: 'log' })]
      : [gate('rule', 'stopped', problem, { source: 'configuration' })];
  return concluded(row, rule, null, { known: [arrived(row), ...known] });
}

type Known = { readonly known: readonly Gate[]; readonly own?: readonly GateName[] };

function concluded(row: EventRow, rule: string, deliveryId: string | null, { known, own = [] }: Known): Account {
  const gates = allGates(known, own);
  const stop = gates.find(({ result }) => result === 'stopped' || result === 'waiting' || result === 'in_doubt');
  const last = known.findLast(({ result }) => result === 'passed');
  const verdict: Verdict = stop === undefined ? 'told' : (stop.result as Verdict);
  return {
    at: row.at,
    eventId: row.id,
    rule,
    verdict,
    stoppedAt: stop?.gate ?? null,
    text: stop?.text ?? last?.text ?? '',
    deliveryId,
    gates,
    drafts: null,
  };
}
