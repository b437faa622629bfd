import { gzipSync } from 'node:zlib';
import { answersEverybody, type PartnerScript } from '@carillon/testing';
import { untilFound } from '@carillon/testing/topology';
import { describe, expect, it } from 'vitest';
import { type TraceStep, traceEvent } from '@carillon/insight';
import { readAsking, projections } from '@carillon/stages';
import { lookupFixture, type Settings } from './lookup-fixture.ts';

/** Who asks for the first time is told the partner's address, whoever asks after that a private one. */
let flips = 0;
const fixture = lookupFixture({ names: { 'flips.internal': () => (flips++ === 0 ? '127.0.0.1' : '10.0.0.5') } });
const MiB = 1024 * 1024;
const SOON = { timeouts: { connect: '3s', total: '3s' } } as const;

const person = (id: string, to: object = { email: `${id}@example.com` }) => ({ to, variables: { user_id: id } });
const status =
  (code: number, headers: Record<string, string> = {}): PartnerScript =>
  (_request, response) =>
    void response.writeHead(code, headers).end('<html>something that must not be quoted</html>');
const bytes =
  (body: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/json' }): PartnerScript =>
  (_request, response) =>
    void response.writeHead(200, headers).end(body);
/** As many bytes as anybody reads, up to 100 MiB. */
const flood: PartnerScript = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  let written = 0;
  const more = (): void => {
    while (written < 100 * MiB && !response.destroyed) {
      written += 65_536;
      if (!response.write(' '.repeat(65_536))) return void response.once('drain', more);
    }
    response.end();
  };
  more();
};
const drip: PartnerScript = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.once('close', () => clearInterval(timer));
};

/** What stands on the log in the end, and what a person is told. */
type Outcome = {
  /** Recipients of the messages made. */
  readonly to?: readonly string[];
  readonly problems?: Readonly<Record<string, number>>;
  /** The dead letter. */
  readonly parked?: string;
  readonly calls: number;
  readonly trace: RegExp;
};

type Case = readonly [what: string, script: PartnerScript, outcome: Outcome, settings?: Settings];

const asIs = { match: undefined } as const;
const inOrder = { match: undefined, in_order: true } as const;
const two = ['a@example.com', 'b@example.com'];

/** Partners that answer, well or badly: what is recorded. Each is asked about a and b. */
const ANSWERS: readonly Case[] = [
  [
    'items in the wrong order',
    () => [person('b'), person('a')],
    { to: two, problems: {}, calls: 1, trace: /answer recorded: 2 people$/ },
  ],
  [
    'a missing item',
    () => [person('a')],
    { to: ['a@example.com'], problems: { missing: 1 }, calls: 1, trace: /1 person, 1 missing/ },
  ],
  [
    'an extra item',
    () => [person('a'), person('b'), person('stranger')],
    { to: two, problems: { extra: 1 }, calls: 1, trace: /2 people, 1 extra/ },
  ],
  [
    'a duplicate item',
    () => [person('a'), person('a', { email: 'other@example.com' }), person('b')],
    { to: two, problems: { duplicate: 1 }, calls: 1, trace: /2 people, 1 duplicate/ },
  ],
  [
    'addresses of the wrong type',
    () => [person('a', { email: 5 }), person('b', { email: ['x'] })],
    { to: [], problems: { invalid: 2 }, calls: 1, trace: /0 people, 2 invalid/ },
  ],
  [
    'an invalid phone number beside a good email address',
    () => [person('a', { email: 'a@example.com', phone: '0151 12345678' }), person('b')],
    { to: two, problems: { invalid_address: 1 }, calls: 1, trace: /2 people, 1 invalid address/ },
  ],
  [
    'items without the id that match names',
    () => [{ to: { email: 'a@example.com' }, variables: {} }, person('b')],
    { to: ['b@example.com'], problems: { invalid: 1, missing: 1 }, calls: 1, trace: /1 invalid, 1 missing/ },
  ],
  [
    'items in order, with null for nobody',
    () => [null, { to: { email: 'b@example.com' } }],
    { to: ['b@example.com'], problems: { missing: 1 }, calls: 1, trace: /1 person, 1 missing/ },
    inOrder,
  ],
  [
    'items in order, and one too few',
    () => [{ to: { email: 'b@example.com' } }],
    { to: ['b@example.com'], problems: { not_in_order: 1 }, calls: 1, trace: /1 not in order/ },
    inOrder,
  ],
  [
    'items that say nothing of ids',
    () => [{ to: { email: 'a@example.com' } }, { to: { email: 'b@example.com' } }],
    { to: two, problems: {}, calls: 1, trace: /2 people$/ },
    asIs,
  ],
  ['nobody', () => [], { to: [], problems: { missing: 2 }, calls: 1, trace: /0 people, 2 missing/ }],
  [
    'an answer that is compressed',
    bytes(gzipSync(JSON.stringify([person('a'), person('b')])), {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    }),
    { to: two, problems: {}, calls: 1, trace: /2 people$/ },
  ],
];

