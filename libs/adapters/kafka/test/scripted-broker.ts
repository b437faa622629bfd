import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { CompactReader, CompactWriter } from '../src/source/wire.ts';

export const TOPIC = 'orders';
export const TOPIC_ID = Buffer.alloc(16, 7).toString('base64url');
const METADATA = 3;
const FETCH = 1;
const OFFSETS = 2;
const SASL_HANDSHAKE = 17;
const API_VERSIONS = 18;
const SASL = 36;
/** Highest versions that it speaks. */
const VERSIONS = [
  [FETCH, 13],
  [OFFSETS, 2],
  [METADATA, 10],
  [SASL_HANDSHAKE, 1],
  [API_VERSIONS, 2],
  [SASL, 0],
] as const;
/** The error code of metadata and fetch if the user may not read the topic. */
export const NOT_AUTHORIZED = 29;

export type BrokerScript = {
  /** Name of the topic. */
  readonly topic?: string;
  /** Its partitions. Defaults to one. */
  readonly partitions?: readonly { readonly leader?: number; readonly fetchError?: number }[];
  /** Batches from this offset on. Null: none; without any, and without an error, the answer never comes. */
  readonly fetch?: (offset: number, partition: number) => Buffer | null;
  /** Error of the topic in metadata and in fetches. */
  readonly metadataError?: number;
  readonly fetchError?: number;
  /** Offset behind the last record. */
  readonly end?: number;
  /** Iteration count that it asks for. */
  readonly iterations?: number;
  /** Writes the answer to a metadata request instead of the broker. */
  readonly metadata?: (socket: Socket) => void;
};

const int16 = (value: number): Buffer => Buffer.from([(value >> 8) & 0xff, value & 0xff]);
const int32 = (value: number): Buffer => new CompactWriter().int32(value).bytes();
const text = (value: string): Buffer => Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** A broker with one topic, whose answers a test decides. Not even a hostile one needs a real broker. */
export class ScriptedBroker {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Offsets that were fetched. */
  readonly fetched: number[] = [];
  /** Logins that were answered. */
  logins = 0;
  /** Takes the request and never responds. */
  silent = false;
  script: BrokerScript = {};

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(): Promise<ScriptedBroker> {
    const broker = new ScriptedBroker();
    await once(broker.#server.listen(0, '127.0.0.1'), 'listening');
    return broker;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    let bytes: Buffer = Buffer.alloc(0);
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
    socket.on('data', (more: Buffer) => {
      bytes = Buffer.concat([bytes, more]);
      while (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)) {
        const length = bytes.readInt32BE(0);
        this.#answer(socket, bytes.subarray(4, 4 + length));
        bytes = bytes.subarray(4 + length);
      }
    });
  }

