import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIds } from '@carillon/adapter-system';
import type { Intent } from '@carillon/domain/deliveries';
import { isRunOf, type Finding } from '@carillon/domain/runs';
import type { IntentId, JobId, RunId } from '@carillon/kernel';
import { deadLetterRecord, markerRecord, placeOfIntent, REDRIVEN_FROM_HEADER } from '@carillon/stages';
import { countingRules, givenRuleBook, notification } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRunChild } from '../../../apps/cli/src/replay/run-child.ts';
import { verificationOf, verifyFolder, type VerifyOptions } from '../../support/verify-log.ts';
import { KEY, ofIntents, openShop, orderEvent, paid, shopWith, type VerifiedShop } from './shop.ts';

let shop: VerifiedShop;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(async () => {
  await shop.close();
  await rm(shop.dataDir, { recursive: true, force: true });
});

const verify = async (options: VerifyOptions = {}) =>
  verifyFolder(shop.dataDir, await verificationOf(shop.data), KEY, options);
const textOf = ({ problem, output, field, eventId }: Finding): string =>
  [problem, output, field, eventId].filter((text) => text !== null).join(' ');
const found = async () => {
  const { findings } = await verify();
  return findings.map(textOf).toSorted();
};

/** Removes all records of a topic, as retention does. */
async function cutAll(topic: 'carillon.events' | 'carillon.intents'): Promise<void> {
  const { log } = shop.data;
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    await log.cut(topic, partition, (await log.bounds(topic, partition)).end);
  }
}

/** Orders with the numbers from 1; each one is paid. */
const orders = (count: number) => Array.from({ length: count }, (_, index) => paid(index + 1));
const asking = (number: number, watchers: readonly string[]) => orderEvent(number, { watchers });

describe('A verification', () => {
  it('finds nothing in a log that the engine wrote, over configuration changes, answers and repeated batches', async () => {
    await shop.append([...orders(3), asking(4, ['ann', 'bob'])]);
    await shop.evaluate((output) => [output, output]);
    await shop.publish([notification('order-paid', shopWith('true'))]);
    await shop.append([orderEvent(5, { status: 'new' }), asking(6, ['cem'])]);
    await shop.evaluate();
    for (const trigger of await shop.triggers()) await shop.answer(trigger, trigger.userIds);
    await shop.resolve();
    const { counts, findings } = await verify();
    expect(findings).toEqual([]);
    // Messages of orders 1 to 3, 5 and 6, two questions, and messages of three watchers.
    expect(counts).toMatchObject({ events: 6, same: 10, notEvaluated: 0, unknownConfiguration: 0 });
  });

  it('names what is missing, has no cause, or differs, with the first field that differs', async () => {
    await shop.append(orders(6));
    await shop.evaluate(
      ofIntents((intent) => {
        if (intent.eventId === 'evt_1') return [];
        if (intent.eventId === 'evt_2') return [{ ...intent, sendAt: intent.sendAt + 1 }];
        if (intent.eventId === 'evt_3') return [{ ...intent, to: 'eve@example.com', id: 'int_eve' as IntentId }];
        if (intent.eventId !== 'evt_4') return [intent];
        return [intent, { ...intent, id: 'int_2' as IntentId, slot: { ...intent.slot, uniqueId: 'other' } }];
      }),
    );
    expect(await found()).toEqual([
      'different intent send_at evt_2',
      'different intent to evt_3',
      'missing intent evt_1',
      'no_cause intent evt_4',
    ]);
  });

  it('names an output that is wrong in all its copies once', async () => {
    await shop.append(orders(2));
    await shop.evaluate(
      ofIntents((intent) => {
        const wrong =
          intent.eventId === 'evt_1'
            ? { ...intent, sendAt: intent.sendAt + 1 }
            : { ...intent, to: 'eve@example.com', id: 'int_eve' as IntentId };
        return [wrong, wrong];
      }),
    );
    expect(await found()).toEqual(['different intent send_at evt_1', 'different intent to evt_2']);
  });

  it('names a copy that differs beside a right one', async () => {
    await shop.append(orders(3));
    await shop.evaluate(
      ofIntents((intent) => {
        const wrong = { ...intent, sendAt: intent.sendAt + 1 };
        if (intent.eventId === 'evt_1') return [intent, wrong];
        return intent.eventId === 'evt_2' ? [wrong, intent] : [intent, intent];
      }),
    );
    const { counts, findings } = await verify();
    expect(findings.map(textOf).toSorted()).toEqual([
      'different intent send_at evt_1',
      'different intent send_at evt_2',
    ]);
    expect(counts).toMatchObject({ same: 3, problems: { different: 2, no_cause: 0 } });
  });

  it('compares questions to partners, and messages made of their answers', async () => {
    await shop.append([asking(1, ['ann']), asking(2, ['bob']), asking(3, ['cem'])]);
    await shop.evaluate((output) => {
      if (output.kind !== 'trigger' || output.trigger.eventId !== 'evt_1') return [output];
      return [{ kind: 'trigger', trigger: { ...output.trigger, userIds: ['eve'] } }];
    });
    const triggers = await shop.triggers();
    for (const trigger of triggers.filter(({ eventId }) => eventId !== 'evt_1')) {
      await shop.answer(trigger, trigger.userIds);
    }
    await shop.resolve(ofIntents((intent) => (intent.eventId === 'evt_2' ? [] : [intent])));
    expect(await found()).toEqual(['different trigger user_ids evt_1', 'missing intent evt_2']);
  });

  it('holds no names, addresses or texts in its findings', async () => {
    await shop.append(orders(2));
    await shop.evaluate(ofIntents((intent) => [{ ...intent, to: 'eve@example.com', id: 'int_eve' as IntentId }]));
    expect(JSON.stringify((await verify()).findings)).not.toMatch(/eve@|Ada|ada1/);
  });
});

