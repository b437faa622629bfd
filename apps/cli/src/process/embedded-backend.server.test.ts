import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openEmbedded, type Embedded, type EmbeddedOptions } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { logRecord } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileCheck, fileReadiness, openEmbeddedBackend } from './embedded-backend.ts';
import { readSettings } from './settings.ts';

let dataDir = '';
let opened: { close(): Promise<void> }[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'carillon-backend-'));
});
afterEach(async () => {
  await Promise.all(opened.map((each) => each.close()));
  opened = [];
  rmSync(dataDir, { recursive: true });
});

async function open(more: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
  const data = await openEmbedded({ dataDir, clock: systemClock, ...more });
  opened.push(data);
  return data;
}

describe('The data file of an embedded process', () => {
  it('makes the process not ready while the disk is full, with that reason', async () => {
    const data = await open({ maxFileBytes: 2_000_000 });
    expect(fileReadiness(data)).toEqual({ name: 'data file', ok: true, detail: 'takes what is written' });
    const large = 'x'.repeat(100_000);
    let taken = 0;
    await expect(
      (async () => {
        for (; ; taken += 1) await data.log.append([logRecord(large)]);
      })(),
    ).rejects.toMatchObject({ code: 'log_unavailable' });
    expect(taken).toBeGreaterThan(0);
    expect(fileReadiness(data)).toMatchObject({ name: 'data file', ok: false });
    expect(fileReadiness(data).detail).toContain('free disk space');
  });

  it('makes the process ready again when there is room, although nobody sends anything', async () => {
    const data = await open({ busyTimeout: 20 });
    const other = new DatabaseSync(join(dataDir, 'carillon.db'), { timeout: 10_000 });
    other.exec('BEGIN IMMEDIATE');
    await expect(data.log.append([logRecord('refused')])).rejects.toMatchObject({ code: 'log_unavailable' });
    expect(fileReadiness(data).ok).toBe(false);
    other.close();
    await expect.poll(() => fileReadiness(data).ok).toBe(true);
  });

  it('makes the process not ready while it is damaged; `doctor` reports the damage too, with the repair', async () => {
    const filled = await open();
    for (let at = 0; at < 20; at += 1) {
      await filled.log.append(Array.from({ length: 50 }, () => logRecord('x'.repeat(500))));
    }
    await filled.close();
    opened = [];
    const file = join(dataDir, 'carillon.db');
    const pages = statSync(file).size / 4096;
    const handle = openSync(file, 'r+');
    writeSync(handle, new Uint8Array(4096 * 10), 0, 4096 * 10, Math.floor(pages / 2) * 4096);
    closeSync(handle);
    const backend = await openEmbeddedBackend({
      settings: readSettings({ dataDir, logLevel: 'error' }, {}),
      clock: systemClock,
      holder: 'test',
      kafkaSaid: () => undefined,
      fatal: () => undefined,
    });
    opened.push(backend);
    const steps = await backend.checks({});
    const said = steps.find(({ step }) => step === 'data pages');
    expect(said).toMatchObject({ ok: false });
    expect(said?.detail).toMatch(/^damaged: .*restore FILE --data-dir NEW/s);
    expect(backend.readiness()).toMatchObject([{ name: 'data file', ok: false }]);
  });

  it('is checked by doctor: what keeps the write-ahead log from being copied, and when writes will be refused', () => {
    const MIB = 1024 * 1024;
    const stats = { fileBytes: 300 * MIB, walBytes: 64 * MIB, walLeft: 30 * MIB, notCopied: null };
    const step = 'data file';
    expect(fileCheck('/data', stats)).toEqual({ step, ok: true, detail: '300 MiB, write-ahead log 64 MiB, in /data' });
    const held = fileCheck('/data', { ...stats, walBytes: 500 * MIB, walLeft: 400 * MIB });
    expect(held).toMatchObject({ step, ok: false });
    expect(held.detail).toMatch(
      /lacks 400 MiB of the log \(something reads an old state: a backup.*3072 MiB of log on events are refused.*4096 MiB/,
    );
    const full = { ...stats, walLeft: 400 * MIB, notCopied: 'disk I/O error' };
    expect(fileCheck('/data', full).detail).toContain('(disk I/O error)');
  });

  it('is checked by doctor: undamaged pages', async () => {
    const backend = await openEmbeddedBackend({
      settings: readSettings({ dataDir, logLevel: 'error' }, {}),
      clock: systemClock,
      holder: 'test',
      kafkaSaid: () => undefined,
      fatal: () => undefined,
    });
    opened.push(backend);
    expect(await backend.checks({})).toContainEqual({ step: 'data pages', ok: true, detail: 'whole' });
  });
});
