import type { FAILPOINT_ACTIONS } from './failpoints.ts';
import type { ChannelName } from '@carillon/domain/channels';
import { SENDING_PLACES } from './places.ts';

type FailpointAction = (typeof FAILPOINT_ACTIONS)[number];

/** The process fails in this way when it comes to this place: `intents.append.after`. */
export type FailpointCase = {
  readonly at: string;
  readonly action: FailpointAction;
  /** When it comes there for so many times; left out: the first. */
  readonly nth?: number;
  /** Left out: the one that brings it there. */
  readonly situation?: Situation;
  /** On which its message goes; left out: email. */
  readonly channel?: Exclude<ChannelName, 'email'>;
};

/** What is done to the product so that it comes to a place. */
export type Situation =
  /** An order that names the address, and whose mail is taken. */
  | 'order'
  /** The same, and when it is told something more comes of that order, of which nobody is told: its partition goes on. */
  | 'followed'
  /** An order about which a partner is asked. */
  | 'watched'
  /** The same, and the partner has no address. */
  | 'unaddressed'
  /** Somebody enters a cohort. */
  | 'member'
  /** Orders whose mail is put off for ever, refused for good, or taken without an answer. */
  | 'never'
  | 'refused'
  | 'unanswered'
  /** An order whose mail is taken after longer than a third of the lease. */
  | 'slow'
  /** An order to an address that the mail server does not know; the same after an operator took it off the list. */
  | 'bounced'
  | 'forgiven'
  /** An order whose mail is put off until it is of no use. */
  | 'brief'
  /** An operator cancels what waits. */
  | 'cancelled'
  /** The configuration is changed, then comes an order. */
  | 'published'
  /** The partner refuses; an operator has it asked again when it does so no more. */
  | 'parked'
  /** A secret is kept, or removed, then comes an order. */
  | 'sealed'
  | 'unsealed'
  /** An order by a key that nobody has used before. */
  | 'keyed'
  /** A message that was sent, of which its provider reports: twice, late and out of order; and so does somebody else. */
  | 'reported'
  /** A mail that was sent comes back, or is complained of. */
  | 'returned'
  | 'complained'
  /** Somebody follows the link of a message and then stops such messages, and another order comes. */
  | 'unsubscribed'
  /** Somebody answers STOP, and START; the same to a number that the provider does not know. */
  | 'stopped'
  | 'twice-barred'
  /** An order to a device, of which what is in front of the provider says once that there is nothing here. */
  | 'astray';

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'triggers.append': 'watched',
  'lookups.append': 'watched',
  'task.insert': 'watched',
  'task.replace': 'watched',
  'task.finish': 'watched',
  'partner.call': 'watched',
  'lookup.claim': 'watched',
  'cohorts.append': 'member',
  'cohort.members': 'member',
  'cohort.save': 'member',
  'config.append': 'published',
  'audit.append': 'published',
  'dead-letters.append': 'parked',
  'dead-letter.redrive': 'parked',
  'suppression.add': 'bounced',
  'suppression.remove': 'forgiven',
  'secret.put': 'sealed',
  'secret.remove': 'unsealed',
  'key-use.record': 'keyed',
  'delivery.renewal': 'slow',
  'delivery.waiting': 'never',
  'delivery.failed': 'refused',
  'delivery.in-doubt': 'unanswered',
  'delivery.suppressed': 'unaddressed',
  'delivery.expired': 'brief',
  'delivery.cancelled': 'cancelled',
};

/** Between these and the record of what came of it a call to the mail server is open: nobody can say whether it was taken. */
const MAIL_OPEN: ReadonlySet<string> = new Set([
  // It is tried all the while.
  'delivery.cancelled.before',
  'delivery.cancelled.after',
  'delivery.sending.after',
  'delivery.renewal.before',
  'delivery.renewal.after',
  'suppression.add.before',
  'suppression.add.after',
  'provider.send.before',
  'provider.send.after',
  'delivery.sent.before',
  'delivery.waiting.before',
  'delivery.failed.before',
  'delivery.in-doubt.before',
]);

/** Between these and the record of it an answer of the partner, or a refusal, is waited for, by whoever has the lease. */
const ASKING: ReadonlySet<string> = new Set([
  'task.replace.after',
  'partner.call.before',
  'partner.call.after',
  'lookups.append.before',
  'lookups.append.after',
  'dead-letters.append.before',
  'dead-letters.append.after',
]);

/** While the process does these, a mail of the same event may be under way: one that fails there may cut it off. */
const BESIDE_MAIL: ReadonlySet<string> = new Set([
  'evaluations.append.after',
  'intents.append.after',
  'delivery.insert.after',
  ...[
    'engine.checkpoint',
    'delivery.checkpoint',
    'control.checkpoint',
    'projection.put',
    'task.finish',
    'lease.acquire',
    'key-use.record',
    'dead-letter.redrive',
  ].flatMap((place) => [`${place}.before`, `${place}.after`]),
]);

