import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Configuration } from '@carillon/domain/configuration';
import { readEvent, type SourceEvent } from '@carillon/domain/events';
import { MAX_RECIPIENTS } from '@carillon/domain/rules';
import { ROW_DIFFERENCES, SLOT_STATES, type Line } from '@carillon/domain/runs';
import { runToCompletion } from '@carillon/kernel';
import {
  configurationOf,
  givenEvent,
  givenIds,
  MORNING,
  notification,
  ORDERS,
  stream,
  template,
} from '@carillon/testing/given';
import {
  countPeople,
  createRowCounter,
  evaluateOutcomesCoroutine,
  joinSlots,
  streamOfRecord,
  type ComparedSlot,
} from '../../src/index.ts';
import {
  answerFor,
  book,
  compareOne,
  countDifferences,
  inOrder,
  linesOfAll,
  OPTIONS,
  shopOf,
  slotsOf,
  textOf,
  type Options,
} from './comparison-fixture.ts';

const ANN = { id: 'ann', name: 'Ann', email: 'ann@example.com' };
const BOB = { id: 'bob', name: 'Bob', email: 'bob@example.com' };
const event = (amount: number, more: object = {}, id = 'evt_1'): SourceEvent =>
  givenEvent({ amount, order: `order of ${id}`, people: [ANN], watchers: ['ann', 'bob'], ...more }, id);
const edited = (change: Partial<Options>, options: Options = OPTIONS) => ({
  before: shopOf(options),
  after: shopOf({ ...options, ...change }),
});
const compare = (events: readonly SourceEvent[], change: Partial<Options>) =>
  slotsOf(linesOfAll(events, edited(change)))
    .map(textOf)
    .toSorted();

describe('a difference between the messages of two configurations', () => {
  it('is added or removed if an edited condition lets more or fewer events through', () => {
    const events = [event(90), event(120, {}, 'evt_2')];
    expect(compare(events, { threshold: 80 })).toEqual(['added order.paid evt_1', 'unchanged order.paid evt_2']);
    expect(compare(events, { threshold: 200 })).toEqual(['removed order.paid evt_2']);
  });

  it('is removed for a recipient whom an edited `where` excludes', () => {
    expect(compare([event(120, { people: [BOB] })], { where: 'item.id != "bob"' })).toEqual([
      'removed order.paid evt_1',
    ]);
  });

  it('is changed if a variable or a text of the template differs', () => {
    expect(compare([event(120)], { name: 'item.id' })).toEqual(['changed order.paid evt_1']);
    expect(compare([event(120)], { text: 'Dear {{name}}' })).toEqual(['changed order.paid evt_1']);
  });

  it('is new_unique_id with the old unique_id if only unique_id differs', () => {
    const lines = linesOfAll([event(120)], edited({ uniqueId: 'event_id' }));
    const [slot, ...others] = slotsOf(lines);
    expect(others).toEqual([]);
    expect(slot).toMatchObject({
      difference: 'new_unique_id',
      oldSlot: lines.find(({ side }) => side === 'before')?.slot,
    });
  });

  it('is added for one more item of a list, while the other items keep their messages', () => {
    const people = { people: [ANN, { ...ANN, id: 'ann', name: 'Anna', email: 'anna@example.com' }] };
    const change = edited({ where: 'true' }, { ...OPTIONS, where: 'variables.name == "Ann"', uniqueId: 'event_id' });
    expect(
      slotsOf(linesOfAll([event(120, people)], change))
        .map(textOf)
        .toSorted(),
    ).toEqual(['added order.paid evt_1', 'unchanged order.paid evt_1']);
  });

  it('names the first event by append time if several events make the same message', () => {
    const later = { ...event(90, { order: 'o' }, 'evt_1'), appendedAt: MORNING + 1 };
    const earlier = event(90, { order: 'o' }, 'evt_2');
    expect(compare([later, earlier], { threshold: 80 })).toEqual(['added order.paid evt_2']);
  });

  it('is found if a million events make the same message', () => {
    const [line] = compareOne(event(90, {}, 'evt_1'), edited({ threshold: 80 })).lines;
    if (!line) throw new Error('there is a line');
    const slots = [...joinSlots(repeat(line, 1_000_000), () => 'order.paid')];
    expect(slots).toMatchObject([{ difference: 'added', at: line.at - 999_999 }]);
  });

  /** Lines of one slot, of which each is older than the one before. Not held in memory at once. */
  function* repeat(line: Line, count: number): Generator<Line> {
    for (let index = 0; index < count; index += 1) yield { ...line, at: line.at - index };
  }
});

