import { describe, expect, it } from 'vitest';
import { caseYaml, type TestCase } from '../src/screens/rule/timeline/case-yaml.ts';
import {
  cursorOf,
  EMPTY_PLAN,
  letPass,
  testOf,
  withCame,
  withEvent,
  withoutEvent,
  withSample,
  withText,
} from '../src/screens/rule/timeline/plan.ts';
import { sampleEvents } from '../src/screens/rule/timeline/sample-events.ts';
import { decisionsOf, labelOf, rowsOf, summaryOf, waitsOf, type Step } from '../src/screens/rule/timeline/steps.ts';

const HOUR = 3_600_000;
const TEN = Date.parse('2026-11-30T10:00:00Z');
const at = (minutes: number): string => new Date(TEN + minutes * 60_000).toISOString();
const clock = (time: string): string => time.slice(11, 16);
const minimum = { kind: 'minimum', toCome: 0 } as const;

const step = (kind: Step['kind'], minutes: number, more: Partial<Step> = {}): Step => ({
  kind,
  at: at(minutes),
  event: kind === 'event' ? 0 : null,
  event_id: 'evt_1',
  entity: 'A-1',
  fired: false,
  outcome: 'not_fired',
  error: null,
  decisions: [],
  explained: [],
  waits_until: null,
  asks: null,
  answered: null,
  problems: [],
  totals: {},
  recipients: [],
  dropped: [],
  ...more,
});
const recipient = (more: object = {}): Step['recipients'][number] =>
  ({
    to: { email: 'ada@example.com' },
    unique_id: 'A-1',
    person: 'ada@example.com',
    name: 'Ada',
    variables: '{}',
    messages: [{ ok: true, channel: 'email', subject: 'Order A-1: not paid', push: null }],
    already_told: null,
    notified_already: false,
    ...more,
  }) as unknown as Step['recipients'][number];

const waits = step('event', 0, { waits_until: at(60), decisions: [`waits until ${at(60)}`] });
const viewed = step('event', 20, { event: 1, waits_until: at(60) });
const due = step('deadline', 60, { fired: true, outcome: 'fired', recipients: [recipient()] });
const plan = letPass(
  withEvent(
    letPass(withEvent(EMPTY_PLAN, minimum, 'placed', TEN + 5), HOUR / 3, 0),
    { kind: 'pasted', text: '{}' },
    'viewed',
    0,
  ),
  2 * HOUR,
  0,
);

