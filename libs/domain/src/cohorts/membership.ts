import type { Instant, LogId } from '@carillon/kernel';
import type { CohortMessage, CohortRef } from './cohort-message.ts';
import type { CohortMember } from './member.ts';
import { isBefore, type Order } from './order.ts';
import {
  heardOf,
  lastListOf,
  namedAgain,
  ROLL_FROM,
  saidAgain,
  withoutThose,
  withRoll,
  type LastList,
  type Rolls,
} from './rolls.ts';
import { isWhole, namesNobody, withMessage, type SessionPages } from './session-pages.ts';

/**
 * The first sync of a cohort: from the first message with members until one export is complete. A platform that fails
 * during the first export starts again under another session.
 */
export type FirstSync = {
  /** Session of the first message. All messages of this session belong to the first sync. */
  readonly session: string | null;
  /** When the first sync ends if the platform sends messages without pages, whose exports have no recognizable end. */
  readonly until: Instant | null;
  /** Order of the first complete export. Later exports report real changes. Null if no export is complete. */
  readonly over: Order | null;
  /** Pages of the newest adding export that is incomplete. */
  readonly pages: SessionPages | null;
};

/** State of a cohort without its members, with the position of the last applied record. One document. */
export type Cohort = CohortRef & {
  readonly logId: LogId;
  readonly partition: number;
  readonly offset: number;
  readonly name: string | null;
  readonly firstAt: Instant;
  readonly newestAt: Instant;
  readonly first: FirstSync | null;
  /** Newest sessions, oldest first, with the order of their first message. A late page gets this order. */
  readonly sessions: readonly { readonly session: string; readonly order: Order }[];
  /** Pages received of the newest replacement. */
  readonly replacement: SessionPages | null;
  /** Order of the newest complete replacement. Older messages are ignored. */
  readonly replacedAt: Order | null;
  /** Set while members that were on no page leave. */
  readonly settling: { readonly session: string; readonly chunk: number } | null;
  /** Members without a usable user id, since the first message. */
  readonly skipped: number;
  /** Lists of members that were named together. Absent if there are none. */
  readonly rolls?: Rolls;
  /** The last list of members. If absent or null, the next list must be compared with the members. */
  readonly lastList?: LastList | null;
};

export type MembershipChange = {
  readonly user: string;
  readonly kind: 'entered' | 'left';
  readonly firstSync: boolean;
};

/** A message with its log position and append time. */
export type CohortRecord = {
  readonly message: CohortMessage;
  readonly at: Instant;
  readonly logId: LogId;
  readonly partition: number;
  readonly offset: number;
  /**
   * Digest of the ordered user ids. Equal digests mean equal lists. Absent if `namesList` is false or the caller did
   * not compute it.
   */
  readonly digest?: string;
};

/** Result of a message: documents to save and membership changes. */
export type Applied = {
  readonly cohort: Cohort;
  readonly members: readonly CohortMember[];
  readonly changes: readonly MembershipChange[];
  /** Next chunk of leaving members. Null if no members have to leave. */
  readonly settle: number | null;
};

/** Sessions whose pages a platform may still repeat: Mixpanel has one per half hour, for three days. */
const REMEMBERED_SESSIONS = 150;

/** Returns true if the document includes this record, whose outputs are then on the log. */
export const isApplied = (cohort: Cohort | null, { offset }: { readonly offset: number }): boolean =>
  cohort !== null && cohort.offset >= offset;

/** Returns true if the message names enough members at one time to pay for a digest of the list. */
export const namesList = (message: CohortMessage, rollFrom: number = ROLL_FROM): boolean =>
  namesTogether(message) && message.userIds.length >= rollFrom;

/** Returns true if the message repeats the last list exactly, so that it can be applied without reading members. */
export const saysLastList = (cohort: Cohort | null, record: CohortRecord): boolean =>
  rollsSaidAgain(cohort, record) !== null;

function rollsSaidAgain(cohort: Cohort | null, record: CohortRecord): Rolls | null {
  const { digest, message } = record;
  if (!cohort?.lastList || digest !== cohort.lastList.digest || !namesTogether(message)) return null;
  return saidAgain(cohort.rolls ?? [], cohort.lastList, orderOf(message.time, record));
}

/** Returns true if all named members get the order of this message and no other member has it. */
const namesTogether = ({ action, session, time }: CohortMessage): boolean =>
  action === 'add' && session === null && !Array.isArray(time);

/**
 * Applies a platform's message. Pure and idempotent: a member does not enter twice, and a message older than the newest
 * one about a user or than the newest complete replacement is ignored. Does not call `memberOf` if `saysLastList` is
 * true.
 */