describe('an event that is compared under two configurations', () => {
  it('has lines without a name or an address of a person', () => {
    const text = JSON.stringify(compareOne(event(120, { people: [ANN, BOB] }), edited({ threshold: 80 })).lines);
    for (const personal of ['Ann', 'ann@', '"ann"', 'Bob', 'bob@', '"bob"', 'Hello']) {
      expect(text).not.toContain(personal);
    }
  });

  it('counts messages without an address, without a line for them', () => {
    const { lines, noAddress } = compareOne(
      event(90, { people: [{ ...ANN, email: 'nowhere' }] }),
      edited({ threshold: 80 }),
    );
    expect([lines, noAddress]).toEqual([[], { before: 0, after: 1 }]);
  });

  it('counts failed rules and recipients, separately for the published and the edited configuration', () => {
    const failing = compareOne(event(120), edited({ where: 'item.missing == 1' }));
    expect(failing.ruleErrors).toEqual({ before: 0, after: 1 });
    const { amount: _amount, ...without } = event(120).body;
    const broken = compareOne({ ...event(120), body: without }, edited({ threshold: 80 }));
    expect(broken.ruleErrors).toEqual({ before: 1, after: 1 });
  });

  it(`has at most ${MAX_RECIPIENTS} lines if there are 10,000 recipients on each side, and the rest are counted`, () => {
    const addresses = Array.from({ length: 10_000 }, (_, index) => `p${index}@example.com`);
    const large = givenEvent({ amount: 90, addresses }, 'evt_1');
    // Such an event is received.
    expect(readEvent(new TextEncoder().encode(JSON.stringify(large.body)))).toMatchObject({ ok: true });
    const toEach = (threshold: number, name: string) =>
      configurationOf([
        stream('orders', ORDERS),
        template('order', { email: { subject: 'Order', text: 'Hello {{name}}' } }),
        notification('order', {
          channels: { email: { template: 'order' } },
          rules: {
            paid: {
              stream: 'orders',
              when: `event.amount >= ${threshold}`,
              recipients: {
                from: 'event',
                for_each: 'event.addresses',
                to: { email: 'item' },
                variables: { name },
                unique_id: 'item',
              },
            },
          },
        }),
      ]);
    const differences = (before: Configuration, after: Configuration) => {
      const { lines, ruleErrors } = compareOne(large, { before, after });
      return { ...countDifferences(slotsOf(lines)), ruleErrors };
    };
    const none = { ...countDifferences([]), ruleErrors: { before: 0, after: 0 } };
    const [rare, often, other] = [toEach(100, 'item'), toEach(80, 'item'), toEach(80, '"you"')];
    expect(differences(rare, often)).toEqual({ ...none, added: MAX_RECIPIENTS });
    expect(differences(often, rare)).toEqual({ ...none, removed: MAX_RECIPIENTS });
    expect(differences(often, other)).toEqual({ ...none, changed: MAX_RECIPIENTS });
    for (const configuration of [often, other]) {
      const rules = book.rulesOf(configuration, large.stream);
      const [evaluated] = runToCompletion(evaluateOutcomesCoroutine(large, rules, givenIds.derive));
      expect(evaluated?.outcome).toMatchObject({
        dropped: [{ reason: 'too_many_recipients', count: 10_000 - MAX_RECIPIENTS }],
      });
    }
  });

  it('counts a rule whose expressions take too many steps as an error of that configuration', () => {
    const people = Array.from({ length: 120 }, (_, id) => ({ ...ANN, id: `ann${id}` }));
    const everyTriple = 'event.people.all(a, event.people.all(b, event.people.all(c, true)))';
    const costly = compareOne(event(120, { people }), edited({ where: everyTriple }));
    expect(costly.ruleErrors).toEqual({ before: 0, after: 1 });
  });
});

