import { setImmediate as others } from 'node:timers/promises';
import { DELIVERY_STATES, type DeliveryState } from '@carillon/domain/deliveries';
import type { DeliveryLedger, NotificationCount, StateCount } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import { conditionsOf } from './conditions.ts';
import { BY_LEASE, BY_PHASE, inState, PHASES } from './delivery-phases.ts';
import { pieceLength, piecesOf, type Counts, type KeptSums, type Piece } from './kept-sums.ts';

const IN_PIECE = 'created_at >= ? AND created_at < ?';
const ANY_PHASE = PHASES.map((phase) => `'${phase}'`).join(', ');
/**
 * Lists the notifications of a time span's deliveries by phase, and again of those in SENDING. One statement, so that
 * both lists are from the same moment.
 */
const NOTIFICATIONS = `
  SELECT phase AS state, json_group_array(notification) AS found FROM deliveries ${BY_PHASE}
  WHERE workspace = ? AND phase IN (${ANY_PHASE}) AND ${IN_PIECE} GROUP BY phase
  UNION ALL
  SELECT 'SENDING', json_group_array(notification) FROM deliveries ${BY_LEASE}
  WHERE state = 'SENDING' AND workspace = ? AND ${IN_PIECE}`;

const PLACES: ReadonlyMap<string, number> = new Map(DELIVERY_STATES.map((state, place) => [state, place]));
const [WAITING, SENDING] = [DELIVERY_STATES.indexOf('WAITING'), DELIVERY_STATES.indexOf('SENDING')];

function readCounts(reader: Reader, workspace: string, { from, until }: Piece): Counts {
  const counts = new Map<string, Uint32Array>();
  const rows = reader.all(NOTIFICATIONS, workspace, from, until, workspace, from, until) as {
    readonly state: string;
    readonly found: string;
  }[];
  for (const { state, found } of rows) {
    // What is open and not SENDING waits.
    const place = PLACES.get(state) ?? WAITING;
    for (const notification of JSON.parse(found) as readonly string[]) {
      const states = counts.get(notification) ?? noneOfAny();
      states[place] = (states[place] ?? 0) + 1;
      if (place === SENDING) states[WAITING] = (states[WAITING] ?? 0) - 1;
      counts.set(notification, states);
    }
  }
  return counts;
}

function readPeople(
  reader: Reader,
  workspace: string,
  state: DeliveryState,
  { from, until }: Piece,
): readonly string[] {
  return inState(state).flatMap(({ index, condition }) => {
    const { where, values } = conditionsOf([['workspace = ?', workspace], condition, [IN_PIECE, from, until]]);
    const text = `SELECT json_group_array(person) FILTER (WHERE person IS NOT NULL) AS found FROM deliveries ${index} ${where}`;
    const { found } = reader.get(text, ...values) as { readonly found: string };
    return JSON.parse(found) as readonly string[];
  });
}

/** Pieces whose sums are kept cost some 10 µs each: after so many of them others have a turn too. */
const IN_ONE_TURN = 200;
function turnsOver(): () => Promise<void> {
  let pieces = 0;
  return async () => {
    pieces += 1;
    if (pieces % IN_ONE_TURN === 0) await others();
  };
}

const noneOfAny = (): Uint32Array => new Uint32Array(DELIVERY_STATES.length);
function add(into: Uint32Array, more: Uint32Array): void {
  // An index loop is ten times faster than an iterator.
  for (let at = 0; at < into.length; at += 1) into[at] = (into[at] ?? 0) + (more[at] ?? 0);
}

/**
 * Counts deliveries over time, in pieces. A whole piece uses its stored sums, if there are any. Otherwise its rows are
 * read from an index that contains everything counted. Other work may run after each piece that was read, and after
 * some that were stored.
 */
export function deliveryCounts(
  reader: Reader,
  kept: KeptSums,
): Pick<DeliveryLedger, 'countOverTime' | 'countByNotification' | 'countPeople'> {
  async function countsOf(
    sums: ReturnType<KeptSums['sums']>,
    workspace: string,
    piece: Piece,
    turn: () => Promise<void>,
  ): Promise<Counts> {
    await turn();
    const known = sums.of(piece)?.counts;
    if (known) return known;
    const counts = readCounts(reader, workspace, piece);
    sums.keepCounts(piece, counts);
    await others();
    return counts;
  }

  return {
    async countOverTime({ workspace, since, before, notification }, part) {
      const [sums, turn] = [kept.sums(), turnsOver()];
      const found: StateCount[] = [];
      for (let at = since - (since % part); at < before; at += part) {
        const total = noneOfAny();
        const [from, until] = [Math.max(at, since), Math.min(at + part, before)];
        for (const piece of piecesOf(workspace, from, until, pieceLength(before - since))) {
          const counts = await countsOf(sums, workspace, piece, turn);
          if (notification === undefined) for (const states of counts.values()) add(total, states);
          else add(total, counts.get(notification) ?? noneOfAny());
        }
        for (const [place, state] of DELIVERY_STATES.entries()) {
          const deliveries = total[place] ?? 0;
          if (deliveries > 0) found.push({ at, state, deliveries });
        }
      }
      return found;
    },
    async countByNotification({ workspace, since, before }) {
      const [sums, turn] = [kept.sums(), turnsOver()];
      const totals = new Map<string, Uint32Array>();
      for (const piece of piecesOf(workspace, since, before, pieceLength(before - since))) {
        for (const [notification, states] of await countsOf(sums, workspace, piece, turn)) {
          const total = totals.get(notification) ?? noneOfAny();
          add(total, states);
          totals.set(notification, total);
        }
      }
      return [...totals]
        .flatMap(([notification, states]) =>
          DELIVERY_STATES.map((state, at): NotificationCount => ({ notification, state, deliveries: states[at] ?? 0 })),
        )
        .filter(({ deliveries }) => deliveries > 0);
    },
    async countPeople({ workspace, since, before }, states) {
      const [sums, turn] = [kept.sums(), turnsOver()];
      // Counts each person once over all pieces and states, with an array of flags, which is faster than a set.
      let marks = new Uint8Array(sums.numbered());
      const mark = (numbers: Uint32Array): void => {
        if (marks.length < sums.numbered()) {
          const more = new Uint8Array(2 * sums.numbered());
          more.set(marks);
          marks = more;
        }
        for (const number of numbers) marks[number] = 1;
      };
      for (const piece of piecesOf(workspace, since, before, pieceLength(before - since))) {
        const read = states.filter((state) => {
          const known = sums.of(piece)?.people.get(state);
          if (known) mark(known);
          return !known;
        });
        for (const state of read) {
          const numbers = Uint32Array.from(readPeople(reader, workspace, state, piece), sums.numberOf);
          sums.keepPeople(piece, state, numbers);
          mark(numbers);
        }
        await (read.length > 0 ? others() : turn());
      }
      let people = 0;
      for (const told of marks) people += told;
      return people;
    },
  };
}