/** Partners whose answers can never be used: two tries, then a dead letter with the evidence. */
const PARKED: readonly Case[] = [
  ['a body of 100 MB', flood, { parked: 'partner_answer_invalid', calls: 2, trace: /larger than 1048576 bytes/ }],
  [
    'a gzip bomb',
    bytes(gzipSync(Buffer.alloc(100 * MiB)), { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
    { parked: 'partner_answer_invalid', calls: 2, trace: /larger than 1048576 bytes/ },
  ],
  ['invalid JSON', bytes('[{"to":'), { parked: 'partner_answer_invalid', calls: 2, trace: /is not valid JSON/ }],
  ['no JSON at all', bytes(''), { parked: 'partner_answer_invalid', calls: 2, trace: /is not valid JSON/ }],
  ['an object', bytes('{"items":[]}'), { parked: 'partner_answer_invalid', calls: 2, trace: /is not an array/ }],
  [
    'JSON nested too deeply',
    bytes('['.repeat(40) + ']'.repeat(40)),
    { parked: 'partner_answer_invalid', calls: 2, trace: /nested deeper than 32/ },
  ],
  [
    'a megabyte of empty lists',
    bytes(`[[]${',[]'.repeat(340_000)}]`),
    { parked: 'partner_answer_invalid', calls: 2, trace: /more than 25000 fields and items of lists/ },
  ],
  [
    'objects with very many fields',
    bytes(`[{"f":1${Array.from({ length: 30_000 }, (_, at) => `,"f${at}":1`).join('')}}]`),
    { parked: 'partner_answer_invalid', calls: 2, trace: /more than 25000 fields and items of lists/ },
  ],
  [
    'a page of HTML',
    bytes('<html>', { 'content-type': 'text/html' }),
    { parked: 'partner_answer_invalid', calls: 2, trace: /says that it is text\/html/ },
  ],
  ['400', status(400), { parked: 'partner_refused', calls: 2, trace: /refused 400, the partner answered 400/ }],
  ['404', status(404), { parked: 'partner_refused', calls: 2, trace: /refused 404/ }],
  [
    'a redirect',
    status(307, { location: 'http://127.0.0.1:1/' }),
    { parked: 'partner_refused', calls: 2, trace: /redirects are not followed/ },
  ],
];

/** Partners that may do better: the trigger waits, with the evidence of each call. */
const WAITING: readonly (readonly [
  string,
  PartnerScript,
  outcome: string,
  trace: RegExp,
  pause?: number,
  Settings?,
])[] = [
  ['silence', () => undefined, 'unavailable', /no whole answer within 3000 ms/, 0, SOON],
  ['one byte at a time', drip, 'unavailable', /no whole answer within 3000 ms/, 0, SOON],
  ['500', status(500), 'unavailable', /unavailable 500/],
  ['502', status(502), 'unavailable', /unavailable 502/],
  ['a connection that breaks', (_request, response) => void response.destroy(), 'unavailable', /connection broke/],
  ['429', status(429), 'throttled', /throttled 429/],
  ['429 with seconds', status(429, { 'retry-after': '120' }), 'throttled', /come again in 120 s/, 120_000],
  [
    '429 with a date',
    (request, response) =>
      status(429, { 'retry-after': new Date(Date.now() + 300_000).toUTCString() })(request, response),
    'throttled',
    /come again in 2\d\d s|come again in 300 s/,
    240_000,
  ],
  ['503 with a day', status(503, { 'retry-after': '86400' }), 'throttled', /throttled 503/, 600_000],
  ['401', status(401), 'unauthorized', /unauthorized 401/],
  ['403', status(403), 'unauthorized', /unauthorized 403/],
];

const casesOf = (cases: readonly Case[]) =>
  cases.map(([what, script, outcome, settings = {}]) => ({ what, script, outcome, settings }));

async function traceOf(id: string): Promise<readonly TraceStep[]> {
  for (const { topic, stage } of projections(fixture.topology().ports)) {
    const records = await fixture.topology().records(topic);
    if (records.length > 0) await stage.handle(records, { partition: 0, configNumber: 0, watermark: 0 });
  }
  return (await traceEvent(id, fixture.topology().tracePorts))?.steps ?? [];
}
const words = (steps: readonly TraceStep[]): string => steps.flatMap(({ text, lines }) => [text, ...lines]).join('\n');

describe('a partner that answers', () => {
  it.each(casesOf(ANSWERS))('$what', async ({ script, outcome: { to, problems, calls, trace }, settings }) => {
    fixture.partner().follow(script);
    await fixture.configure(settings);
    const engine = await fixture.start();
    const id = await fixture.topology().event({ watchers: ['a', 'b'] });
    const [lookup] = await fixture.lookups(1);
    expect(lookup?.problemCounts).toEqual(problems);
    const made = await fixture.intents(to?.length ?? 0);
    expect(made.map((intent) => intent.to).toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))).toEqual(to);
    expect(fixture.partner().calls).toHaveLength(calls);
    await untilFound('it is resolved', () => fixture.topology().data.claims.get(lookup?.trigger.id ?? ''));
    expect(words((await traceOf(id)).filter(({ state }) => state === 'recorded'))).toMatch(
      new RegExp(trace.source, 'm'),
    );
    expect(await fixture.allLetters()).toEqual([]);
    expect(engine.troubles).toEqual([]);
  });
});

