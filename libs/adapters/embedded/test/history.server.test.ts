import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { LogId } from '@carillon/kernel';
import { describeEventHistory, logRecord } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded, openHistory, type Embedded, type WalBounds } from '../src/index.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

const KIB = 1024;
const BOUNDS: WalBounds = { copyFrom: 256 * KIB, waitFrom: 1024 * KIB, most: 4096 * KIB };
/** Bytes of one append of the tests in the write-ahead log. */
const APPEND_BYTES = 150 * KIB;

let folder = temporaryFolder();
let writer: Embedded;
beforeEach(async () => {
  folder = temporaryFolder();
  writer = await openEmbedded({ dataDir: folder.path, clock: wallClock, walBounds: BOUNDS });
});
afterEach(async () => {
  await writer.close();
  folder.remove();
});

const texts = (records: readonly { readonly value: Uint8Array }[]): readonly string[] =>
  records.map(({ value }) => new TextDecoder().decode(value));

describe('openHistory (reads the log of a data folder while another process writes)', () => {
  it('sees each record as soon as its append has resolved', async () => {
    const history = openHistory(folder.path, writer.log.logId);
    for (const text of ['first', 'second']) {
      await writer.log.append([logRecord(text, { partition: 3, headers: { kind: 'event' } })]);
      const { end } = await history.bounds('carillon.events', 3);
      const read = await history.read('carillon.events', 3, end - 1, 10);
      expect(texts(read)).toEqual([text]);
      expect(read[0]).toMatchObject({ partition: 3, offset: end - 1, headers: { kind: 'event' } });
    }
    expect(history.partitions('carillon.events')).toBe(writer.log.partitions('carillon.events'));
    history.close();
  });

  it('finds the schemas of the writer and registers none', async () => {
    const schema = '{"type": "string"}';
    const id = await writer.registry.register('known-value', schema);
    const { registry, close } = openHistory(folder.path, writer.log.logId);
    expect(await registry.register('known-value', schema)).toBe(id);
    expect(await registry.schema(id)).toBe('{"type":"string"}');
    await expect(registry.register('other-value', schema)).rejects.toMatchObject({ code: 'data_version' });
    close();
  });

  it('refuses the folder of another log, and a folder without a log', () => {
    const open = (dataDir: string) => () => openHistory(dataDir, 'log_00000000000000000000000001' as LogId);
    expect(open(folder.path)).toThrow(expect.objectContaining({ code: 'wrong_log' }));
    expect(open(join(folder.path, 'nothing'))).toThrow(expect.objectContaining({ code: 'log_unavailable' }));
  });

  it('lets the writer truncate its write-ahead log while pages are read', async () => {
    const history = openHistory(folder.path, writer.log.logId);
    let offset = 0;
    for (let append = 0; append < 100; append += 1) {
      await writer.log.append([logRecord('x'.repeat(50_000))]);
      // A page that ends before the partition does is the shape that would keep a read open.
      const page = await history.read('carillon.events', 0, offset, 1, 1);
      offset = (page.at(-1)?.offset ?? offset - 1) + 1;
      const wal = statSync(join(folder.path, 'carillon.db-wal'));
      expect(wal.size).toBeLessThan(BOUNDS.waitFrom + 4 * APPEND_BYTES);
    }
    expect(offset).toBe(100);
    history.close();
  });
});

describeEventHistory('the embedded history', async () => {
  const history = openHistory(folder.path, writer.log.logId);
  return { port: { log: writer.log, history }, close: async () => history.close() };
});
