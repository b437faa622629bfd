import { accountName, type Delivery } from '@carillon/domain/deliveries';
import {
  CUT_OFF_MINUTES,
  cutOffNames,
  cutOffsWithinHour,
  INTAKE_CUT_OFFS,
  intakeCutOffs,
  type IntakeCutOff,
} from '@carillon/domain/intake';
import {
  formatInstant,
  isCarillonError,
  messageOf,
  type Duration,
  type ErrorCode,
  type Instant,
} from '@carillon/kernel';
import { findDrops, type DropPorts, type DropRow } from '@carillon/insight';
import { checkStep } from './checks.ts';
import { countLeavingLetters } from './leaving-letters.ts';
import type { Check, ControlPorts } from './ports.ts';
import { MAX_DELIVERIES, pickDeliveries } from './newest-deliveries.ts';
import { recentCalls, refusalsOf, type ProviderCall } from './provider-calls.ts';
import { sourceChecks } from './source-checks.ts';
import { suspendedAccounts } from './suspended-accounts.ts';
import { waitingPartners, type WaitingPartner } from './waiting-partners.ts';
import { lateChecks } from './late-checks.ts';
import { waitChecks } from './wait-checks.ts';

export type DeliveryCheckPorts = DropPorts &
  Pick<
    ControlPorts,
    | 'ledger'
    | 'tasks'
    | 'readModels'
    | 'ruleStates'
    | 'configuration'
    | 'sources'
    | 'clock'
    | 'keyUses'
    | 'slice'
    | 'deadLettersKept'
  >;

const DAY: Duration = 86_400_000;
/** Maximum deliveries read for one check. If there are more, the text says so. */
const LOOKED_AT = 500;
const AWAY: ReadonlySet<ErrorCode> = new Set(['log_unavailable', 'store_unavailable', 'stopping']);

/**
 * Returns the doctor's checks of unnotified people and of everything that waits for a person, each with a ready-to-run
 * command. Skips checks whose log or store is unavailable, because other checks report that.
 */
export async function deliveryChecks(ports: DeliveryCheckPorts): Promise<readonly Check[]> {
  const steps = await Promise.all(
    (
      [
        ['dropped recipients', dropChecks],
        ['provider accounts', accountChecks],
        ['partners', partnerChecks],
        ['databases not read', sourceChecks],
        ['dead letters', deadLetterChecks],
        ['parked receipts', parkedReceiptChecks],
        ['intake', intakeChecks],
        ['waits', waitChecks],
        ['late events', lateChecks],
      ] as const
    ).map(([name, look]) => looked(name, () => look(ports))),
  );
  return steps.flat();
}

async function looked(name: string, look: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  let found: readonly Check[] = [];
  let isAway = false;
  const whole = await checkStep(name, async () => {
    found = await look().catch((error: unknown) => {
      isAway = isCarillonError(error) && AWAY.has(error.code);
      throw isCarillonError(error) ? error : new Error(messageOf(error));
    });
    return 'none';
  });
  if (isAway) return [];
  return found.length > 0 ? found : [whole];
}

const many = (count: number, one: string, more: string): string =>
  `${count}${count >= LOOKED_AT ? ' or more' : ''} ${count === 1 ? one : more}`;
const earliest = (times: readonly Instant[]): string => formatInstant(Math.min(...times));

async function dropChecks(ports: DeliveryCheckPorts): Promise<readonly Check[]> {
  const { rows, complete } = await findDrops({ since: ports.clock.now() - DAY }, LOOKED_AT, ports);
  return [...Map.groupBy(rows, ({ workspace, rule, reason }) => [workspace, rule, reason].join('\n')).values()].map(
    (drops) => dropCheck(drops, complete),
  );
}