describe('a comparison of a rule that asks a partner for recipients', () => {
  const asking: Options = { ...OPTIONS, asks: true, threshold: 100 };
  const asked = event(120, { people: [] });
  const compareAnswers = (answers: Parameters<typeof compareOne>[2], change: Partial<Options> = {}) => {
    const { lines, needsLookup } = compareOne(asked, edited(change, asking), answers);
    return { texts: slotsOf(lines).map(textOf).toSorted(), needsLookup };
  };

  it('uses the partner’s recorded answer, also if it was asked for a sending job', () => {
    const answer = answerFor(asked, { triggerId: 'trg_of_a_job' as never });
    expect(compareAnswers([answer], { where: 'variables.name != "Bob"' })).toEqual({
      texts: ['removed order.asked evt_1', 'unchanged order.asked evt_1'],
      needsLookup: false,
    });
  });

  it('needs a new lookup if no answer is recorded, and has no lines then', () => {
    expect(compareAnswers([])).toEqual({ texts: [], needsLookup: true });
  });

  it('names the rule and the number of user ids if the edited rule has to ask', () => {
    const ids = (change: Partial<Options>, before: Options) =>
      compareOne(asked, edited(change, before)).lookups.map(({ userIds }) => userIds);
    expect(ids({ userIds: 'event.watchers' }, asking)).toEqual([2]);
    expect(compareOne(asked, edited({}, asking), [answerFor(asked)]).lookups).toEqual([]);
    // The edited rule does not fire, so sending has nobody to ask about.
    expect(ids({ threshold: 1_000 }, asking)).toEqual([]);
  });

  it('needs a new lookup if another integration gave the recorded answer', () => {
    expect(compareAnswers([answerFor(asked, { integration: 'erp' })])).toEqual({ texts: [], needsLookup: true });
  });

  it('needs a new lookup if the partner was not asked about one of the ids', () => {
    expect(compareAnswers([answerFor(asked, { userIds: ['ann'] })])).toEqual({ texts: [], needsLookup: true });
    // Nobody can say whom the edited rule notifies, so the messages of the published rule do not count as removed.
    const more = { userIds: 'event.watchers + ["dee"]' } as const;
    expect(compareAnswers([answerFor(asked)], more)).toEqual({ texts: [], needsLookup: true });
  });

  it('needs a new lookup if only the published rule has no fitting answer', () => {
    const more: Options = { ...asking, userIds: 'event.watchers + ["dee"]' };
    const { lines, needsLookup } = compareOne(asked, edited({ userIds: 'event.watchers' }, more), [answerFor(asked)]);
    expect({ lines, needsLookup }).toEqual({ lines: [], needsLookup: true });
  });

  it('has no lines of the edited rule if its recipients now come from the event and no recorded answer fits', () => {
    const now = event(120);
    const { lines, needsLookup } = compareOne(now, edited({ askedFrom: 'event' }, asking));
    expect(slotsOf(lines).map(textOf)).toEqual(['unchanged order.paid evt_1']);
    expect(needsLookup).toBe(true);
  });

  it('leaves out answers about user ids that the edited rule no longer asks about', () => {
    const wider = answerFor(event(120, { watchers: ['ann', 'bob', 'cem'] }));
    expect(compareAnswers([wider]).texts).toHaveLength(2);
    const nameless = { ...wider, items: wider.items.map((item) => ({ ...item, userId: null })) };
    expect(compareAnswers([nameless]).needsLookup).toBe(true);
  });

  it('uses the first answer on the log, in whatever order the partitions are read', () => {
    const first = answerFor(asked);
    const later = answerFor(asked, { at: first.at + 1, items: [], triggerId: 'trg_0' as never });
    expect(compareAnswers([later, first]).texts).toHaveLength(2);
    expect(compareAnswers([first, later]).texts).toHaveLength(2);
  });
});

