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

describe('a duplicate key error of MongoDB', () => {
  it('is recognized by its code, never by its text', () => {
    expect(isDuplicate(server(11_000, 'whatever'))).toBe(true);
    expect(isDuplicate(server(1, 'E11000 duplicate key error collection'))).toBe(false);
    expect(isDuplicate(new Error('E11000 duplicate key error'))).toBe(false);
  });

  it('is reported with its index within a bulk write', () => {
    expect([...duplicatesIn(bulk([11_000, 11_000]))]).toEqual([0, 2]);
  });

  it('is not reported for a bulk write in which anything else failed', () => {
    const lists = [bulk([11_000, DEADLOCK]), bulk([DEADLOCK]), bulk([11_000], true), brokenBulk(), server(11_000)];
    for (const error of lists) expect(() => duplicatesIn(error)).toThrow(error);
  });
});

describe('a MongoDB connection that breaks during a write', () => {
  it('leaves this adapter as store_unavailable, like any other failure', () => {
    const failure = failureOf(brokenWrite());
    expect(failure).toBeInstanceOf(CarillonError);
    expect(failure).toMatchObject({ code: 'store_unavailable' });
    expect(String(failure)).toContain('ECONNRESET');
  });

  it('is handled the same if the server had closed it before, which Node reports without a syscall', async () => {
    const error = await writeAfterEnd();
    expect(error).not.toHaveProperty('syscall');
    expect(isTransient(error)).toBe(true);
    expect(failureOf(error)).toMatchObject({ code: 'store_unavailable' });
  });
});

describe('a transient failure of MongoDB', () => {
  it('includes deadlocks, elections, lost connections and slow majorities', () => {
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

  it('does not include failures that a retry cannot fix', () => {
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

  it('is retried until it succeeds', async () => {
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

  it('is given up after the timeout', async () => {
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

describe('an error that leaves the MongoDB adapter', () => {
  it('contains the code but never the text of the server, which repeats values', () => {
    const failure = failureOf(server(1, 'dup key: { recipient: "ada@example.com" }'));
    expect(failure).toBeInstanceOf(CarillonError);
    expect(String(failure)).toContain('(1)');
    expect(String(failure)).not.toContain('ada@');
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain('ada@');
    const documents = Object.assign(bulk([DEADLOCK]), { writeErrors: [{ op: { recipient: 'ada@example.com' } }] });
    expect(inspect(failureOf(documents), { depth: 9, showHidden: true })).not.toContain('ada@');
  });

  it('contains nothing of a bulk write whose connection broke, because it holds documents', () => {
    const broken = Object.assign(brokenBulk(brokenWrite()), {
      writeErrors: [{ op: { recipient: 'ada@example.com' } }],
    });
    const failure = failureOf(broken);
    expect(failure).toMatchObject({ code: 'store_unavailable' });
    expect(String(failure)).toContain('ECONNRESET');
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain('ada@');
  });

  it('states that the credentials were refused', () => {
    expect(String(failureOf(server(18)))).toContain('credentials');
  });

  it('passes programming errors through unchanged', () => {
    const mistake = new RangeError('x');
    expect(failureOf(mistake)).toBe(mistake);
  });
});