/** Not only the first time. */
const LATER: readonly Omit<FailpointCase, 'action'>[] = [
  // The second try of a mail that was put off.
  { at: 'delivery.sending.after', nth: 2, situation: 'never' },
  { at: 'provider.send.before', nth: 2, situation: 'never' },
  // The first takes the lease of the call, the second keeps the answer.
  { at: 'task.replace.after', nth: 2 },
  { at: 'projection.put.before', nth: 3 },
];

const placeOf = (at: string): string => at.replace(/\.(before|after)$/, '');

export const situationOf = ({ at, situation }: FailpointCase): Situation =>
  situation ?? SITUATIONS[placeOf(at)] ?? 'order';

/** Tells a case from every other one. */
export const caseKey = (one: FailpointCase): string =>
  `${one.at} ${one.nth ?? 1} ${situationOf(one)} ${one.action}${one.channel ? ` ${one.channel}` : ''}`;

/** Whether the process is gone, or held for longer than it may be: what it had begun nobody else knows to be over. */
export const goesMissing = ({ action }: FailpointCase): boolean => action === 'kill' || action === 'stop';

/** Whether the call to the mail server is open there. */
export const cutsACall = (one: FailpointCase): boolean => goesMissing(one) && MAIL_OPEN.has(one.at);

/** Whether a delivery may be in doubt afterwards because the lease of its call ran out. */
export const mayCutACall = (one: FailpointCase): boolean =>
  cutsACall(one) || (goesMissing(one) && BESIDE_MAIL.has(one.at));

/** Whether nothing goes on until a lease is over. */
export const leavesALease = (one: FailpointCase): boolean => cutsACall(one) || (goesMissing(one) && ASKING.has(one.at));

/** Whether the product never hears what the mail server said: the call itself is told to have failed. */
export const losesAnAnswer = ({ at, action }: FailpointCase): boolean =>
  action === 'throw' && placeOf(at) === 'provider.send';

/** Whether the product never learns what a partner answered, so that it asks again. */
export const losesACall = ({ at, action }: FailpointCase): boolean => action === 'throw' && at === 'partner.call.after';

/** A lease that is over moves its delivery here: this comes before any lease is left behind. */
const ENDS_A_LEASE = 'delivery.in-doubt.before';
const rank = (one: FailpointCase): number =>
  !leavesALease(one) ? 0 : one.at === ENDS_A_LEASE ? 1 : cutsACall(one) ? 3 : 2;

export const inOrder = (cases: readonly FailpointCase[]): readonly FailpointCase[] =>
  cases.toSorted((one, other) => rank(one) - rank(other));

const everyCaseAnywhere = (actions: readonly FailpointAction[]): readonly FailpointCase[] =>
  inOrder(
    actions.flatMap((action): readonly FailpointCase[] => [
      ...[...SENDING_PLACES].flatMap((place) => [
        { at: `${place}.before`, action },
        { at: `${place}.after`, action },
      ]),
      ...LATER.map((one) => ({ ...one, action })),
    ]),
  );

/** Log and ledger of one process are one file: a move is told of in its own commit, and nothing appends its outcome. */
const comesNotTo = ({ at }: FailpointCase): boolean => placeOf(at) === 'outcomes.append';

/**
 * Every place of one process with these actions, at some not only the first time. What leaves a lease behind comes last: until it is
 * over, its delivery does not move.
 */
export const everyCase = (actions: readonly FailpointAction[]): readonly FailpointCase[] =>
  everyCaseAnywhere(actions).filter((one) => !comesNotTo(one));

/** Places to which several roles come: what leads others there than the usual situation does. */
const OTHER_ROLES: readonly Omit<FailpointCase, 'action'>[] =
  // The engine writes who entered, control the markers of a configuration.
  (['member', 'published'] as const).flatMap((situation) => [
    { at: 'events.append.before', situation },
    { at: 'events.append.after', situation },
  ]);

/** Every place with these actions, for each role that comes there. */
export const everyCaseOfRoles = (actions: readonly FailpointAction[]): readonly FailpointCase[] => [
  ...actions.flatMap((action) => OTHER_ROLES.map((one) => ({ ...one, action }))),
  ...everyCaseAnywhere(actions),
];

export const caseName = ({ at, action, nth, situation, channel }: FailpointCase): string =>
  `${at}: ${action}${nth ? ` the ${nth}. time` : ''}${situation ? ` (${situation})` : ''}${channel ? ` by ${channel}` : ''}`;
