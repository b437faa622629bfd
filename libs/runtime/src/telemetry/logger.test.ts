import { CarillonError } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import type { LogFields } from './log-fields.ts';
import { createLogger, type LoggerOptions } from './logger.ts';

const CANARIES = {
  email: 'anna.schmidt@canary.example',
  phone: '+4917112345678',
  key: `cln_7Qm4k2Zp_${'s'.repeat(32)}_a1b2c3`,
  bearer: 'opaque-canary-token',
  body: 'Dear Anna, your parcel',
};
const ALL = Object.values(CANARIES);
/** Everything that must stay out, in one text as a vendor would write it. */
const LEAK = `550 <${CANARIES.email}> ${CANARIES.phone} ${CANARIES.key} Bearer ${CANARIES.bearer} "${CANARIES.body}"`;

function collect(options: LoggerOptions = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ level: 'debug', pretty: false, destination, ...options });
  const parsed = (): Record<string, unknown>[] => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, lines, parsed };
}
const expectClean = (lines: readonly string[]): void => {
  expect(lines.length).toBeGreaterThan(0);
  for (const canary of ALL) expect(lines.join('')).not.toContain(canary);
};
/** What a careless caller passes: types would not let it. */
const careless = (fields: object): LogFields => fields;

describe.each([false, true])('the log (pretty: %s) contains', (pretty) => {
  it('no field outside the list, no object', () => {
    const { logger, lines } = collect({ pretty });
    logger.warn(
      careless({
        to: CANARIES.email,
        body: CANARIES.body,
        headers: { authorization: `Bearer ${CANARIES.bearer}` },
        [CANARIES.email]: 1,
        detail: { body: CANARIES.body },
        reason: [CANARIES.body],
        toJSON: () => CANARIES.body,
      }),
      'careless',
    );
    expectClean(lines);
  });

  it('no address or secret in a field of the list, in the message, or in the facts of every line', () => {
    const { body: _prose, ...marked } = CANARIES;
    const leak = Object.entries(marked)
      .map(([name, value]) => (name === 'bearer' ? `Bearer ${value}` : value))
      .join(' ');
    const { logger, lines } = collect({ pretty, base: { component: leak } });
    logger.info({ detail: leak, event_id: CANARIES.email, reason: CANARIES.phone, host: CANARIES.key }, `said ${leak}`);
    logger.info({ detail: leak }, '%s %o %j');
    expectClean(lines);
  });

  it('no address, secret or body in errors, however nested', () => {
    const { logger, lines } = collect({ pretty });
    const vendor = Object.assign(new Error(LEAK), {
      response: { data: CANARIES.body, config: { headers: { Authorization: CANARIES.key } } },
      request: LEAK,
      rejected: [CANARIES.email],
      code: 'EENVELOPE',
      responseCode: 550,
    });
    const nested = new CarillonError(
      'internal',
      'sending failed',
      {},
      { cause: new TypeError(`x: ${LEAK}`, { cause: vendor }) },
    );
    const named = Object.assign(new Error('x'), { name: CANARIES.email, code: CANARIES.key });
    logger.error({ error: nested }, 'nested');
    logger.error({ error: new AggregateError([vendor, LEAK, { message: LEAK }], LEAK) }, 'many');
    logger.error({ error: named }, 'named');
    logger.error({ error: LEAK }, 'a text was thrown');
    logger.error({ error: { body: CANARIES.body, to: CANARIES.email } }, 'an object was thrown');
    logger.error({ error: JSON.parse(JSON.stringify({ message: LEAK, stack: LEAK })) as unknown }, 'error-like');
    logger.error({ cause: LEAK, stack: vendor.stack ?? '' }, 'its parts');
    expectClean(lines);
    expect(lines.join('')).toContain('EENVELOPE');
  });

  it('no message inside a stack, even a changed or a multi-line one', () => {
    const { logger, lines } = collect({ pretty });
    const several = new Error(
      `first\n${CANARIES.body}\n    at ${CANARIES.email} (/data/${CANARIES.email}/x.js:1:2)\n${LEAK}`,
    );
    const changed = new Error(LEAK);
    changed.message = 'other';
    logger.error({ error: several }, 'several lines');
    logger.error({ error: changed }, 'changed');
    expectClean(lines);
    expect(lines.join('')).toContain('logger.test.ts');
  });
});

describe('the logger', () => {
  it('writes one JSON line with level, time, fields and message', () => {
    const { logger, parsed, lines } = collect({ base: { role: 'gateway' } });
    logger.warn({ partition: 3, position: 12n, stream: 'shop/orders', limit: undefined }, 'behind');
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(parsed()[0]).toEqual({
      level: 'warning',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      role: 'gateway',
      partition: 3,
      position: '12',
      stream: 'shop/orders',
      msg: 'behind',
    });
  });

  it('logs from its level on, which defaults to warning', () => {
    const { logger, parsed } = collect({ level: undefined });
    for (const say of [logger.debug, logger.info, logger.warn, logger.error]) say({}, 'x');
    expect(parsed().map(({ level }) => level)).toEqual(['warning', 'error']);
    const off = collect({ level: 'off' });
    off.logger.error({}, 'x');
    expect(off.lines).toEqual([]);
  });

  it('counts dropped lines', () => {
    const { logger, parsed } = collect();
    logger.info(careless({ nonsense: 1, detail: {}, stream: 'a/b' }), 'x');
    expect(parsed()[0]).toMatchObject({ dropped: 2, stream: 'a/b' });
  });

  it('logs an error with type, code, message, frames and causes', () => {
    const { logger, parsed } = collect();
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    logger.error({ error: new CarillonError('log_unavailable', 'The log did not answer.', {}, { cause }) }, 'x');
    expect(parsed()[0]?.['error']).toMatchObject({
      type: 'CarillonError',
      code: 'log_unavailable',
      message: 'The log cannot take events now: The log did not answer.',
      stack: expect.arrayContaining([
        expect.stringMatching(/^libs\/runtime\/src\/telemetry\/logger\.test\.ts:\d+:\d+$/),
      ]) as string[],
      cause: { type: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:1' },
    });
  });

  it('never throws for hostile errors, endless causes, or a broken destination', () => {
    const { logger, lines } = collect();
    const hostile = new Proxy(new Error('x'), {
      get() {
        throw new Error('hostile');
      },
    });
    const endless = new Error('endless');
    endless.cause = endless;
    logger.error({ error: hostile }, 'x');
    logger.error({ error: endless }, 'x');
    logger.error(
      careless({
        get detail() {
          throw new Error('getter');
        },
      }),
      'x',
    );
    expect(lines).toHaveLength(3);
    const broken = createLogger({
      pretty: true,
      destination: {
        write() {
          throw new Error('disk full');
        },
      },
    });
    expect(() => broken.error({}, 'x')).not.toThrow();
  });

  it('writes readable lines on a terminal, without control sequences', () => {
    const { logger, lines } = collect({ pretty: true });
    logger.warn(
      { stream: 'shop/orders', detail: 'two words', error: new TypeError('bad \u001b[31m input') },
      'a \u001b[2J line',
    );
    const [line = ''] = lines;
    expect(line).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} WARNING a  \[2J line stream=shop\/orders detail="two words"\n {2}TypeError: bad {2}\[31m input\n {4}at libs\//,
    );
    expect(line).not.toContain('\u001b');
  });
});