describe('the counts of a comparison', () => {
  const slot = (more: Partial<ComparedSlot>) => {
    const [first] = slotsOf(linesOfAll([event(90)], edited({ threshold: 80 })));
    if (!first) throw new Error('there is a slot');
    return { ...first, difference: 'added' as const, ...more } as ComparedSlot & { readonly difference: 'added' };
  };

  it('count a person once per kind of difference, and as notified only if all messages of the person were', () => {
    const rows = [
      { difference: 'added', person: 'ann', isNotified: true },
      { difference: 'added', person: 'ann', isNotified: false },
      { difference: 'added', person: 'ann', isNotified: true },
      { difference: 'added', person: 'bob', isNotified: true },
      { difference: 'removed', person: 'bob', isNotified: true },
    ] as const;
    expect(countPeople(rows)).toEqual({
      people: { added: 2, removed: 1, changed: 0, new_unique_id: 0 },
      notifiedPeople: { added: 1, removed: 1, changed: 0, new_unique_id: 0 },
    });
  });

  it('count rows by what became of the message, and unchanged messages', () => {
    const counter = createRowCounter();
    for (const state of ['notified', 'notified', 'none'] as const) counter.addRow(slot({}), state);
    counter.addUnchanged('order.paid', 4_000_000);
    const counts = counter.counts();
    expect(counts.slotStates.added).toEqual({ notified: 2, waiting: 0, stopped: 0, none: 1 });
    expect(counts.differences.unchanged).toBe(4_000_000);
  });

  it('equal those of plain loops over the rows', () => {
    const anyRow = fc.record({
      difference: fc.constantFrom(...ROW_DIFFERENCES),
      person: fc.constantFrom('ann', 'bob', 'cem'),
      state: fc.constantFrom(...SLOT_STATES),
    });
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 12 }), (rows) => {
        const counter = createRowCounter();
        for (const { state, ...row } of rows) counter.addRow({ ...slot({}), ...row }, state);
        const ordered = inOrder(rows.map((row) => ({ ...row, isNotified: row.state === 'notified' })));
        const counts = { ...counter.counts(), ...countPeople(ordered) };
        for (const difference of ROW_DIFFERENCES) {
          const own = rows.filter((row) => row.difference === difference);
          const people = [...new Set(own.map(({ person }) => person))];
          const isNotified = (person: string) => own.every((row) => row.person !== person || row.state === 'notified');
          expect(counts.differences[difference]).toBe(own.length);
          expect(counts.people[difference]).toBe(people.length);
          expect(counts.notifiedPeople[difference]).toBe(people.filter(isNotified).length);
          for (const state of SLOT_STATES) {
            expect(counts.slotStates[difference][state]).toBe(own.filter((row) => row.state === state).length);
          }
        }
      }),
    );
  });

  it('are listed by rule and by day of the event, in order', () => {
    const counter = createRowCounter();
    counter.addRow(slot({ rule: 'order.b', day: '2026-02-02' }), 'none');
    counter.addRow(slot({ rule: 'order.a', day: '2026-02-01' }), 'none');
    counter.addUnchanged('order.b', 1);
    const { byDay, byRule } = counter.counts();
    expect(byRule.map(({ rule, added, unchanged }) => [rule, added, unchanged])).toEqual([
      ['order.a', 1, 0],
      ['order.b', 1, 1],
    ]);
    expect(byDay.map(({ day, added }) => [day, added])).toEqual([
      ['2026-02-01', 1],
      ['2026-02-02', 1],
    ]);
  });

  it('are zero for a history without events', () => {
    expect(countDifferences([])).toEqual({ added: 0, removed: 0, changed: 0, new_unique_id: 0, unchanged: 0 });
  });
});

describe('the stream that a log record belongs to', () => {
  it('is read from the headers, and is null for markers, ticks and records of others', () => {
    expect(streamOfRecord({ headers: { kind: 'event', stream: 'shop/orders' } })).toBe('shop/orders');
    expect(streamOfRecord({ headers: { kind: 'event' } })).toBeNull();
    expect(streamOfRecord({ headers: { kind: 'marker', stream: 'shop/orders' } })).toBeNull();
    expect(streamOfRecord({ headers: {} })).toBeNull();
  });
});