describe('a partner whose answers are never usable', () => {
  it.each(casesOf(PARKED))('$what', async ({ script, outcome: { parked, calls, trace } }) => {
    fixture.partner().follow(script);
    await fixture.configure();
    await fixture.start();
    const id = await fixture.topology().event({ watchers: ['a', 'b'] });
    const [letter] = await fixture.letters(1);
    expect(letter).toMatchObject({ stage: 'ask', reason: parked, topic: 'carillon.triggers', workspace: 'shop' });
    expect(fixture.partner().calls).toHaveLength(calls);
    const told = words(await traceOf(id));
    expect(told).toMatch(trace);
    expect(told).toContain(`dead-letters redrive ${letter?.id}`);
    expect(told).not.toContain('must not be quoted');
    expect(await fixture.allLookups()).toEqual([]);
  });
});

describe('a partner whose failure may be temporary', () => {
  it.each(
    WAITING.map(([what, script, outcome, trace, pause = 0, settings = {}]) => ({
      what,
      script,
      outcome,
      trace,
      pause,
      settings,
    })),
  )('$what', async ({ script, outcome, trace, pause, settings }) => {
    fixture.partner().follow(script);
    await fixture.configure(settings);
    const engine = await fixture.start();
    const id = await fixture.topology().event({ watchers: ['a', 'b'] });
    await untilFound('a call is over', () => engine.outcomes[0]);
    expect(engine.outcomes[0]).toBe(outcome);
    const { topology } = fixture;
    const [trigger] = await topology().records('carillon.triggers');
    const decoded = trigger && topology().ports.codecs.trigger.decode(trigger.value);
    const task = await untilFound('it waits in custody', async () => {
      const found = decoded?.ok ? await topology().data.tasks.get(decoded.value.id) : null;
      return found && readAsking(found).calls > 0 && found.leaseUntil === null ? found : undefined;
    });
    // Or it may be asking again by the time it is looked at.
    await fixture.stop(engine);
    expect(readAsking(task)).toMatchObject({ verdict: null, ended: null });
    const last = readAsking(task).evidence.at(-1);
    expect(task.nextAt - ((last?.at ?? 0) + (last?.took ?? 0))).toBeGreaterThanOrEqual(Math.min(pause, 600_000));
    expect(task.nextAt - ((last?.at ?? 0) + (last?.took ?? 0))).toBeLessThanOrEqual(Math.max(600_000, pause));
    const told = words(await traceOf(id));
    expect(told).toMatch(trace);
    expect(told).toMatch(/waits for the partner; next call at/);
    expect([await fixture.allLookups(), await fixture.allLetters()]).toEqual([[], []]);
    if (outcome === 'unauthorized')
      expect(engine.alerts[0]).toMatch(/^shop\/crm suspended: the partner answered 40[13]/);
  });
});