function dropCheck(drops: readonly DropRow[], complete: boolean): Check {
  const [newest] = drops;
  if (!newest) return { step: 'dropped recipients', ok: true, detail: 'none' };
  const { workspace, rule, reason, detail } = newest;
  // Only events with drops were read, so the check gives no share of all recipients.
  const events = new Set(drops.map(({ eventId }) => eventId)).size;
  const what = `drops recipients of ${complete ? '' : 'at least '}${events} ${events === 1 ? 'event' : 'events'}`;
  const since = earliest(drops.map(({ at }) => at));
  return {
    step: `rule ${rule}`,
    ok: false,
    detail: `${rule} ${what} since ${since}: ${reason}, ${detail}. Who: npx carillon deliveries --dropped --workspace ${workspace}`,
  };
}

async function accountChecks({ ledger, clock }: DeliveryCheckPorts): Promise<readonly Check[]> {
  const { picked: waiting, complete } = await pickDeliveries(ledger, { states: ['WAITING'] }, (delivery) =>
    NO_ACCOUNT.has(delivery.reason) ? [delivery] : [],
  );
  const byPlace = Map.groupBy(waiting, ({ slot }) => [slot.workspace, slot.notificationId].join('\n'));
  const missed = [...byPlace.values()].flatMap((deliveries) => {
    const [one] = deliveries;
    return one ? [accountCheck(one, deliveries, complete)] : [];
  });
  const { calls } = await recentCalls(ledger, clock.now(), {}, MAX_DELIVERIES);
  const named = new Set(waiting.flatMap(({ attempts }) => attempts.map(({ account }) => account)));
  const found = [...missed, ...suspendedAccounts(calls, named), ...refusalChecks(calls, clock.now())];
  if (complete || found.length > 0) return found;
  return [
    {
      step: 'provider accounts',
      ok: true,
      detail: `the newest ${MAX_DELIVERIES} waiting deliveries were checked and show no failing account`,
    },
  ];
}

/** A failed check for each account and notification of which many messages are refused. */
const refusalChecks = (calls: readonly ProviderCall[], now: Instant): readonly Check[] =>
  refusalsOf(calls, now)
    .filter(({ isHigh }) => isHigh)
    .map(({ account, workspace, notification, calls: made, refused, detail }) => ({
      step: `account ${accountName(account)}`,
      ok: false,
      detail:
        `refused ${refused} of ${made} messages of ${notification} (${Math.round((refused / made) * 100)} %) in the last 15 minutes, ` +
        `the last with: ${detail}. Which: npx carillon deliveries --state FAILED --notification ${notification} --workspace ${workspace}`,
    }));

const NO_ACCOUNT: ReadonlySet<Delivery['reason']> = new Set(['account_unavailable', 'refused_account']);

function accountCheck(
  { slot, intent, attempts, detail }: Delivery,
  all: readonly Delivery[],
  complete: boolean,
): Check {
  const refused = all.flatMap((each) => each.attempts).filter(({ result }) => result?.verdict === 'refused_account');
  const account = refused.at(-1)?.account ?? attempts.at(-1)?.account;
  const name = account === undefined ? 'default' : accountName(account);
  const since = earliest(
    refused.length > 0 ? refused.map(({ startedAt }) => startedAt) : all.map((one) => one.createdAt),
  );
  const why = refused.at(-1)?.result?.detail ?? detail;
  const waits = `${complete ? '' : 'at least '}${all.length} ${all.length === 1 ? 'delivery waits' : 'deliveries wait'}`;
  return {
    step: `account ${name}`,
    ok: false,
    detail:
      `${refused.length > 0 ? 'refuses us' : 'takes nothing'} since ${since} (${why}); ${waits} for it in ${intent.notification}: ` +
      `npx carillon account check ${name} --workspace ${slot.workspace}`,
  };
}

async function partnerChecks(ports: DeliveryCheckPorts): Promise<readonly Check[]> {
  const partners = await waitingPartners(() => true, ports);
  return partners.flatMap((partner) => partnerCheck(partner, ports.clock.now()) ?? []);
}