describe('a plan of the test bench', () => {
  it('puts each event at the time that has passed', () => {
    expect(plan.events.map((event) => new Date(event.at).toISOString())).toEqual([at(0), at(20)]);
    expect(cursorOf(plan, 0)).toBe(Date.parse(at(140)));
    expect(cursorOf(EMPTY_PLAN, TEN + 59_999)).toBe(TEN);
  });

  it('ends at the time passed, or at the last deadline without one', () => {
    expect(testOf(plan, ['{"a":1}'])).toEqual({
      events: [
        { at: at(0), event: '{"a":1}' },
        { at: at(20), event: '{}' },
      ],
      until: at(140),
    });
    expect(testOf(withEvent(plan, minimum, 'x', 0), [])).not.toHaveProperty('until');
  });

  it('keeps events that came at their times, in order', () => {
    const mixed = withCame(plan, [{ at: TEN - HOUR, label: 'old', source: { kind: 'log', id: 'evt_9' } }]);
    expect(mixed.events.map(({ label, key }) => `${label} ${key}`)).toEqual(['old 3', 'placed 1', 'viewed 2']);
    expect(testOf(mixed, []).events[0]).toEqual({ at: at(-60), event_id: 'evt_9' });
  });

  it('begins with all events of a sample, each with its own text', () => {
    const sample = sampleEvents({
      event: '{"c":2}',
      change: null,
      earlier: [
        { event: '{"c":0}', times: 1 },
        { event: '{"c":1}', times: 2 },
      ],
    } as never);
    const begun = withSample(EMPTY_PLAN, sample.length, TEN);
    expect(begun.events.map(({ label }) => label)).toEqual(
      [1, 2, 3, 4].map((n) => `Smallest matching event ${n} of 4`),
    );
    const texts = (of: readonly string[]) => testOf(begun, of).events.map((event) => 'event' in event && event.event);
    expect(texts(sample)).toEqual(['{"c":0}', '{"c":1}', '{"c":1}', '{"c":2}']);
    // The sample has become shorter or is not known yet.
    expect(texts(['{"d":1}', '{"d":2}'])).toEqual(['{"d":2}', '{"d":2}', '{"d":1}', '{"d":2}']);
    expect(texts([])).toEqual(['', '', '', '']);
    expect(withSample(EMPTY_PLAN, 1, TEN).events[0]?.label).toBe('Smallest matching event');
  });

  it('sends the sample events of a change stream as changes', () => {
    const change = '{"op":"update","event":{"a":2},"previous":{"a":1}}';
    const given = { event: '{"a":2}', change, earlier: [{ event: '{"a":0}', times: 1 }] };
    expect(sampleEvents(given as never)).toEqual(['{"op":"update","event":{"a":0},"previous":{"a":1}}', change]);
  });

  it('loses an event, and changes the text of one', () => {
    expect(withoutEvent(plan, 1).events.map(({ label }) => label)).toEqual(['viewed']);
    expect(withText(plan, 2, '{"b":2}').events[1]?.source).toEqual({ kind: 'pasted', text: '{"b":2}' });
  });
});

describe('the words for a planned event', () => {
  it.each([
    ['{"type":"viewed","status":"open"}', 'viewed'],
    ['{"op":"update","event":{"status":"paid"}}', 'paid'],
    ['{"event":"login"}', 'login'],
    ['{"total":5}', 'Event'],
    ['null', 'Event'],
    ['{', 'Event'],
  ])('follow the text %s', (text, words) => {
    expect(labelOf({ key: 1, at: TEN, label: 'Event', source: { kind: 'pasted', text } })).toBe(words);
  });

  it('are those of the list of received events', () => {
    expect(labelOf({ key: 1, at: TEN, label: 'A-1 · paid', source: { kind: 'log', id: 'evt_1' } })).toBe('A-1 · paid');
  });
});

describe('rows of the timeline', () => {
  it('are the planned events before the test, and deadlines among them after it', () => {
    expect(rowsOf(plan, null).map(({ kind, step: made }) => [kind, made])).toEqual([
      ['event', null],
      ['event', null],
    ]);
    expect(rowsOf(plan, [waits, viewed, due]).map(({ kind }) => kind)).toEqual(['event', 'event', 'deadline']);
    // An event that repeats an earlier one has no step.
    expect(rowsOf(plan, [waits, due]).map(({ kind, step: made }) => [kind, made !== null])).toEqual([
      ['event', true],
      ['deadline', true],
      ['event', false],
    ]);
  });

  it('draw a wait per entity from its starting event to its end', () => {
    expect(waitsOf(rowsOf(plan, [waits, viewed, due]))).toEqual([{ from: 0, to: 2, until: at(60) }]);
    expect(waitsOf(rowsOf(plan, [waits, step('event', 20, { event: 1 })]))).toEqual([
      { from: 0, to: 1, until: at(60) },
    ]);
    const other = step('event', 20, { event: 1, entity: 'A-2', waits_until: at(80) });
    expect(waitsOf(rowsOf(plan, [waits, other]))).toEqual([
      { from: 0, to: null, until: at(60) },
      { from: 1, to: null, until: at(80) },
    ]);
  });
});