export function applyCohortMessage(
  before: Cohort | null,
  record: CohortRecord,
  memberOf: (user: string) => CohortMember | undefined,
  rollFrom: number = ROLL_FROM,
): Applied {
  const { message } = record;
  const own = orderOf(message.time, record);
  const opened = remembered(begun(before, record), message, own);
  const order = sessionOrder(opened, message) ?? own;
  const cohort = { ...opened, name: nameOf(opened, message, order) };
  const firstSync = message.action !== 'remove' && isFirstSync(cohort, record, order);
  // Before the first replacement only differences may have arrived, so it also names members who did not just enter.
  const firstReplacement = message.action === 'replace' && cohort.replacedAt === null;
  const rolls = cohort.rolls ?? [];
  const repeated = rollsSaidAgain(cohort, record);
  if (repeated) {
    const turned = turnPage(cohort, message, order);
    return { cohort: { ...turned, rolls: repeated }, members: [], changes: [], settle: settleAfter(cohort, turned) };
  }
  const members = new Map<string, CohortMember>();
  let isWholeList = true;
  const changes: MembershipChange[] = [];
  for (const [at, user] of message.userIds.entries()) {
    const memberOrder =
      typeof message.time === 'object' && message.time ? orderOf(message.time[at] ?? null, record) : order;
    const known = members.get(user) ?? memberOf(user);
    const isOld = cohort.replacedAt !== null && isBefore(memberOrder, cohort.replacedAt);
    if (isOld || (known && isBefore(memberOrder, heardOf(rolls, known)))) {
      isWholeList = false;
      continue;
    }
    const inside = message.action !== 'remove';
    const was = known?.inside ?? false;
    const since = inside ? ((was ? known?.since : null) ?? memberOrder.time) : null;
    members.set(user, { user, inside, since, newest: memberOrder, offset: record.offset });
    if (was === inside) continue;
    const silent = firstSync || (firstReplacement && known === undefined);
    changes.push({ user, kind: inside ? 'entered' : 'left', firstSync: silent });
  }
  const turned = turnPage(cohort, message, order);
  const settle = settleAfter(cohort, turned);
  const written = [...members.values()];
  const alike = namesTogether(message);
  const again = alike ? namedAgain(rolls, written, order, memberOf) : null;
  const newRolls = again ?? withWritten();
  const lastList = alike && isWholeList ? lastListOf(newRolls, record.digest, order) : null;
  // A message without users does not change members.
  const keptList = message.userIds.length === 0 ? cohort.lastList : lastList;
  const after = {
    ...turned,
    ...(newRolls !== rolls && { rolls: newRolls }),
    ...(keptList !== undefined && { lastList: keptList }),
  };
  return { cohort: after, members: again ? [] : written, changes, settle };

  function withWritten(): Rolls {
    const left = withoutThose(rolls, written, memberOf);
    return alike && written.length >= rollFrom ? withRoll(left, order, written.length) : left;
  }
}

/** The last page of a replacement starts the first chunk of leavers. */
const settleAfter = (before: Cohort, turned: Cohort): number | null => (turned.settling !== before.settling ? 0 : null);

/**
 * Removes one chunk of members that were on no page of a complete replacement. `outdated`: members not mentioned since
 * its pages; `more`: there may be others. Returns null for a chunk that is not due, which is a repeat.
 */
export function settleCohort(
  before: Cohort | null,
  record: CohortRecord,
  outdated: readonly CohortMember[],
  more: boolean,
): Applied | null {
  const due = dueChunk(before, record);
  if (!before || !due) return null;
  const rolls = before.rolls ?? [];
  const old = outdated.filter((member) => member.inside && isBefore(member.newest, due.order));
  const [leaving, heard] = divided(old, (member) => isBefore(heardOf(rolls, member), due.order));
  const { session, chunk } = due;
  const members = [
    ...leaving.map(({ user }) => ({ user, inside: false, since: null, newest: due.order, offset: record.offset })),
    // Members mentioned since are written as such, so that the next chunk does not find them as outdated.
    ...heard.map((member) => ({ ...member, newest: heardOf(rolls, member), offset: record.offset })),
  ];
  const known = new Map(old.map((member) => [member.user, member]));
  return {
    cohort: {
      ...before,
      offset: record.offset,
      settling: more ? { session, chunk: chunk + 1 } : null,
      ...(before.lastList && { lastList: null }),
      ...(rolls.length > 0 && { rolls: withoutThose(rolls, members, (user) => known.get(user)) }),
    },
    members,
    changes: leaving.map(({ user }) => ({ user, kind: 'left', firstSync: false })),
    settle: more ? chunk + 1 : null,
  };
}

