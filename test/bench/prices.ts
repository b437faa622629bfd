import { createExpressionLanguage } from '@carillon/adapter-cel';
import { StepBudget, type Bindings } from '@carillon/domain/rules';
import type { Json } from '@carillon/kernel';

/**
 * What a step of an expression takes, operation by operation, at its worst: `node test/bench/prices.ts`. A step is meant to be
 * about ten nanoseconds; what takes more than twice as long is priced too low (libs/adapters/cel/src/runtime/prices.ts).
 */
const NANOSECONDS = 10;

const LENGTH = 20_000;
const NUMBERS = Array.from({ length: LENGTH }, (_, at) => at);
const cycle = (text: string): string => text.repeat(Math.ceil(LENGTH / text.length)).slice(0, LENGTH);
const fields = (): Json => Object.fromEntries(NUMBERS.slice(0, 5_000).map((at) => [`field${at}`, at]));
const event: Json = {
  words: cycle('lorem ipsum dolor '),
  same: `${cycle('lorem ipsum dolor ').slice(1)}x`,
  a: cycle('a'),
  ab: Array.from({ length: LENGTH }, (_, at) => 'ab'[((at * 7919) >> 3) & 1]).join(''),
  x: cycle('x'),
  points: cycle('é😀'),
  mixed: cycle('aéB'),
  blank: cycle(' '),
  digits: cycle('1234567890'),
  list: NUMBERS,
  other: [...NUMBERS],
  texts: NUMBERS.slice(0, 5_000).map((at) => `item ${at}`),
  object: fields(),
  copy: fields(),
  at: '2026-01-02T03:04:05.678Z',
  n: 5,
};
const bindings: Bindings = { event, event_id: 'evt_1', time: Date.UTC(2026, 0, 2, 23, 4, 5, 678) };

const inLoop = (body: string): string => `event.texts.all(x, ${body})`;
const OPERATIONS: readonly string[] = [
  ...[
    '(a+)+$',
    '\\\\d+',
    '(?i)urgent',
    'x*x*x*x*x*x*$',
    '(a|b)*a(a|b){12}$',
    '(?:a?){20}a{20}$',
    '(ab?){50}$',
    'urgent',
  ].flatMap((pattern) => ['a', 'ab', 'x', 'words', 'points'].map((text) => `event.${text}.matches("${pattern}")`)),
  'event.a.contains("aaab")',
  'event.a.contains("aaaaaaaaaaaaaaaab")',
  'event.words.contains(event.same)',
  'event.a.indexOf("aab")',
  'event.a.lastIndexOf("baaaaaaaaaaaaaaa")',
  'event.words.startsWith(event.same)',
  'event.words == event.same',
  'event.words < event.same',
  'event.words.lowerAscii()',
  'event.mixed.lowerAscii()',
  'event.mixed.upperAscii()',
  'event.blank.trim()',
  'event.words.split("")',
  'event.words.split(" ")',
  'event.words.replace("o", "00")',
  'event.words.replace("", "-")',
  'event.points.size()',
  'event.points.substring(3)',
  'event.points.charAt(5)',
  'event.texts.join(",")',
  'double(event.digits)',
  'bytes(event.words).size()',
  'event.list == event.other',
  'event.list + event.other',
  '-1 in event.list',
  'event.object.size()',
  'event.object == event.copy',
  'event.object.exists(key, key == "zz")',
  'event.list.all(x, x >= 0)',
  'event.list.map(x, x + 1)',
  'event.list.filter(x, x > 5)',
  ...[
    'x.size() > 0',
    'x.matches("^item \\\\d+$")',
    'timestamp(event.at) > time',
    'duration("1h30m") > duration("1s")',
    'string(time) != ""',
    'time.getHours() >= 0',
    'time.getHours("Europe/Berlin") >= 0',
    'time.getHours("No/Such") >= 0 || true',
    'int("123") == 123',
    'double("1.5") > 1.0',
    '{"a": x}.size() > 0',
    '[x, x].size() > 0',
    'event.missing == 1 || true',
    'type(x) == string',
    'x.split(" ").size() == 2',
    'x + "abc" != ""',
  ].map(inLoop),
];

const ROUNDS = 4;
const MICROSECONDS = 25_000;

/** Processor time of one call, the least of some rounds: what else runs on the machine does not count. */
function nanosecondsOf(call: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    let calls = 0;
    const begun = process.cpuUsage().user;
    let spent = 0;
    do {
      call();
      calls += 1;
      spent = process.cpuUsage().user - begun;
    } while (spent < MICROSECONDS);
    least = Math.min(least, (spent * 1000) / calls);
  }
  return least;
}

const language = createExpressionLanguage();
const UNBOUNDED = 1e12;
const rows = OPERATIONS.map((source) => {
  const compiled = language.compile(source, 'recipient');
  if (!compiled.ok) throw new Error(`${source}: ${compiled.error[0]?.message}`);
  const budget = new StepBudget(UNBOUNDED);
  compiled.value.evaluate(bindings, budget);
  const steps = UNBOUNDED - budget.left;
  const time = nanosecondsOf(() => compiled.value.evaluate(bindings, new StepBudget(UNBOUNDED)));
  return { source, steps: Math.round(steps), microseconds: Math.round(time / 1000), each: time / steps };
});
for (const { source, steps, microseconds, each } of rows.toSorted((a, b) => b.each - a.each)) {
  const verdict = each > 2 * NANOSECONDS ? '  too low a price' : '';
  const figures = `${each.toFixed(1).padStart(6)} ns a step  ${String(steps).padStart(9)} steps  ${String(microseconds).padStart(7)} µs`;
  process.stdout.write(`${figures}  ${source.slice(0, 80)}${verdict}\n`);
}