describe('a forbidden address', () => {
  it('is refused without a call, twice, then parked, with a text that reveals nothing about it', async () => {
    await fixture.configure({ url: `http://10.0.0.1:${fixture.partner().port}/recipients` });
    await fixture.start();
    const id = await fixture.topology().event({ watchers: ['a'] });
    const [letter] = await fixture.letters(1);
    expect(letter?.reason).toBe('partner_refused');
    expect(fixture.partner().calls).toEqual([]);
    expect(words(await traceOf(id))).toContain('this address is not one that Carillon may connect to');
  });

  it('whose name resolves to nothing or to a private address is retried, with the same text for both', async () => {
    const told = [];
    for (const host of ['database.internal', 'nobody.internal']) {
      await fixture.configure({ url: `https://${host}/recipients` });
      const engine = await fixture.start();
      const id = await fixture.topology().event({ watchers: [host] });
      // The first call may be for the trigger of the other host, whose turn has come again.
      const call = await untilFound(
        'its call is over',
        async () => words(await traceOf(id)).match(/call to the partner: .*(?= \()/)?.[0],
      );
      await fixture.stop(engine);
      told.push([engine.outcomes[0], call]);
    }
    expect(told[0]).toEqual(['unavailable', expect.stringContaining('no address that Carillon may connect to')]);
    expect(told[1]).toEqual(told[0]);
    expect(await fixture.allLetters()).toEqual([]);
  });

  it('that was allowed at the check but is not at the connection is not connected to, and the next call checks again', async () => {
    fixture.partner().follow((request, response) => {
      // So that the next call needs a connection of its own.
      response.setHeader('connection', 'close');
      return answersEverybody(request, response);
    });
    await fixture.configure({ url: `http://flips.internal:${fixture.partner().port}/recipients` });
    const engine = await fixture.start();
    const first = await fixture.topology().event({ watchers: ['a'] });
    expect((await fixture.intents(1)).map(({ to }) => to)).toEqual(['a@example.com']);
    expect([flips, engine.outcomes]).toEqual([1, ['answered']]);
    const told = words(await traceOf(first));
    expect(told).toMatch(/call to the partner: answered 200, 1 items/);
    expect(told).toMatch(/answer recorded: 1 person$/m);

    const second = await fixture.topology().event({ watchers: ['b'] });
    await untilFound('the second call is over', () => engine.outcomes[1]);
    // On a machine that stands still for a while it may be called once more by now.
    expect(flips).toBeGreaterThanOrEqual(2);
    expect(engine.outcomes.slice(0, 2)).toEqual(['answered', 'unavailable']);
    const waits = await untilFound('it waits', async () => {
      const steps = words(await traceOf(second));
      return steps.includes('waits for the partner') && steps.includes('unavailable') ? steps : undefined;
    });
    expect(waits).toMatch(
      /call to the partner: unavailable, the name of the host leads to no address that Carillon may connect to/,
    );
    expect(waits).toMatch(/next call at/);
    expect(fixture.partner().calls.map(({ userIds }) => userIds)).toEqual([['a']]);
    expect([(await fixture.allLookups()).length, await fixture.allLetters()]).toEqual([1, []]);
  });
});
