import type { CohortMember } from './member.ts';
import { isBefore, type Order } from './order.ts';

/**
 * A list of members that one message wrote and later messages named again completely. A message that names exactly this
 * list only moves `heard`; the members' documents stay unchanged, and count as named then. A platform that repeats its
 * whole list therefore costs one write instead of one per member.
 */
export type Roll = {
  /** Order of the message that wrote the members. Exactly these members have it as `newest`. */
  readonly written: Order;
  /** Order of the newest message that named exactly these. */
  readonly heard: Order;
  /**
   * Number of members in the list. After a crash between writing members and cohort it may be too high. No message then
   * matches the list, which is harmless.
   */
  readonly size: number;
};
export type Rolls = readonly Roll[];

/**
 * The newest list of the cohort, if no other message about members followed. Repeating this list needs no read of
 * members.
 */
export type LastList = {
  /** As `CohortRecord.digest`. */
  readonly digest: string;
  /** Offset of the message that wrote the roll: it holds exactly those who are on the list. */
  readonly roll: number;
};

type KnownMember = (user: string) => CohortMember | undefined;

/** Fewer are written one by one: the roll would cost as much. */
export const ROLL_FROM = 100;
const MAX_ROLLS = 150;

const isOf = ({ written }: Roll, { newest }: CohortMember): boolean => written.offset === newest.offset;
const wasRepeated = ({ written, heard }: Roll): boolean => isBefore(written, heard);

/** When the member was spoken of last. */
export const heardOf = (rolls: Rolls, member: CohortMember): Order =>
  rolls.find((roll) => isOf(roll, member))?.heard ?? member.newest;

/** The rolls after a message of this order that adds `named`; null where they are not exactly one roll. Who is on one is in. */
export function namedAgain(
  rolls: Rolls,
  named: readonly CohortMember[],
  order: Order,
  memberOf: KnownMember,
): Rolls | null {
  const [first] = named;
  const before = first && memberOf(first.user);
  const roll = before && rolls.find((one) => one.size === named.length && isOf(one, before));
  if (!roll) return null;
  const all = named.every(({ user }) => {
    const known = memberOf(user);
    return known !== undefined && isOf(roll, known);
  });
  return all ? rolls.map((one) => (one === roll ? { ...one, heard: order } : one)) : null;
}

/**
 * Returns the rolls after a message of this order repeated the last list. Null if a roll was named later than this
 * message.
 */
export function saidAgain(rolls: Rolls, { roll: offset }: LastList, order: Order): Rolls | null {
  const roll = rolls.find(({ written }) => written.offset === offset);
  if (!roll || isBefore(order, roll.heard)) return null;
  return rolls.map((one) => (one === roll ? { ...one, heard: order } : one));
}

/** Returns the list of a message without skipped users, whether it wrote its members or found them on one roll. */
export function lastListOf(rolls: Rolls, digest: string | undefined, { offset }: Order): LastList | null {
  if (digest === undefined) return null;
  const roll = rolls.find(({ written, heard }) => written.offset === offset || heard.offset === offset);
  return roll ? { digest, roll: roll.written.offset } : null;
}

/** Returns the rolls after these members are written singly, which removes each from its roll. */
export function withoutThose(rolls: Rolls, written: readonly CohortMember[], memberOf: KnownMember): Rolls {
  if (rolls.length === 0) return rolls;
  const left = new Map<number, number>();
  for (const { user } of written) {
    const offset = memberOf(user)?.newest.offset;
    if (offset !== undefined) left.set(offset, (left.get(offset) ?? 0) + 1);
  }
  return rolls
    .map((roll) => ({ ...roll, size: roll.size - (left.get(roll.written.offset) ?? 0) }))
    .filter(({ size }) => size > 0);
}

/**
 * Adds a member list. If the cohort has its maximum of lists, an older list that was never repeated is dropped for the
 * new one. A repeated list is kept, because only the list records that its members were named again; their documents
 * are older.
 */
export function withRoll(rolls: Rolls, written: Order, size: number): Rolls {
  const roll = { written, heard: written, size };
  if (rolls.length < MAX_ROLLS) return [...rolls, roll];
  const idle = rolls.findIndex((one) => !wasRepeated(one));
  return idle < 0 ? rolls : [...rolls.toSpliced(idle, 1), roll];
}