describe('A verification does not call wrong', () => {
  it('outputs of sending jobs and of test sends', async () => {
    await shop.append(orders(1));
    const sentBy = { person: 'ada', job: 'job_1' as JobId, run: 'run_1' as RunId };
    await shop.evaluate(
      ofIntents((intent) => [
        intent,
        { ...intent, id: 'int_sent' as IntentId, sentBy },
        { ...intent, id: 'int_test' as IntentId, test: { by: 'ada' } },
      ]),
    );
    const { counts, findings } = await verify();
    expect(findings).toEqual([]);
    expect(counts).toMatchObject({ same: 1, notFromEvents: 2 });
  });

  it('events that the engine has not evaluated, although some of their outputs are there', async () => {
    await shop.append(orders(2));
    await shop.evaluate();
    await shop.append([paid(3), paid(4)]);
    const run = await verificationOf(shop.data);
    // The engine appends outputs before it saves its position.
    await shop.evaluate();
    const { counts, findings } = await verifyFolder(shop.dataDir, run, KEY);
    expect(findings).toEqual([]);
    expect(counts).toMatchObject({ same: 2, notEvaluated: 2 });
  });

  it('answers that the engine has not resolved, or that are not the first of their trigger', async () => {
    await shop.append([asking(1, ['ann']), asking(2, ['bob'])]);
    await shop.evaluate();
    const [first, second] = await shop.triggers();
    if (!first || !second) throw new Error('nobody was asked');
    await shop.answer(first, first.userIds);
    await shop.resolve();
    await shop.answer(first, ['eve']);
    await shop.resolve();
    await shop.answer(second, second.userIds);
    const { counts, findings } = await verify();
    expect(findings).toEqual([]);
    expect(counts).toMatchObject({ same: 3 });
  });

  it('an answer that was redriven and gives its messages more time', async () => {
    await shop.append([asking(1, ['ann'])]);
    await shop.evaluate();
    const [trigger] = await shop.triggers();
    if (!trigger) throw new Error('nobody was asked');
    await shop.answer(trigger, trigger.userIds);
    await shop.resolve();
    await shop.answer(trigger, trigger.userIds, { [REDRIVEN_FROM_HEADER]: 'carillon.lookups/0@0' });
    await shop.resolve();
    expect(await found()).toEqual([]);
  });

  it('an event that became a dead letter and was redriven', async () => {
    const broken = { ...paid(1), value: new TextEncoder().encode('{') };
    await shop.append([broken]);
    await shop.evaluate();
    await shop.append([paid(1)]);
    await shop.evaluate();
    const { counts, findings } = await verify();
    expect(findings).toEqual([]);
    expect(counts).toMatchObject({ same: 1, unreadable: 1 });
  });

  it('an event that a release before could not read, and this one can', async () => {
    await shop.append([paid(1)]);
    await shop.evaluate((output) => (output.kind === 'intent' ? [] : [output]));
    const [record] = (await shop.data.log.read('carillon.events', 1, 0, 10)).filter(({ key }) => key === 'k1');
    if (!record) throw new Error('no event');
    const { topic, partition, offset, key, headers, value } = record;
    const letter = { id: 'dl_1', stage: 'evaluate', workspace: 'shop', topic, partition, offset, key, headers, value };
    const whole = { ...letter, reason: 'invalid_json', detail: 'not readable', at: 0 } as never;
    await shop.append([deadLetterRecord(whole, { codecs: shop.codecs, log: shop.data.log })]);
    const { counts, findings } = await verify();
    expect(findings).toEqual([]);
    expect(counts).toMatchObject({ same: 0, unreadable: 1 });
  });

  it('events whose marker has other evaluation semantics, or that precede the first marker', async () => {
    await shop.append([paid(1), markerRecord(0, 0, 1, shop.data.log.logId), paid(2)]);
    await shop.evaluate(ofIntents(() => []));
    const run = await verificationOf(shop.data);
    const { counts, findings } = await verifyFolder(shop.dataDir, run, KEY);
    expect(findings.map(textOf)).toEqual(['missing intent evt_1']);
    expect(counts).toMatchObject({ otherSemantics: 1 });
  });

  it('outputs that retention has removed', async () => {
    await shop.append(orders(3));
    await shop.evaluate();
    await cutAll('carillon.intents');
    const { counts, findings } = await verify();
    expect(findings.map(textOf)).toEqual([]);
    expect(counts).toMatchObject({ events: 3, same: 0, pastRetention: 3 });
  });

  it('only outputs of the partitions from which retention has removed records', async () => {
    await shop.append(orders(12));
    const dropped: Intent[] = [];
    await shop.evaluate(
      ofIntents((intent) => {
        if (Number(intent.eventId.slice(4)) % 2 === 0) return [intent];
        dropped.push(intent);
        return [];
      }),
    );
    const { log } = shop.data;
    const partitionOf = (intent: Intent) => placeOfIntent(intent, { ids: createIds(KEY), log }).partition;
    const cut = partitionOf(dropped[0] as Intent);
    await log.cut('carillon.intents', cut, (await log.bounds('carillon.intents', cut)).end);
    const missing = dropped.filter((intent) => partitionOf(intent) !== cut);
    expect(missing.length).toBeGreaterThan(0);
    expect(await found()).toEqual(missing.map(({ eventId }) => `missing intent ${eventId}`).toSorted());
  });

  it('outputs whose events retention removes while it reads', async () => {
    await shop.append(orders(3));
    await shop.evaluate();
    const run = await verificationOf(shop.data);
    await cutAll('carillon.events');
    const { counts, findings } = await verifyFolder(shop.dataDir, run, KEY);
    expect(findings.map(textOf)).toEqual([]);
    const read = run.offsets.reduce((sum, { first, end }) => sum + end - first, 0);
    expect(counts).toMatchObject({ events: 0, same: 0, pastRetention: read + 3 });
  });

  it('events of rules that keep state and are disabled', async () => {
    await shop.publish([notification('order-paid', { ...shopWith('true'), enabled: false })]);
    await shop.append(orders(1));
    await shop.evaluate();
    const { counts, findings } = await verify({ book: countingRules(givenRuleBook()) });
    expect(findings).toEqual([]);
    expect(counts).toMatchObject({ events: 1, same: 0 });
  });

  it('messages made of answers about an event whose marker has other evaluation semantics', async () => {
    await shop.append([markerRecord(0, 0, 1, shop.data.log.logId), asking(2, ['bob'])]);
    await shop.evaluate();
    for (const trigger of await shop.triggers()) await shop.answer(trigger, trigger.userIds);
    await shop.resolve();
    const { counts, findings } = await verify();
    expect(findings.map(textOf)).toEqual([]);
    expect(counts).toMatchObject({ otherSemantics: 1, same: 0 });
  });

  it('messages made of answers about an event that precedes the first marker', async () => {
    await shop.append([asking(2, ['bob'])]);
    await shop.evaluate();
    for (const trigger of await shop.triggers()) await shop.answer(trigger, trigger.userIds);
    await shop.resolve();
    const { end } = await shop.data.log.bounds('carillon.events', 0);
    const run = await verificationOf(shop.data);
    const { counts, findings } = await verifyFolder(
      shop.dataDir,
      { ...run, offsets: [{ partition: 0, first: end - 1, end }] },
      KEY,
      { eventsStart: end - 1 },
    );
    expect(findings.map(textOf)).toEqual([]);
    expect(counts).toMatchObject({ unknownConfiguration: 1, same: 0 });
  });
});

