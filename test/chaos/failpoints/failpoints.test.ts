import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCarillonError } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { readFailpoints } from './failpoints.ts';

const refusalOf = (text: string): string => {
  try {
    readFailpoints(text);
    return '';
  } catch (error) {
    return isCarillonError(error) ? error.detail : String(error);
  }
};

describe('FAILPOINTS', () => {
  it('left out or empty fails nowhere', () => {
    expect(readFailpoints(undefined)).toBeNull();
    expect(readFailpoints('')).toBeNull();
  });

  it('fails at the place, the time it is told, and at no other', async () => {
    const points = readFailpoints('intents.append.after:2:throw');
    await points?.hit('intents.append.after');
    await points?.hit('intents.append.before');
    await expect(points?.hit('intents.append.after')).rejects.toThrow('failpoint intents.append.after');
    await points?.hit('intents.append.after');
  });

  it('takes several orders', async () => {
    const points = readFailpoints('provider.send.before:1:throw, delivery.sent.after:1:throw');
    await expect(points?.hit('provider.send.before')).rejects.toThrow('provider.send.before');
    await expect(points?.hit('delivery.sent.after')).rejects.toThrow('delivery.sent.after');
  });

  it('from a file count from the last change of the file on', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'failpoints-'));
    const file = join(folder, 'orders');
    const points = readFailpoints(`@${file}`);
    await points?.hit('intents.append.before');
    await writeFile(file, 'intents.append.before:2:throw');
    await points?.hit('intents.append.before');
    await expect(points?.hit('intents.append.before')).rejects.toThrow('failpoint intents.append.before');
    await points?.hit('intents.append.before');
    await writeFile(file, 'intents.append.before:1:throw\n');
    await expect(points?.hit('intents.append.before')).rejects.toThrow('failpoint intents.append.before');
    await writeFile(file, 'an order that nobody can carry out');
    await points?.hit('intents.append.before');
    await writeFile(file, '');
    await points?.hit('intents.append.before');
    await rm(folder, { recursive: true });
  });

  it('from a file fire in one of several processes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'failpoints-'));
    const file = join(folder, 'orders');
    const [first, second] = [readFailpoints(`@${file}`), readFailpoints(`@${file}`)];
    await writeFile(file, 'intents.append.before:2:throw');
    await first?.hit('intents.append.before');
    await second?.hit('intents.append.before');
    await expect(second?.hit('intents.append.before')).rejects.toThrow('failpoint intents.append.before');
    await first?.hit('intents.append.before');
    await rm(folder, { recursive: true });
  });

  it.each([
    'intents.append:1:kill',
    'nowhere.append.after:1:kill',
    'intents.append.after:0:kill',
    'intents.append.after:1:explode',
    'intents.append.after',
  ])('%s is refused with the known names, because a failpoint that never fires proves nothing', (text) => {
    expect(refusalOf(text)).toContain('intents.append');
    expect(refusalOf(text)).toContain('kill, stop, throw, delay');
  });
});
