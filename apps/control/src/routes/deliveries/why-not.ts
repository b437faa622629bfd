import { whyNotBody, whyNotRequest, type WhyNotBody } from '@carillon/contracts';
import { readRuleTitle, type ResourceRef } from '@carillon/domain/configuration';
import {
  allGates,
  describeDraftOutcome,
  gate,
  GATE_TITLES,
  whyNot,
  type Account,
  type Drafts,
  type DraftOutcome,
} from '@carillon/insight';
import { CarillonError, formatInstant, isId } from '@carillon/kernel';
import { editOf } from '@carillon/stages';
import { principalOf, type Principal } from '../../access/principal.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import type { Cursors } from '../../cursors.ts';
import { proposedConfiguration } from '../../drafts/proposed.ts';
import { showGate, showGateText } from '../../gate-body.ts';
import { namesOf, rulesOf } from '../../names.ts';
import type { ControlPorts, PlanningPorts } from '../../ports.ts';
import { inWorkspace, readRange, type ApiServer } from '../app.ts';
import type { StoryPorts } from './deliveries.ts';
import { refuseUnknown } from './events.ts';

const MAX_OTHERS = 100;
const timeOrNull = (at: number | null): string | null => (at === null ? null : formatInstant(at));

type WhyNotPorts = StoryPorts & PlanningPorts & Pick<ControlPorts, 'clock' | 'configuration' | 'drafts' | 'readModels'>;

/** Why somebody was not told: the gates between an event and them, in order. */
export function whyNotRoute(app: ApiServer, cursors: Cursors, ports: WhyNotPorts): void {
  app.post(
    '/v1/workspaces/:workspace/why-not',
    {
      config: {
        permission: 'read',
        audit: false,
        problems: ['not_found', 'invalid_configuration', 'wrong_state', 'conflict'],
      },
      schema: {
        operationId: 'whyNot',
        tags: ['Events'],
        summary:
          'Why a notification did not tell somebody: the gates in order, and the first that stopped it. From ledger and projections, and each event judged once more',
        params: inWorkspace,
        body: whyNotRequest,
        response: { 200: whyNotBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const { who, notification, event, cursor, drafts: withDrafts = false, ...times } = request.body;
      const asked = withDrafts ? await draftsFor(workspace, notification, principalOf(request), ports) : null;
      if (!asked?.names.includes(notification)) refuseUnknown(ports, visibleScopeOf(request), notification);
      if (event !== undefined && !isId('event', event)) {
        const detail = `event: expected the id of an event, evt_ and 26 characters; found ${event}`;
        throw new CarillonError('invalid_request', detail, { pointer: '/event' });
      }
      const now = ports.clock.now();
      const isTimed = Object.values(times).some((one) => one !== undefined);
      const range = readRange(isTimed ? times : { last: '24h' }, now);
      const place = JSON.stringify(['why-not', workspace, who, notification, times, ...(withDrafts ? ['drafts'] : [])]);
      const kept = cursor === undefined ? null : readKept(cursors.open(cursor, place));
      const span = kept ?? { since: range.since ?? 0, before: range.before ?? now + 1 };
      const found = await whyNot(
        {
          workspace,
          who,
          notification,
          ...span,
          ...(event !== undefined && { eventId: event }),
          ...(kept && { cursor: kept.cursor }),
          ...(asked && { drafts: asked.drafts }),
        },
        ports,
      );
      const maySeeBodies = principalOf(request).may('bodies', workspace);
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
          complete: found.next === null,
          since: timeOrNull(found.reached),
        },
        next: found.next === null ? null : cursors.seal(JSON.stringify({ ...span, cursor: found.next }), place),
      };
      return main ? { ...facts, ...showAccount(main, notification, maySeeBodies) } : { ...facts, ...nothing(facts) };
    },
  );
}

type AskedDrafts = {
  readonly drafts: Drafts;
  /** Notifications and rules of the workspace with the drafts, as people name them. */
  readonly names: readonly string[];
  readonly leftOut: readonly ResourceRef[];
};

/**
 * Returns what publishing the drafts of the workspace would make. Rejects with CarillonError `invalid_configuration` for mistakes in the
 * caller's own drafts and in that of the notification, and with `wrong_state` if there are no drafts.
 */
async function draftsFor(
  workspace: string,
  notification: string,
  { actor }: Principal,
  ports: WhyNotPorts,
): Promise<AskedDrafts> {
  const name = readRuleTitle(notification)?.notification ?? notification;
  const proposed = await proposedConfiguration(
    {
      kind: 'drafts',
      workspace,
      isOwn: ({ by, ref }) =>
        (by.kind === actor.kind && by.id === actor.id) || (ref.kind === 'notification' && ref.name === name),
    },
    ports,
  );
  const { current, configuration, leftOut, changes } = proposed;
  if (changes.length === 0 && leftOut.length === 0) {
    throw new CarillonError('wrong_state', `workspace ${workspace} has no drafts: save a draft, or ask without drafts`);
  }
  const { notifications } = editOf({ before: current, after: configuration }, workspace);
  return {
    drafts: { configuration, edited: new Set(notifications) },
    names: [...namesOf(configuration, 'notification')(workspace), ...rulesOf(configuration)(workspace)],
    leftOut,
  };
}

type Kept = { readonly since: number; readonly before: number; readonly cursor: string };
const readKept = (text: string): Kept => JSON.parse(text) as Kept;

/** Whoever asks wonders about the one that did not come: the newest of these, and where all came the newest of all. */
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
    told: `${notification} told them of event ${eventId}.`,
    waiting: `${notification} has not told them of event ${eventId} yet${because}.`,
    in_doubt: `Nobody can say whether ${notification} told them of event ${eventId}${because}.`,
    stopped: `${notification} did not tell them of event ${eventId}${because}.`,
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

function nothing({
  notification,
  from,
  to,
  looked,
  last,
}: Pick<WhyNotBody, 'notification' | 'from' | 'to' | 'looked' | 'last'>) {
  const seen = looked.complete
    ? `Nothing about them came for ${notification} between ${from} and ${to}: none of ${looked.events} events names them.`
    : `None of the newest ${looked.events} events before ${to} names them; older ones of the span were not looked at yet.`;
  const newest = last === null ? ' No event has come at all.' : ` The last event came at ${last.at} on ${last.stream}.`;
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