/** A failed check for a partner whose newest calls failed; null if its triggers only wait for their first answer. */
function partnerCheck(partner: WaitingPartner, now: Instant): Check | null {
  const { workspace, integration, events, complete, failingSince, last, nextAt } = partner;
  if (failingSince === null || last === null) return null;
  const isSuspended = last.outcome === 'unauthorized';
  const why = isSuspended ? 'it refuses our key' : last.detail;
  const waits = `${events}${complete ? '' : ' or more'} ${events === 1 ? 'event waits' : 'events wait'}`;
  const next = nextAt <= now ? 'a call is under way' : `next attempt ${formatInstant(nextAt)}`;
  const what = isSuspended ? 'suspended' : 'has not answered';
  const command = isSuspended ? `check ${integration}` : `waiting ${integration}`;
  return {
    step: `partner ${integration}`,
    ok: false,
    detail: `${what} since ${formatInstant(failingSince)} (${why}), ${waits}, ${next}: npx carillon integration ${command} --workspace ${workspace}`,
  };
}

async function deadLetterChecks(ports: DeliveryCheckPorts): Promise<readonly Check[]> {
  const { items: open } = await ports.readModels.deadLetters({ open: true, ofReceipts: false }, LOOKED_AT);
  if (open.length === 0) return [];
  const since = earliest(open.map(({ at }) => at));
  const leaving = await leavingText(false, ports);
  const detail = `${many(open.length, 'is', 'are')} open, the oldest since ${since}${leaving}: npx carillon dead-letters`;
  return [{ step: 'dead letters', ok: false, detail }];
}

/** Says how many open dead letters Kafka removes within seven days, and from when. Empty if there are none. */
async function leavingText(ofReceipts: boolean, ports: DeliveryCheckPorts): Promise<string> {
  const leaving = await countLeavingLetters({ ofReceipts }, ports);
  if (leaving === null) return '';
  const { count, from } = leaving;
  return `; ${many(count, 'leaves', 'leave')} the log from ${formatInstant(from)} on (retention.dead_letters in carillon.yaml)`;
}

async function parkedReceiptChecks(ports: DeliveryCheckPorts): Promise<readonly Check[]> {
  const { items: open } = await ports.readModels.deadLetters({ open: true, ofReceipts: true }, LOOKED_AT);
  if (open.length === 0) return [];
  const what = many(
    open.length,
    'report belongs to no attempt of this deployment',
    'reports belong to no attempt of this deployment',
  );
  const stops = open.filter(({ receipt }) => receipt?.wish === 'stop').length;
  const wishes =
    stops === 0 ? '' : `, ${stops} of them STOP replies, which stop no message until somebody suppresses the number`;
  const condemned = open.filter(({ receipt }) => receipt?.wish === null && receipt.suppress !== null).length;
  const unsuppressed = condemned === 0 ? '' : `, ${condemned} of them would suppress an address, and did not`;
  const leaving = await leavingText(true, ports);
  const detail = `${what}, the oldest since ${earliest(open.map(({ at }) => at))}${wishes}${unsuppressed}${leaving}: npx carillon receipts list --parked`;
  return [{ step: 'parked receipts', ok: false, detail }];
}

/** Minutes of an hour with refusals from which on they are reported. Fewer only mean that a client was slow. */
const REPEATS = 3;

/**
 * Reports what gateways refused in the last hour to protect other clients. Gateways store the counts within seconds.
 */
async function intakeChecks({ keyUses, clock }: DeliveryCheckPorts): Promise<readonly Check[]> {
  const now = clock.now();
  const lines = await Promise.all(
    intakeCutOffs.map(async (why) => {
      const times = cutOffsWithinHour((await keyUses.lastUses(cutOffNames(why))).values(), now);
      return times.length < REPEATS ? [] : [intakeCheck(why, times)];
    }),
  );
  return lines.flat();
}

const intakeCheck = (why: IntakeCutOff, times: readonly Instant[]): Check => ({
  step: `intake ${why}`,
  ok: false,
  detail:
    `refused or cut off in ${times.length} of the last ${CUT_OFF_MINUTES} minutes, the last time at ${formatInstant(Math.max(...times))}: ` +
    `${INTAKE_CUT_OFFS[why]}. Look at who sends: carillon_intake_cut_off_total{reason="${why}"}, and the proxy's log`,
});
