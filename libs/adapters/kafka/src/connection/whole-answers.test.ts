import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { connectAnew, type ReusedConnection } from './whole-answers.ts';

type Request = { readonly request: object; readonly response: object };
type TestedConnection = ReusedConnection & { send(request: Request): Promise<Buffer> };
type ConnectionClass = { readonly prototype: TestedConnection; new (options: object): TestedConnection };

/** Loads kafkajs's class again. Test files share a process, and the Kafka client of another file changes the shared class. */
function unchangedConnectionClass(): ConnectionClass {
  const require = createRequire(import.meta.url);
  const path = require.resolve('kafkajs/src/network/connection.js');
  const shared = require.cache[path];
  delete require.cache[path];
  try {
    return require('kafkajs/src/network/connection.js') as ConnectionClass;
  } finally {
    if (shared) require.cache[path] = shared;
  }
}

const KafkaConnection = unchangedConnectionClass();
const logger = new Kafka({ brokers: ['test:1'], logLevel: logLevel.NOTHING }).logger();
// oxlint-disable-next-line typescript/unbound-method -- always called with a connection
const AS_IT_COMES = KafkaConnection.prototype.connect;
const OURS = connectAnew(AS_IT_COMES);

/** A socket whose other end is the test. */
class TestSocket extends EventEmitter {
  destroyed = false;
  readonly asked: { readonly correlation: number; readonly request: number }[] = [];
  write(bytes: Buffer): void {
    this.asked.push({ correlation: bytes.readInt32BE(8), request: bytes.readInt32BE(bytes.length - 4) });
  }
  destroy(error?: Error): void {
    this.destroyed = true;
    if (error) this.emit('error', error);
  }
  end(): void {}
  unref(): void {}
}

const numbers = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeInt32BE(value, at * 4);
  return bytes;
};
const frame = (correlation: number, payload: Buffer): Buffer =>
  Buffer.concat([numbers(4 + payload.length, correlation), payload]);

function openConnection(connect: ReusedConnection['connect']) {
  const sockets: TestSocket[] = [];
  const connection = new KafkaConnection({
    host: 'test',
    port: 1,
    logger,
    requestTimeout: 60_000,
    connectionTimeout: 60_000,
    socketFactory: ({ onConnect }: { readonly onConnect: () => void }) => {
      const socket = new TestSocket();
      sockets.push(socket);
      queueMicrotask(onConnect);
      return socket;
    },
  });
  connection.connect = connect;
  return {
    async socket(): Promise<TestSocket> {
      await connection.connect();
      const socket = sockets.at(-1);
      if (!socket) throw new Error('no socket was made');
      return socket;
    },
    /** What a request with this number in its body is answered with, or null where it is rejected. */
    ask(request: number): Promise<Buffer | null> {
      const body = numbers(request);
      const encode = async (): Promise<object> => ({ buf: body, buffer: body });
      const read = async (payload: unknown): Promise<unknown> => payload;
      return connection
        .send({
          request: { apiKey: 18, apiName: 'Any', apiVersion: 0, encode },
          response: { decode: read, parse: read },
        })
        .catch(() => null);
    },
  };
}

/** Life of one socket: requests, contents of the responses, how much of them arrives in which pieces, and the end. */
type Life = {
  readonly answers: readonly (readonly number[])[];
  readonly share: number;
  readonly pieces: readonly number[];
  readonly ending: 'end' | 'error';
  /** Whether the rest comes after all, when the next socket is there. */
  readonly restComesLate: boolean;
};
const life: fc.Arbitrary<Life> = fc.record({
  // Small numbers look like lengths and like numbers of requests.
  answers: fc.array(fc.array(fc.integer({ min: 0, max: 24 }), { maxLength: 12 }), { minLength: 1, maxLength: 3 }),
  share: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  pieces: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }),
  ending: fc.constantFrom('end', 'error'),
  restComesLate: fc.boolean(),
});

const law = (connect: ReusedConnection['connect']) =>
  fc.asyncProperty(fc.array(life, { minLength: 2, maxLength: 4 }), async (lives) => {
    const connection = openConnection(connect);
    let requests = 0;
    let late: (() => void) | null = null;
    for (const { answers, share, pieces, ending, restComesLate } of lives) {
      const socket = await connection.socket();
      const asked = answers.map((noise) => {
        requests += 1;
        return { request: requests, payload: numbers(requests, ...noise), answer: connection.ask(requests) };
      });
      await turn();
      late?.();
      const whole = asked.map(({ request, payload }) =>
        frame(socket.asked.find((each) => each.request === request)?.correlation ?? -1, payload),
      );
      const stream = Buffer.concat(whole);
      const came = Math.floor(stream.length * share);
      for (let at = 0, piece = 0; at < came; piece += 1) {
        const next = Math.min(came, at + (pieces[piece % pieces.length] ?? 1));
        socket.emit('data', stream.subarray(at, next));
        at = next;
      }
      late = restComesLate ? () => socket.emit('data', stream.subarray(came)) : null;
      if (ending === 'error') socket.emit('error', new Error('reset'));
      else socket.emit('end');
      await turn();
      let end = 0;
      for (const [at, { payload, answer }] of asked.entries()) {
        end += whole[at]?.length ?? 0;
        expect(await answer).toEqual(end <= came ? payload : null);
      }
    }
  });

describe('responses of a Kafka broker over the sockets of a connection', () => {
  it('reach their own request completely, or reject it, wherever sockets are cut', async () => {
    await fc.assert(law(OURS), { numRuns: 400 });
  });

  it('can reach a wrong request with unpatched kafkajs', async () => {
    const { failed } = await fc.check(law(AS_IT_COMES), { numRuns: 400, timeout: 1000, endOnFailure: true });
    expect(failed).toBe(true);
  });

  /** A cut within an answer of 32 bytes; then an answer in whose midst stands what looks like another answer to the same request. */
  async function misread(connect: ReusedConnection['connect']): Promise<{ got: Buffer | null; sent: Buffer }> {
    const connection = openConnection(connect);
    const first = await connection.socket();
    const cut = connection.ask(1);
    await turn();
    first.emit('data', frame(first.asked[0]?.correlation ?? -1, numbers(1, 0, 0, 0, 0, 0)).subarray(0, 16));
    first.emit('end');
    expect(await cut).toBeNull();
    const second = await connection.socket();
    const answer = connection.ask(2);
    await turn();
    const correlation = second.asked[0]?.correlation ?? -1;
    const sent = numbers(2, 0, 8, correlation, 777);
    second.emit('data', frame(correlation, sent));
    return { got: await answer, sent };
  }

  it('confirm a wrong request in unpatched kafkajs, and do not with our patch', async () => {
    expect((await misread(AS_IT_COMES)).got).toEqual(numbers(777));
    const { got, sent } = await misread(OURS);
    expect(got).toEqual(sent);
  });

  it.each([
    ['an answer of a negative length', numbers(-8, 0, 0)],
    ['an answer too short for the number of its request', numbers(2, 0)],
    ['an answer longer than any', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('%s closes its socket and rejects its requests, and the next socket works', async (_, bytes) => {
    const connection = openConnection(OURS);
    const first = await connection.socket();
    const waiting = connection.ask(1);
    await turn();
    first.emit('data', bytes);
    expect(await waiting).toBeNull();
    expect(first.destroyed).toBe(true);
    const second = await connection.socket();
    const answer = connection.ask(2);
    await turn();
    second.emit('data', frame(second.asked[0]?.correlation ?? -1, numbers(2)));
    expect(await answer).toEqual(numbers(2));
  });
});
