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
 * The first message that let anybody in, and what it began: the first sync. It lasts until one export is whole, since a
 * platform that fails in the midst of the first one begins anew, under another session.
 */
export type FirstSync = {
  /** Session of the first message; whatever else has it belongs to the first sync. */
  readonly session: string | null;
  /** For messages that name no pages: nobody knows when an export by these is whole. */
  readonly until: Instant | null;
  /** Order of the first whole export: exports that began later tell of real changes. Null: none has been whole yet. */
  readonly over: Order | null;
  /** Pages of the newest export that adds and is not whole yet. */
  readonly pages: SessionPages | null;
};

/** What is known of a cohort beside its members: one document, with the position of the last record applied. */
export type Cohort = CohortRef & {
  readonly logId: LogId;
  readonly partition: number;
  readonly offset: number;
  readonly name: string | null;
  readonly firstAt: Instant;
  readonly newestAt: Instant;
  readonly first: FirstSync | null;
  /** The newest sessions with the order of their first message, oldest first: a page that comes late is as old as these. */
  readonly sessions: readonly { readonly session: string; readonly order: Order }[];
  /** The pages of the newest replacement so far. */
  readonly replacement: SessionPages | null;
  /** Order of the newest replacement whose pages have all come: what is older says nothing any more. */
  readonly replacedAt: Order | null;
  /** While those leave who were on no page. */
  readonly settling: { readonly session: string; readonly chunk: number } | null;
  /** Members that came without a usable user id, since the first message. */
  readonly skipped: number;
  /** Members that were named together. Left out: none. */
  readonly rolls?: Rolls;
  /** Left out or null: the next list has to be compared with the members. */
  readonly lastList?: LastList | null;
};

export type MembershipChange = {
  readonly user: string;
  readonly kind: 'entered' | 'left';
  readonly firstSync: boolean;
};

/** A message with where it stands in the log, and its append time. */
export type CohortRecord = {
  readonly message: CohortMessage;
  readonly at: Instant;
  readonly logId: LogId;
  readonly partition: number;
  readonly offset: number;
  /** Names the user ids in their order: two messages with the same digest name the same. Left out: `namesList` is false, or nobody asked. */
  readonly digest?: string;
};

/** What a message comes to: documents to save, and what changed in truth. */
export type Applied = {
  readonly cohort: Cohort;
  readonly members: readonly CohortMember[];
  readonly changes: readonly MembershipChange[];
  /** Chunk of leavers that comes next; null: nobody has to leave. */
  readonly settle: number | null;
};

/** As many sessions are remembered as a platform might still repeat pages of: Mixpanel has one each half hour, for three days. */
const REMEMBERED_SESSIONS = 150;

/** Whether the document already has this record in it: then its outputs are on the log. */
export const isApplied = (cohort: Cohort | null, { offset }: { readonly offset: number }): boolean =>
  cohort !== null && cohort.offset >= offset;

/** Whether the message names so many at one time that they are held together, so that a digest of them is worth its price. */
export const namesList = (message: CohortMessage, rollFrom: number = ROLL_FROM): boolean =>
  namesTogether(message) && message.userIds.length >= rollFrom;

/** Whether the message says to the letter what was said of members last. Then it is applied without a look at any of them. */
export const saysLastList = (cohort: Cohort | null, record: CohortRecord): boolean =>
  rollsSaidAgain(cohort, record) !== null;

function rollsSaidAgain(cohort: Cohort | null, record: CohortRecord): Rolls | null {
  const { digest, message } = record;
  if (!cohort?.lastList || digest !== cohort.lastList.digest || !namesTogether(message)) return null;
  return saidAgain(cohort.rolls ?? [], cohort.lastList, orderOf(message.time, record));
}

/** All whom it names get the order of this message, and nobody else has it. */
const namesTogether = ({ action, session, time }: CohortMessage): boolean =>
  action === 'add' && session === null && !Array.isArray(time);

