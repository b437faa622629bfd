import type { Delivery } from '@carillon/domain/deliveries';
import type { DeliveryLedger } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { deliveryOf } from './delivery-samples.ts';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

/** Held deliveries of one workspace: with so many, a question that reads them all takes ten times as long already. */
const HELD = Number(process.env['CARILLON_HELD'] ?? 50_000);
const BATCH_SIZE = 2_000;
const ROUNDS = 25;
/** Far away, so that nothing of it is due in the proof. */
const TOMORROW = 9_000_000_000_000;
/** What a machine that does something else adds to an answer of a millisecond. */
const NOISE_MS = 10;

type Questions = Readonly<Record<string, () => Promise<unknown>>>;

/** Queries that the delivery role repeats, and one message of another workspace from custody to its end. */
function questionsTo(ledger: DeliveryLedger, workspace: string): Questions {
  const now = 1_000;
  return {
    dueWorkspaces: () => ledger.dueWorkspaces(now),
    nextDueAt: () => ledger.nextDueAt(now + 1_000),
    due: () => ledger.due(workspace, now, 100),
    waiting: () => ledger.waiting({ workspace }, 100),
    leaseExpired: () => ledger.leaseExpired(now, 100),
    unlisted: () => ledger.unlisted(now, 100),
    unpublished: () => ledger.unpublished(now, 100),
    list: () => ledger.list({ workspace, states: ['WAITING'] }, 50),
    async 'one message'() {
      const delivery = deliveryOf({ slot: { workspace } });
      await ledger.insert([delivery]);
      const sent: Delivery = { ...delivery, version: 2, state: 'SENT', nextAt: null };
      expect(await ledger.replace(sent)).toBe('done');
    },
  };
}

/** Median milliseconds of each question. */
async function medians(questions: Questions): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const [name, ask] of Object.entries(questions)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const begun = performance.now();
      await ask();
      times.push(performance.now() - begun);
    }
    found[name] = Number((times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0).toFixed(2));
  }
  return found;
}

/** Messages that wait for tomorrow cost those of today nothing: no question reads them. For proofs: it takes a minute. */
export function describeHeldDeliveries(name: string, make: () => Promise<UnderTest<DeliveryLedger>>): void {
  describe(`${name} with ${HELD} held deliveries of one workspace`, () => {
    const { port } = freshFor(make);

    it(
      'answers what concerns another workspace within twice the time of none held',
      { timeout: 3_600_000 },
      async () => {
        const ledger = port();
        const [busy, holding] = [freshName('busy'), freshName('holding')];
        await ledger.insert(
          Array.from({ length: 100 }, (_, n) => deliveryOf({ slot: { workspace: busy }, nextAt: n })),
        );
        const questions = questionsTo(ledger, busy);
        await medians(questions);
        const none = await medians(questions);
        const held = (n: number): Delivery =>
          deliveryOf({ slot: { workspace: holding }, nextAt: TOMORROW + n, reason: 'held_by_quiet_hours' });
        for (let done = 0; done < HELD; done += BATCH_SIZE) {
          await ledger.insert(Array.from({ length: BATCH_SIZE }, (_, n) => held(done + n)));
        }
        const many = await medians(questions);
        console.info(name, { none, many });
        expect(await ledger.dueWorkspaces(1_000)).not.toContain(holding);
        for (const [question, ms] of Object.entries(many)) {
          expect([question, ms <= 2 * (none[question] ?? 0) + NOISE_MS, ms]).toEqual([question, true, ms]);
        }
      },
    );
  });
}