  #answer(socket: Socket, request: Buffer): void {
    if (this.silent) return;
    const body = request.subarray(10 + request.readInt16BE(8));
    const kind = request.readInt16BE(0);
    if (kind === METADATA && this.script.metadata) {
      this.script.metadata(socket);
      return;
    }
    const answer = this.#bodyOf(kind, body);
    if (answer === null) return;
    socket.write(Buffer.concat([int32(4 + answer.length), request.subarray(4, 8), answer]));
  }

  #bodyOf(kind: number, body: Buffer): Buffer | null {
    if (kind === API_VERSIONS) {
      const versions = VERSIONS.flatMap(([key, version]) => [int16(key), int16(0), int16(version)]);
      return Buffer.concat([int16(0), int32(VERSIONS.length), ...versions, int32(0)]);
    }
    if (kind === SASL_HANDSHAKE) return Buffer.concat([int16(0), int32(1), text('SCRAM-SHA-256')]);
    if (kind === SASL) return this.#login(body);
    if (kind === METADATA) return this.#metadata();
    if (kind === OFFSETS) return this.#offsets(body);
    return this.#fetch(body);
  }

  #login(body: Buffer): Buffer {
    this.logins += 1;
    const nonce = /r=([^,]*)/.exec(body.toString('latin1'))?.[1] ?? '';
    const first = `r=${nonce}more,s=${Buffer.from('salt').toString('base64')},i=${this.script.iterations ?? 4096}`;
    return Buffer.concat([int16(0), int16(-1), int32(first.length), Buffer.from(first)]);
  }

  #metadata(): Buffer {
    const error = this.script.metadataError ?? 0;
    const writer = new CompactWriter().noTags().int32(0);
    writer.list([this.port], (port) => writer.int32(1).text('127.0.0.1').int32(port).text('').noTags());
    writer.text('cluster').int32(1);
    const partitions = (this.script.partitions ?? [{}]).map(({ leader = 1 }, partition) => ({ partition, leader }));
    writer.list([this.script.topic ?? TOPIC], (topic) => {
      writer.int8(0).int8(error).text(topic).uuid(TOPIC_ID).int8(0);
      writer.list(error === 0 ? partitions : [], ({ partition, leader }) => {
        writer.int8(0).int8(0).int32(partition).int32(leader).int32(0);
        writer.list([], () => undefined).list([], () => undefined);
        writer.list([], () => undefined).noTags();
      });
      writer.int32(0).noTags();
    });
    return writer.int32(0).noTags().bytes();
  }

  /** The oldest record is number 0. */
  #offsets(body: Buffer): Buffer {
    const isEnd = body.readBigInt64BE(body.length - 8) === -1n;
    const offset = new CompactWriter().int64(isEnd ? (this.script.end ?? 0) : 0).bytes();
    const topics = body.readInt32BE(5);
    if (topics === 0) return Buffer.concat([int32(0), int32(0)]);
    const first = 11 + body.readInt16BE(9);
    const count = body.readInt32BE(first);
    const partitions = Array.from({ length: count }, (_, place) => {
      const partition = body.readInt32BE(first + 4 + 12 * place);
      return Buffer.concat([int32(partition), int16(0), Buffer.alloc(8, 0xff), offset]);
    });
    return Buffer.concat([int32(0), int32(1), text(TOPIC), int32(count), ...partitions]);
  }

  #fetch(body: Buffer): Buffer | null {
    const reader = new CompactReader(body);
    reader.skipTags();
    for (let numbers = 0; numbers < 4; numbers += 1) reader.int32();
    reader.int8();
    reader.int64();
    const [asked = []] = reader.list(() => {
      reader.uuid();
      const places = reader.list(() => {
        const partition = reader.int32();
        reader.int32();
        const offset = reader.int64();
        reader.int32();
        reader.int64();
        reader.int32();
        reader.skipTags();
        return { partition, offset };
      });
      reader.skipTags();
      return places;
    });
    this.fetched.push(asked[0]?.offset ?? 0);
    const found = asked.map(({ partition, offset }) => ({
      partition,
      error: this.script.fetchError ?? this.script.partitions?.[partition]?.fetchError ?? 0,
      bytes: this.script.fetch?.(offset, partition) ?? null,
    }));
    if (found.every(({ bytes, error }) => bytes === null && error === 0)) return null;
    const head = new CompactWriter().noTags().int32(0).int8(0).int8(0).int32(0).int8(2).uuid(TOPIC_ID);
    const parts = found.map((part) => this.#part(part));
    // Tagged fields of topic and answer.
    return Buffer.concat([head.bytes(), varint(parts.length + 1), ...parts, Buffer.alloc(2)]);
  }

  #part({ partition, error, bytes }: { partition: number; error: number; bytes: Buffer | null }): Buffer {
    const end = this.script.end ?? 0;
    const head = new CompactWriter().int32(partition).int8(0).int8(error).int64(end).int64(end).int64(0);
    head.list([], () => undefined).int32(-1);
    const records = error === 0 && bytes !== null ? bytes : Buffer.alloc(0);
    return Buffer.concat([head.bytes(), varint(records.length + 1), records, Buffer.alloc(1)]);
  }
}