/** Returns the order before which a member is outdated. Null if this chunk is not due. */
export function dueChunk(
  cohort: Cohort | null,
  { message }: CohortRecord,
): { readonly session: string; readonly chunk: number; readonly order: Order } | null {
  const settling = cohort?.settling;
  if (!settling || !cohort.replacedAt) return null;
  const { session, chunk } = settling;
  return session === message.session && chunk === message.page?.number
    ? { session, chunk, order: cohort.replacedAt }
    : null;
}

function divided<Item>(items: readonly Item[], test: (item: Item) => boolean): readonly [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

/** Caps the time at the append time: with a fast clock, all later messages would look old. */
function orderOf(time: Instant | readonly Instant[] | null, { at, offset }: CohortRecord): Order {
  return { time: typeof time === 'number' ? Math.min(time, at) : at, offset };
}

/** Returns the order of a session's first message. A message with its own time does not use it. */
function sessionOrder(cohort: Cohort, { action, session, time }: CohortMessage): Order | undefined {
  if (session === null || (time !== null && action !== 'replace')) return undefined;
  return cohort.sessions.find((known) => known.session === session)?.order;
}

function begun(before: Cohort | null, record: CohortRecord): Cohort {
  const { message, at, logId, partition, offset } = record;
  const { workspace, integration, cohort, skipped } = message;
  const base: Cohort = before ?? {
    workspace,
    integration,
    cohort,
    logId,
    partition,
    offset,
    name: null,
    firstAt: at,
    newestAt: at,
    first: null,
    sessions: [],
    replacement: null,
    replacedAt: null,
    settling: null,
    skipped: 0,
  };
  return {
    ...base,
    offset,
    newestAt: at,
    first: base.first ?? firstSyncOf(record),
    skipped: base.skipped + skipped,
  };
}

/**
 * A difference without users does not start a sync, because platforms send many of these. A page with members but
 * without ids counts as a page.
 */
function firstSyncOf({ message, at, offset }: CohortRecord): FirstSync | null {
  const { action, session, page, firstSync, userIds, skipped } = message;
  const says = action === 'replace' || userIds.length > 0 || (page !== null && skipped > 0);
  if (action === 'remove' || !says) return null;
  const until = page === null ? at + firstSync : null;
  // An export without pages is never known to be complete, so other sessions count as later.
  return { session, until, over: page === null ? { time: at, offset } : null, pages: null };
}

function isFirstSync({ first }: Cohort, { message: { page, session }, at }: CohortRecord, order: Order): boolean {
  if (!first) return false;
  if (session !== null && session === first.session) return true;
  if (page !== null) return first.over === null || !isBefore(first.over, order);
  return first.until !== null && at < first.until;
}

/** A late message may have an outdated name. */
const nameOf = ({ name, sessions }: Cohort, message: CohortMessage, order: Order): string | null =>
  sessions.some((known) => isBefore(order, known.order)) ? (name ?? message.name) : (message.name ?? name);

function remembered(cohort: Cohort, message: CohortMessage, order: Order): Cohort {
  const { session, userIds, page } = message;
  // Empty differences are frequent and would displace the sessions that matter.
  if (userIds.length === 0 && message.action !== 'replace' && (page?.of ?? 1) === 1) return cohort;
  if (session === null || cohort.sessions.some((known) => known.session === session)) return cohort;
  return { ...cohort, sessions: [...cohort.sessions, { session, order }].slice(-REMEMBERED_SESSIONS) };
}

/** Records a received page. After the last page of a replacement, all members on no page have to leave. */
function turnPage(cohort: Cohort, message: CohortMessage, order: Order): Cohort {
  const { first, replacedAt } = cohort;
  if (message.action === 'add') return first?.over === null ? turnFirstPage(cohort, first, message, order) : cohort;
  const replacement = message.action === 'replace' ? withMessage(cohort.replacement, message, order) : null;
  if (!replacement) return cohort;
  const done = replacedAt !== null && !isBefore(replacedAt, order);
  // With a wrong field name all pages look empty. Treating that as an empty cohort would remove every member.
  if (done || !isWhole(replacement) || namesNobody(replacement)) return { ...cohort, replacement };
  return {
    ...cohort,
    first: first && { ...first, over: first.over ?? order },
    replacement,
    replacedAt: order,
    settling: { session: replacement.session, chunk: 0 },
  };
}

function turnFirstPage(cohort: Cohort, first: FirstSync, message: CohortMessage, order: Order): Cohort {
  const { session, userIds, skipped } = message;
  // An empty difference does not belong to the running export.
  if (userIds.length === 0 && skipped === 0 && session !== first.pages?.session) return cohort;
  const pages = withMessage(first.pages, message, order);
  if (!pages) return cohort;
  const over = isWhole(pages) && pages.named ? order : null;
  return { ...cohort, first: { ...first, over, pages: over ? null : pages } };
}