describe('A verification that begins behind large events', () => {
  it('finds the newest marker before its first event', async () => {
    const large = 'x'.repeat(900_000);
    await shop.append(Array.from({ length: 7 }, (_, index) => orderEvent(2 * index, { status: 'paid', large })));
    await shop.publish([notification('order-paid', shopWith('true'))]);
    await shop.append([orderEvent(100, { status: 'new' })]);
    // One read stops at 4 MiB.
    for (let reads = 0; reads < 4; reads += 1) await shop.evaluate();
    const { end } = await shop.data.log.bounds('carillon.events', 0);
    const run = await verificationOf(shop.data);
    const { counts, findings } = await verifyFolder(
      shop.dataDir,
      { ...run, offsets: [{ partition: 0, first: end - 1, end }] },
      KEY,
    );
    expect(findings.map(textOf)).toEqual([]);
    expect(counts).toMatchObject({ events: 1, same: 1 });
  });
});

describe('A verification that is interrupted', () => {
  it('continues from its checkpoint with the same result', async () => {
    await shop.append([...orders(12), asking(13, ['ann']), asking(14, ['bob'])]);
    await shop.evaluate(ofIntents((intent) => (intent.eventId === 'evt_3' ? [] : [intent])));
    for (const trigger of await shop.triggers()) await shop.answer(trigger, trigger.userIds);
    await shop.resolve(ofIntents((intent) => [{ ...intent, notAfter: intent.notAfter + 1 }]));
    const whole = await verify();
    const folder = await mkdtemp(join(tmpdir(), 'carillon-verify-'));
    const run = await verificationOf(shop.data);
    let kills = 0;
    for (let last = false; !last;) {
      let commits = 0;
      const killed = verifyFolder(shop.dataDir, run, KEY, {
        pageRecords: 3,
        folder,
        scratch: (file) => ({
          ...file,
          commit(page) {
            file.commit(page);
            commits += 1;
            if (commits === 2) throw new Error('killed');
          },
        }),
      });
      const result = await killed.catch(() => null);
      if (result === null) kills += 1;
      else {
        last = true;
        expect(result).toEqual(whole);
      }
    }
    expect(kills).toBeGreaterThan(5);
    expect(whole.findings).toHaveLength(3);
    await rm(folder, { recursive: true, force: true });
  });

  it('runs in a child process and sends its findings', async () => {
    await shop.append(orders(4));
    await shop.evaluate(ofIntents((intent) => (intent.eventId === 'evt_3' ? [] : [intent])));
    const child = createRunChild({
      source: { kind: 'embedded', dataDir: shop.dataDir },
      folder: join(shop.dataDir, 'runs'),
      ledgerKey: KEY,
      trouble: (where, error) => {
        throw new Error(where, { cause: error });
      },
      watch: {
        ended: () => undefined,
        begin: () => ({ read: () => undefined, childEnded: () => undefined, end: () => undefined }),
      },
    });
    const run = await verificationOf(shop.data);
    expect(isRunOf(run, 'verify')).toBe(true);
    const findings: Finding[] = [];
    const result = await child.execute<'verify'>(
      run,
      null,
      {
        begin: async () => undefined,
        progress: async () => undefined,
        findings: async (batch) => void findings.push(...batch),
      },
      new AbortController().signal,
    );
    expect({ ...result, findings }).toEqual(await verify());
    expect(findings.map(textOf)).toEqual(['missing intent evt_3']);
  });
});
