import { FAILPOINT_PLACES, type FAILPOINT_ACTIONS } from '@carillon/runtime';

type FailpointAction = (typeof FAILPOINT_ACTIONS)[number];

/** The process fails in this way when it comes to this place: `intents.append.after`. */
export type FailpointCase = {
  readonly at: string;
  readonly action: FailpointAction;
  /** Left out: the one that brings it there. */
  readonly situation?: Situation;
};

/** What is done to the product so that it comes to a place. */
export type Situation =
  /** An order that names the address, and whose mail is taken. */
  | 'order'
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
  /** An order whose mail is put off until it is of no use. */
  | 'brief'
  /** An operator cancels what waits. */
  | 'cancelled'
  /** The configuration is changed, then comes an order. */
  | 'published';

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
  'provider.send.before',
  'provider.send.after',
  'delivery.sent.before',
  'delivery.waiting.before',
  'delivery.failed.before',
  'delivery.in-doubt.before',
]);

/** Between these and the record of it an answer of the partner is waited for, by whoever has the lease. */
const ASKING: ReadonlySet<string> = new Set([
  'task.replace.after',
  'partner.call.before',
  'partner.call.after',
  'lookups.append.before',
  'lookups.append.after',
]);

/** While the process does these, a mail of the same event may be under way: one that fails there may cut it off. */
const BESIDE_MAIL: ReadonlySet<string> = new Set([
  'evaluations.append.after',
  'intents.append.after',
  'delivery.insert.after',
  ...['engine.checkpoint', 'delivery.checkpoint', 'control.checkpoint', 'projection.put', 'task.finish'].flatMap(
    (place) => [`${place}.before`, `${place}.after`],
  ),
]);

const placeOf = (at: string): string => at.replace(/\.(before|after)$/, '');

export const situationOf = ({ at, situation }: FailpointCase): Situation =>
  situation ?? SITUATIONS[placeOf(at)] ?? 'order';

/** Whether the process is gone, or held for longer than it may be: what it had begun nobody else knows to be over. */
export const goesMissing = ({ action }: FailpointCase): boolean => action === 'kill' || action === 'stop';

const cutsACall = (one: FailpointCase): boolean => goesMissing(one) && MAIL_OPEN.has(one.at);

/** Whether a delivery may be in doubt afterwards because the lease of its call ran out. */
export const mayCutACall = (one: FailpointCase): boolean =>
  cutsACall(one) || (goesMissing(one) && BESIDE_MAIL.has(one.at));

/** Whether nothing goes on until a lease is over. */
export const leavesALease = (one: FailpointCase): boolean => cutsACall(one) || (goesMissing(one) && ASKING.has(one.at));

/** Whether the product never hears what the mail server said: the call itself is told to have failed. */
export const losesAnAnswer = ({ at, action }: FailpointCase): boolean =>
  action === 'throw' && placeOf(at) === 'provider.send';

const rank = (one: FailpointCase): number => (cutsACall(one) ? 2 : leavesALease(one) ? 1 : 0);

/** Every place with these actions. What leaves a lease behind comes last: until it is over, its delivery does not move. */
export const everyCase = (actions: readonly FailpointAction[]): readonly FailpointCase[] =>
  actions
    .flatMap((action) =>
      [...FAILPOINT_PLACES].flatMap((place) => [
        { at: `${place}.before`, action },
        { at: `${place}.after`, action },
      ]),
    )
    .toSorted((one, other) => rank(one) - rank(other));

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
  ...everyCase(actions),
];

export const caseName = ({ at, action, situation }: FailpointCase): string =>
  `${at}: ${action}${situation ? ` (${situation})` : ''}`;
