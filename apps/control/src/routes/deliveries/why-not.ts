import { whyNotBody, whyNotRequest, type WhyNotBody } from '@carillon/contracts';
import { MAX_FOUND_EVENTS, type FindRun } from '@carillon/domain/runs';
import {
  allGates,
  describeDraftOutcome,
  gate,
  GATE_TITLES,
  MAX_EVENTS,
  whyNot,
  type Account,
  type DraftOutcome,
} from '@carillon/insight';
import { CarillonError, formatInstant, isId } from '@carillon/kernel';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import type { Cursors } from '../../cursors.ts';
import { showGate, showGateText } from '../../gate-body.ts';
import { inWorkspace, readRange, type ApiServer } from '../app.ts';
import { refuseUnknown } from './events.ts';
import { askedDrafts, askedSearch, type WhyNotPorts } from './why-not-question.ts';

const MAX_OTHERS = 100;
const timeOrNull = (at: number | null): string | null => (at === null ? null : formatInstant(at));

/** Route that explains why a person was not notified: the gates of an event in order. */
export function whyNotRoute(app: ApiServer, cursors: Cursors, ports: WhyNotPorts): void {
  app.post(
    '/v1/workspaces/:workspace/why-not',
    {
      config: {
        permission: 'read',
        audit: false,
        problems: ['not_found', 'invalid_configuration', 'wrong_state', 'conflict', 'run_unfinished'],
      },
      schema: {
        operationId: 'whyNot',
        tags: ['Events'],
        summary:
          'Why a notification did not notify a person: the gates in order, with the first one that stopped it. Read from ledger and projections; each event is evaluated again',
        params: inWorkspace,
        body: whyNotRequest,
        response: { 200: whyNotBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const { who, notification, event, cursor, search, drafts: withDrafts = false, ...times } = request.body;
      const principal = principalOf(request);
      const run = search === undefined ? null : await askedSearch(request.body, workspace, principal, ports);
      const asked = withDrafts ? await askedDrafts(workspace, notification, principal, ports) : null;
      if (!asked?.names.includes(notification)) refuseUnknown(ports, visibleScopeOf(request), notification);
      if (event !== undefined && !isId('event', event)) {
        const detail = `event: expected the id of an event, evt_ and 26 characters; found ${event}`;
        throw new CarillonError('invalid_request', detail, { pointer: '/event' });
      }
      const now = ports.clock.now();
      const isTimed = Object.values(times).some((one) => one !== undefined);
      const range = readRange(isTimed ? times : { last: '24h' }, now);
      const more = [...(withDrafts ? ['drafts'] : []), ...(run ? [run.id] : [])];
      const place = JSON.stringify(['why-not', workspace, who, notification, times, ...more]);
      const kept = cursor === undefined ? null : readKept(cursors.open(cursor, place));
      const own = { since: range.since ?? 0, before: range.before ?? now + 1 };
      const span = kept
        ? { since: kept.since, before: kept.before }
        : run
          ? { since: run.logStartsAt ?? run.from, before: run.to }
          : own;
      const page = run && (await ports.runs.events(run.id, MAX_EVENTS, kept?.cursor));
      const found = await whyNot(
        {
          workspace,
          who,
          notification,
          ...span,
          ...(event !== undefined && { eventId: event }),
          ...(kept && { cursor: kept.cursor }),
          ...(asked && { drafts: asked.drafts }),
          ...(page && { events: page.items }),
        },
        ports,
      );
      const next = page ? page.next : found.next;
      const notKept = run ? notKeptOf(run) : 0;
      const oldest = page?.items.at(-1)?.at ?? kept?.oldest;
      const oldestKept = next === null && notKept > 0 ? (oldest ?? null) : null;
      // The end of a span is not in it, and several events may have the same millisecond.
      const keptSince = oldestKept === null ? null : oldestKept + 1;
      const maySeeBodies = principal.may('bodies', workspace);
      const [main, ...others] = mainFirst(found.accounts);
      const last = main ? undefined : (await ports.readModels.events({ workspace, before: span.before }, 1)).items[0];
      const facts = {
        workspace,
        who,
        notification,
        from: formatInstant(span.since),
        to: formatInstant(span.before),
        others: others.slice(0, MAX_OTHERS).map((account) => showOther(account, maySeeBodies)),
        drafts_left_out: (asked?.leftOut ?? []).map(({ kind, name }) => ({ kind, name })),
        last: last ? { event: last.id, at: formatInstant(last.at), stream: last.stream } : null,
        looked: {
          events: found.looked,
          judged_again: found.judged,
          deliveries: found.deliveries,
          complete: next === null && notKept === 0,
          not_kept: notKept,
          since: timeOrNull(found.reached ?? keptSince),
        },
        next: next === null ? null : cursors.seal(JSON.stringify({ ...span, cursor: next, oldest }), place),
      };
      return main
        ? { ...facts, ...showAccount(main, notification, maySeeBodies) }
        : { ...facts, ...nothing(facts, next !== null) };
    },
  );
}

/** Events that hold the text of a search and that it did not keep. */
const notKeptOf = ({ counts }: FindRun): number => Math.max(0, (counts?.found ?? 0) - MAX_FOUND_EVENTS);

type Kept = {
  readonly since: number;
  readonly before: number;
  readonly cursor: string;
  /** Time of the oldest event that a page of a search had. */
  readonly oldest?: number;
};
const readKept = (text: string): Kept => JSON.parse(text) as Kept;

/**
 * The first account is the newest that did not notify, because the caller asks about that; if all notified, the newest.
 */
function mainFirst(accounts: readonly Account[]): readonly Account[] {
  const main = accounts.find(({ verdict }) => verdict !== 'told') ?? accounts[0];
  return main === undefined ? [] : [main, ...accounts.filter((one) => one !== main)];
}

const showOther = (one: Account, maySeeBodies: boolean): WhyNotBody['others'][number] => ({
  at: formatInstant(one.at),
  event: one.eventId,
  rule: one.rule,
  verdict: one.verdict,
  gate: one.stoppedAt,
  text: one.stoppedAt === null ? '' : GATE_TITLES[one.stoppedAt],
  delivery: one.deliveryId,
  with_drafts: showDrafts(one.drafts, maySeeBodies),
});

function showDrafts(outcome: DraftOutcome | null, maySeeBodies: boolean): WhyNotBody['with_drafts'] {
  if (!outcome) return null;
  const shown = { ...outcome, text: showGateText(outcome, maySeeBodies) };
  return { ...shown, words: describeDraftOutcome(shown) };
}

function showAccount(account: Account, notification: string, maySeeBodies: boolean) {
  const { verdict, stoppedAt, gates, eventId, deliveryId, rule, drafts } = account;
  const shown = gates.map((one) => showGate(one, maySeeBodies));
  const why = shown.find(({ gate: name }) => name === stoppedAt)?.text ?? '';
  const because = why === '' ? '' : `: ${why}`;
  const sentence = {
    told: `${notification} notified them about event ${eventId}.`,
    waiting: `${notification} has not notified them about event ${eventId} yet${because}.`,
    in_doubt: `It is unknown whether ${notification} notified them about event ${eventId}${because}.`,
    stopped: `${notification} did not notify them about event ${eventId}${because}.`,
  }[verdict];
  return {
    verdict,
    sentence,
    gate: stoppedAt,
    event: eventId,
    delivery: deliveryId,
    rule,
    gates: shown,
    with_drafts: showDrafts(drafts, maySeeBodies),
  };
}

function describeUnseen(
  { complete, events, not_kept: notKept, since }: WhyNotBody['looked'],
  { notification, from, to, hasMore }: Pick<WhyNotBody, 'notification' | 'from' | 'to'> & { readonly hasMore: boolean },
): string {
  if (complete) return `No event named them for ${notification} between ${from} and ${to}: ${events} events were read.`;
  if (hasMore || notKept === 0)
    return `None of the newest ${events} events before ${to} names them; older ones of the span were not looked at yet.`;
  const fix = `Search ${since === null ? 'a shorter span' : `a span that ends at ${since}`} to see them.`;
  return `None of the events that the search stored names them. ${notKept} older events also contain the text but are not stored. ${fix}`;
}

type SilentFacts = Pick<WhyNotBody, 'notification' | 'from' | 'to' | 'looked' | 'last'>;

function nothing({ notification, from, to, looked, last }: SilentFacts, hasMore: boolean) {
  const seen = describeUnseen(looked, { notification, from, to, hasMore });
  const newest =
    last === null ? ' No event has arrived at all.' : ` The last event arrived at ${last.at} on ${last.stream}.`;
  const text = looked.complete ? 'no event of the span names them' : 'not found yet';
  const gates = allGates([gate('event', looked.complete ? 'stopped' : 'unknown', text, { source: 'log' })]);
  return {
    verdict: 'no_event' as const,
    sentence: seen + newest,
    gate: 'event' as const,
    event: null,
    delivery: null,
    rule: null,
    gates: gates.map((one) => showGate(one, true)),
    with_drafts: null,
  };
}
