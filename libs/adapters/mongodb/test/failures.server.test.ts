import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { CarillonError } from '@carillon/kernel';
import {
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  type WriteError,
} from 'mongodb';
import { describe, expect, it } from 'vitest';
import { createAttempts } from '../src/attempts.ts';
import { RetryFromStart, duplicatesIn, failureOf, isDuplicate, isTransient } from '../src/failures.ts';

const DEADLOCK = 16_908_292;
const server = (code: number, errmsg = ''): MongoServerError => new MongoServerError({ code, errmsg });

type BulkResult = ConstructorParameters<typeof MongoBulkWriteError>[1];
/** As the driver makes it from the answer of a server. */
function bulk(codes: readonly number[], majorityFailed = false): MongoBulkWriteError {
  const writeErrors = codes.map((code, at) => ({ code, index: at * 2, errmsg: 'words' }) as WriteError);
  const result = { getWriteConcernError: () => (majorityFailed ? { code: 64 } : undefined) } as unknown as BulkResult;
  return new MongoBulkWriteError({ message: 'words', code: codes[0] ?? 0, writeErrors }, result);
}
/** As the driver makes it from a connection that broke within a bulk: the same class, and no list. */
const brokenBulk = (cause: Error = new MongoNetworkError('connection closed')): MongoBulkWriteError =>
  new MongoBulkWriteError(cause, {
    getWriteConcernError: () => undefined,
  } as unknown as BulkResult);

/** As Node makes it, and the driver passes it on, where the connection breaks under a write. */
const brokenWrite = (): Error =>
  Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET', errno: -104, syscall: 'write' });

/** What Node itself says of a write to a connection that the other side has ended. */
async function writeAfterEnd(): Promise<unknown> {
  const host = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await once(host, 'listening');
  const socket = connect((host.address() as AddressInfo).port, '127.0.0.1').resume();
  const failed = once(socket, 'error');
  socket.once('finish', () => socket.write('too late'));
  const said: readonly unknown[] = await failed;
  host.close();
  return said[0];
}

describe('a duplicate', () => {
  it('is known by its code and by nothing that is said beside it', () => {
    expect(isDuplicate(server(11_000, 'whatever'))).toBe(true);
    expect(isDuplicate(server(1, 'E11000 duplicate key error collection'))).toBe(false);
    expect(isDuplicate(new Error('E11000 duplicate key error'))).toBe(false);
  });

  it('is named by its place in a bulk', () => {
    expect([...duplicatesIn(bulk([11_000, 11_000]))]).toEqual([0, 2]);
  });

  it('is never read out of a bulk in which anything else went wrong', () => {
    const lists = [bulk([11_000, DEADLOCK]), bulk([DEADLOCK]), bulk([11_000], true), brokenBulk(), server(11_000)];
    for (const error of lists) expect(() => duplicatesIn(error)).toThrow(error);
  });
});

describe('a connection that breaks under a write', () => {
  it('leaves this adapter as store_unavailable, like every other', () => {
    const failure = failureOf(brokenWrite());
    expect(failure).toBeInstanceOf(CarillonError);
    expect(failure).toMatchObject({ code: 'store_unavailable' });
    expect(String(failure)).toContain('ECONNRESET');
  });

  it('is the same where the server had ended it before, which Node says without a call of the system', async () => {
    const error = await writeAfterEnd();
    expect(error).not.toHaveProperty('syscall');
    expect(isTransient(error)).toBe(true);
    expect(failureOf(error)).toMatchObject({ code: 'store_unavailable' });
  });
});

describe('what may pass', () => {
  it('is tried again: deadlocks, elections, lost connections, majorities that took too long', () => {
    const passing = [
      server(DEADLOCK),
      server(1),
      server(189),
      server(64),
      new MongoNetworkError('x'),
      new RetryFromStart('x'),
      bulk([11_000, DEADLOCK]),
      bulk([], true),
      brokenBulk(),
      brokenWrite(),
      brokenBulk(brokenWrite()),
    ];
    for (const error of passing) expect(isTransient(error), String(error)).toBe(true);
  });

  it('does not include what is wrong however often it is tried', () => {
    const lasting = [
      server(13),
      server(18),
      server(2),
      new MongoInvalidArgumentError('x'),
      new TypeError('x'),
      bulk([2]),
    ];
    for (const error of lasting) expect(isTransient(error), String(error)).toBe(false);
  });

  it('is tried until it passes', async () => {
    const { attempt } = createAttempts(5000);
    const seen: boolean[] = [];
    const answer = await attempt(async (again) => {
      seen.push(again);
      if (seen.length < 4) throw server(DEADLOCK);
      return 'done';
    });
    expect(answer).toBe('done');
    expect(seen).toEqual([false, true, true, true]);
  });

  it('is given up when patience ends', async () => {
    const { attempt } = createAttempts(50);
    let tries = 0;
    const failing = attempt(async () => {
      tries += 1;
      throw server(1);
    });
    await expect(failing).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(tries).toBeGreaterThan(0);
  });
});

describe('what leaves the adapter', () => {
  it('says the code and never the words of the server, which repeat values', () => {
    const failure = failureOf(server(1, 'dup key: { recipient: "ada@example.com" }'));
    expect(failure).toBeInstanceOf(CarillonError);
    expect(String(failure)).toContain('(1)');
    expect(String(failure)).not.toContain('ada@');
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain('ada@');
    const documents = Object.assign(bulk([DEADLOCK]), { writeErrors: [{ op: { recipient: 'ada@example.com' } }] });
    expect(inspect(failureOf(documents), { depth: 9, showHidden: true })).not.toContain('ada@');
  });

  it('says nothing of a bulk whose connection broke, which carries documents', () => {
    const broken = Object.assign(brokenBulk(brokenWrite()), {
      writeErrors: [{ op: { recipient: 'ada@example.com' } }],
    });
    const failure = failureOf(broken);
    expect(failure).toMatchObject({ code: 'store_unavailable' });
    expect(String(failure)).toContain('ECONNRESET');
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain('ada@');
  });

  it('says that credentials are refused', () => {
    expect(String(failureOf(server(18)))).toContain('credentials');
  });

  it('lets mistakes of our own through as they are', () => {
    const mistake = new RangeError('x');
    expect(failureOf(mistake)).toBe(mistake);
  });
});