/**
 * Applies what a platform said. Pure, and done twice it changes nothing: a user who is in already does not enter, and
 * what is older than the newest word about a user, or than the newest whole replacement, is passed over. `memberOf` is not
 * asked for anybody where `saysLastList`.
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
  // Before it, only differences may have come: it names whoever was in all the time.
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
    const said = typeof message.time === 'object' && message.time ? orderOf(message.time[at] ?? null, record) : order;
    const known = members.get(user) ?? memberOf(user);
    const isOld = cohort.replacedAt !== null && isBefore(said, cohort.replacedAt);
    if (isOld || (known && isBefore(said, heardOf(rolls, known)))) {
      isWholeList = false;
      continue;
    }
    const inside = message.action !== 'remove';
    const was = known?.inside ?? false;
    const since = inside ? ((was ? known?.since : null) ?? said.time) : null;
    members.set(user, { user, inside, since, newest: said, offset: record.offset });
    if (was === inside) continue;
    const silent = firstSync || (firstReplacement && known === undefined);
    changes.push({ user, kind: inside ? 'entered' : 'left', firstSync: silent });
  }
  const turned = turnPage(cohort, message, order);
  const settle = settleAfter(cohort, turned);
  const written = [...members.values()];
  const alike = namesTogether(message);
  const again = alike ? namedAgain(rolls, written, order, memberOf) : null;
  const held = again ?? withWritten();
  const lastList = alike && isWholeList ? lastListOf(held, record.digest, order) : null;
  // A message without users says nothing of members.
  const kept = message.userIds.length === 0 ? cohort.lastList : lastList;
  const after = { ...turned, ...(held !== rolls && { rolls: held }), ...(kept !== undefined && { lastList: kept }) };
  return { cohort: after, members: again ? [] : written, changes, settle };

  function withWritten(): Rolls {
    const left = withoutThose(rolls, written, memberOf);
    return alike && written.length >= rollFrom ? withRoll(left, order, written.length) : left;
  }
}

/** With the last page of a replacement begins the first chunk of those who leave. */
const settleAfter = (before: Cohort, turned: Cohort): number | null => (turned.settling !== before.settling ? 0 : null);

/**
 * One chunk of those leaves who were on no page of a whole replacement. `outdated`: members of whom nothing newer was
 * said than its pages; `more`: there may be others. Null where the chunk is not the one that is due: a repeat.
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
    // Named again since: written as such, so that they are not found as outdated in the next chunk.
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

/** The order before which a member is outdated, if this chunk is the one that is due. */
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

/** Nothing is said about the future: a clock that is ahead would make everything after it old. */
function orderOf(time: Instant | readonly Instant[] | null, { at, offset }: CohortRecord): Order {
  return { time: typeof time === 'number' ? Math.min(time, at) : at, offset };
}

/** What has a time of its own is as old as that; else a session is as old as its first message. */
function sessionOrder(cohort: Cohort, { action, session, time }: CohortMessage): Order | undefined {
  if (session === null || (time !== null && action !== 'replace')) return undefined;
  return cohort.sessions.find((one) => one.session === session)?.order;
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

/** A difference without users begins nothing: platforms send those all the time. A page of members without ids is a page. */
function firstSyncOf({ message, at, offset }: CohortRecord): FirstSync | null {
  const { action, session, page, firstSync, userIds, skipped } = message;
  const says = action === 'replace' || userIds.length > 0 || (page !== null && skipped > 0);
  if (action === 'remove' || !says) return null;
  const until = page === null ? at + firstSync : null;
  // What names no pages is never known to be whole: others than its own session are later ones.
  return { session, until, over: page === null ? { time: at, offset } : null, pages: null };
}

function isFirstSync({ first }: Cohort, { message: { page, session }, at }: CohortRecord, order: Order): boolean {
  if (!first) return false;
  if (session !== null && session === first.session) return true;
  if (page !== null) return first.over === null || !isBefore(first.over, order);
  return first.until !== null && at < first.until;
}

/** What comes late has a name that may have been changed since. */
const nameOf = ({ name, sessions }: Cohort, message: CohortMessage, order: Order): string | null =>
  sessions.some((one) => isBefore(order, one.order)) ? (name ?? message.name) : (message.name ?? name);

function remembered(cohort: Cohort, message: CohortMessage, order: Order): Cohort {
  const { session, userIds, page } = message;
  // Empty differences come all the time, and would push out the sessions that say something.
  if (userIds.length === 0 && message.action !== 'replace' && (page?.of ?? 1) === 1) return cohort;
  if (session === null || cohort.sessions.some((one) => one.session === session)) return cohort;
  return { ...cohort, sessions: [...cohort.sessions, { session, order }].slice(-REMEMBERED_SESSIONS) };
}

/** Notes that a page has come. With the last one of a replacement, everybody who was on none has to leave. */
function turnPage(cohort: Cohort, message: CohortMessage, order: Order): Cohort {
  const { first, replacedAt } = cohort;
  if (message.action === 'add') return first?.over === null ? turnFirstPage(cohort, first, message, order) : cohort;
  const replacement = message.action === 'replace' ? withMessage(cohort.replacement, message, order) : null;
  if (!replacement) return cohort;
  const done = replacedAt !== null && !isBefore(replacedAt, order);
  // Were it taken for an empty cohort, a wrong name of a field would let everybody leave.
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
  // An empty difference says nothing about an export that is under way.
  if (userIds.length === 0 && skipped === 0 && session !== first.pages?.session) return cohort;
  const pages = withMessage(first.pages, message, order);
  if (!pages) return cohort;
  const over = isWhole(pages) && pages.named ? order : null;
  return { ...cohort, first: { ...first, over, pages: over ? null : pages } };
}