describe('the result of a step', () => {
  it.each([
    [waits, 'Waits until 11:00'],
    [due, 'Ada is notified'],
    [step('event', 1), 'Nothing'],
    [step('event', 1, { decisions: ['wait cancelled: `unless` is true'] }), 'Wait cancelled: “unless” is true'],
    [step('event', 1, { error: 'no such field' }), 'Error: no such field'],
    [step('event', 1, { outcome: 'too_large' }), 'Too large'],
    [{ ...due, recipients: [recipient({ notified_already: true })] }, 'Notified already'],
    [{ ...due, recipients: [] }, 'Nobody is notified'],
    [{ ...due, recipients: [recipient(), recipient()] }, '2 people are notified'],
    [{ ...due, recipients: [], asks: { integration: 'crm', user_ids: ['7'] } }, 'Asks crm about 7'],
  ])('has a short text: %j', (made, words) => {
    expect(summaryOf(made, clock)).toBe(words);
  });

  it('shows times in the time zone of the workspace', () => {
    expect(decisionsOf(waits, clock)).toEqual(['Waits until 11:00']);
  });
});

describe('a case of a test', () => {
  const given: TestCase = {
    rule: 'order-unpaid.not-paid',
    name: 'notifies an hour later',
    events: [
      { at: TEN, text: '{"type":"placed","order_id":"A-1"}' },
      { at: TEN + 20 * 60_000, text: '{"type": "viewed",\n "order_id": "A-1"}' },
    ],
    until: null,
    hasChanges: false,
    steps: [waits, viewed, due],
    answer: '',
  };

  it('has events and messages in the order of time', () => {
    expect(caseYaml(given)).toBe(`rule: order-unpaid.not-paid
cases:
  notifies an hour later:
    - { at: 2026-11-30T10:00:00.000Z, event: {"type":"placed","order_id":"A-1"} }
    - { at: +20m, event: {"type":"viewed","order_id":"A-1"} }
    - { at: +1h, message: { email: "ada@example.com", subject: "Order A-1: not paid" } }
`);
  });

  it('ends at the time passed, if that is after its last event', () => {
    expect(caseYaml({ ...given, until: TEN + 3 * HOUR })).toContain('\n    - { until: +3h }\n');
    expect(caseYaml({ ...given, until: TEN + HOUR })).not.toContain('until');
  });

  it('expects one message per slot, even if an existing delivery holds the slot', () => {
    const held = recipient({ notified_already: true, already_told: 'dlv_1' });
    const twice = { ...due, recipients: [held, recipient({ notified_already: true })] };
    expect(caseYaml({ ...given, steps: [twice] }).match(/message:/g)).toHaveLength(1);
  });

  it('expects no message without address', () => {
    const none = recipient({ to: { email: null } });
    expect(caseYaml({ ...given, steps: [{ ...due, recipients: [none] }] })).not.toContain('message');
  });

  it('expects a message that could not be rendered, by its address', () => {
    const broken = recipient({ messages: [{ ok: false, channel: 'email', subject: null, push: null }] });
    const text = caseYaml({ ...given, steps: [{ ...due, recipients: [broken] }] });
    expect(text).toContain('- { at: +1h, message: { email: "ada@example.com" } }');
  });

  it('writes changes with their rows, and answers of partners', () => {
    const change = { at: TEN, text: '{"op":"update","event":{"a":1},"previous":{"a":0}}' };
    const asks = { ...due, asks: { integration: 'crm', user_ids: ['7'] } };
    const text = caseYaml({
      ...given,
      events: [change],
      hasChanges: true,
      steps: [asks],
      answer: '[{"to":{"email":"x"}}]',
    });
    expect(text).toContain('op: "update", event: {"a":1}, previous: {"a":0} }');
    expect(text).toContain('lookups:\n  crm:\n    "7": {"to":{"email":"x"}}\n');
  });

  it('has a name in quotes where YAML would read something else', () => {
    expect(caseYaml({ ...given, name: 'a: b' })).toContain('  "a: b":\n');
    expect(caseYaml({ ...given, name: 'no' })).toContain('  "no":\n');
  });
});
