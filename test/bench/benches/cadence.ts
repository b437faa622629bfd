import { setTimeout as sleep } from 'node:timers/promises';
import { calendarWindow, quietUntil, type QuietHours } from '@carillon/domain';
import { workOff } from '../harness/backlog.ts';
import { onMongo } from '../backing.ts';
import type { Bench, BenchCase, Side } from '../harness/bench.ts';
import { spin } from '../harness/load.ts';
import { startSendingDelivery, type SendingOptions } from '../sending-delivery.ts';
import { secondsOf } from '../warm-up.ts';

const SQLITE = 'commits of the writer (SQLite, WAL, synchronous = FULL)';
const FERRETDB = "asks for majority and journal with each write; FerretDB's PostgreSQL runs with fsync off";
const ACCOUNT = 'main';
const THINK = 5;
const HOUR = 3_600_000;

/** Delivery sends what lies before it, over one account that takes a message in 5 ms. */
const sends = (name: string, options: SendingOptions = {}): Side => ({
  name,
  syncs: SQLITE,
  async open() {
    const delivery = await startSendingDelivery({ [ACCOUNT]: () => sleep(THINK) }, options);
    return {
      processes: { bench: process.pid },
      round: (round) =>
        workOff({
          seconds: secondsOf(round),
          done: () => delivery.accepted(ACCOUNT),
          add: (count) => delivery.intend(ACCOUNT, count),
        }),
      async verify() {
        const [intended, accepted] = [delivery.intended(ACCOUNT), delivery.accepted(ACCOUNT)];
        return intended === accepted ? [] : [`${intended} messages were intended, ${accepted} accepted`];
      },
      close: () => delivery.close(),
    };
  },
});

/** A limit counts at most 1,000: so many fewer are for one person that none of them is held. */
const ONE_AT_A_TIME: SendingOptions = {
  cadence: { limits: [{ max: 1_000, per: '1h', then: 'hold' }] },
  inARow: 900,
};

/** The delivery role takes messages in, and sends none: they wait for a time, or in the window of a digest. */
const takes = (name: string, how: 'taken' | 'listed', syncs: string, options: SendingOptions): Side => ({
  name,
  syncs,
  async open() {
    let kept = 0;
    const delivery = await startSendingDelivery(
      { [ACCOUNT]: async () => undefined },
      { ...options, people: 200, kept: (word) => void (kept += word === how ? 1 : 0) },
    );
    return {
      processes: { bench: process.pid },
      round: (round) =>
        workOff({
          seconds: secondsOf(round),
          done: () => kept,
          add: (count) => delivery.intend(ACCOUNT, count),
        }),
      async verify() {
        const intended = delivery.intended(ACCOUNT);
        return kept === intended ? [] : [`${intended} messages were intended, ${kept} are ${how}`];
      },
      close: () => delivery.close(),
    };
  },
});

const itemsTakenIn = (title: string, syncs: string, options: SendingOptions): BenchCase => ({
  title,
  counted: 'messages',
  sides: [
    takes('listed for a digest', 'listed', syncs, {
      ...options,
      cadence: { digest: { window: { fixed: '31d' }, max_items: 500 } },
    }),
    takes('taken into custody', 'taken', syncs, { ...options, later: 31 * 24 * HOUR }),
  ],
  comparisons: [
    {
      side: 'listed for a digest',
      to: 'taken into custody',
      measure: 'rate',
      wanted: 'at least',
      floor: 0.35,
      goal: 0.5,
    },
  ],
});

const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe'];
const START = Date.UTC(2026, 0, 1);
/** An instant of the year for each zone in turn, 17 hours on from the one before. */
const MOMENTS = Array.from({ length: 1_000 }, (_, n) => ({
  zone: ZONES[n % ZONES.length] ?? 'UTC',
  at: START + n * 17 * HOUR * 0.5,
}));
const NIGHT: QuietHours = { from: 22 * 60, to: 8 * 60, days: new Set([1, 2, 3, 4, 5, 6, 7] as const) };

const decides = (name: string, decide: (zone: string, at: number) => unknown): Side => ({
  name,
  syncs: 'nothing',
  open: async () => {
    let last: unknown = null;
    return {
      processes: { bench: process.pid },
      round: async ({ seconds }) =>
        spin(seconds, MOMENTS.length, () => {
          for (const { zone, at } of MOMENTS) last = decide(zone, at);
        }),
      verify: async () => (last === null ? ['nothing was decided last, though it is night'] : []),
    };
  },
});
const formats = new Map(
  ZONES.map((zone) => [
    zone,
    new Intl.DateTimeFormat('en', { timeZone: zone, dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' }),
  ]),
);
const intl = decides('one Intl format', (zone, at) => formats.get(zone)?.format(at));

export const cadence: Bench = {
  name: 'cadence',
  title: 'How often, and when',
  what: `The delivery role over the embedded backend, with an account that takes each message in ${THINK} ms. Three limits that never fill, of which each message counts
against all, beside none. Messages to one person at a time, which four roles send, beside one role. Messages that are listed in the windows of digests, for 200 people, beside messages that are taken into custody for
another day; on the embedded backend, and with a log in memory over FerretDB. And what the wall clock says, decided on its own: the end of a quiet night, and the week of a calendar, beside one format of the same time by \`Intl\`, whose formatter is made once for each zone.`,
  cases: [
    {
      title: 'three limits that never fill',
      counted: 'messages',
      sides: [
        sends('under three limits', {
          cadence: {
            limits: [
              { max: 1_000, per: '1h', then: 'drop' },
              { max: 1_000, per: 'day', then: 'drop' },
              { max: 1_000, per: 'week', then: 'hold' },
            ],
          },
        }),
        sends('without limits'),
      ],
      comparisons: [
        {
          side: 'under three limits',
          to: 'without limits',
          measure: 'rate',
          wanted: 'at least',
          floor: 0.75,
          goal: 0.9,
        },
      ],
    },
    {
      title: 'all messages are for one person, and the next 900 for another, under a limit that never fills',
      counted: 'messages',
      sides: [sends('four delivery roles', { ...ONE_AT_A_TIME, roles: 4 }), sends('one delivery role', ONE_AT_A_TIME)],
      comparisons: [
        {
          side: 'four delivery roles',
          to: 'one delivery role',
          measure: 'rate',
          wanted: 'at least',
          floor: 0.8,
          goal: 1,
        },
      ],
    },
    itemsTakenIn('items of digests taken in', SQLITE, {}),
    itemsTakenIn('items of digests taken in, over the protocol of MongoDB', FERRETDB, { backing: onMongo }),
    {
      title: 'quiet hours and calendar windows decided',
      counted: 'decisions',
      sides: [
        decides('quiet hours', (zone, at) => quietUntil([NIGHT], zone, at) ?? 0),
        decides('calendar week', (zone, at) => calendarWindow(zone, at, 'week')),
        intl,
      ],
      comparisons: ['quiet hours', 'calendar week'].map((side) => ({
        side,
        to: intl.name,
        measure: 'rate',
        wanted: 'at least',
        floor: 0.2,
        goal: 0.5,
      })),
    },
  ],
};
