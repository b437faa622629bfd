import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { TOPIC_DEFINITIONS } from '@carillon/contracts';
import { parseDuration } from '@carillon/kernel';
import { describe, expect, test } from 'vitest';

test('every generated file equals what `node schemas/generate.ts` writes', () => {
  const script = join(import.meta.dirname, '../../../schemas/generate.ts');
  expect(() => execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe' })).not.toThrow();
});

describe.each(Object.entries(TOPIC_DEFINITIONS))('the topic %s', (topic, definition) => {
  test('has an owner, a key, a retention, and a topic for its dead letters', () => {
    expect(definition.owner).not.toBe('');
    expect(definition.key).not.toBe('');
    expect(definition.retention === 'forever' || parseDuration(definition.retention).ok).toBe(true);
    expect(definition.dead_letter).toBe(topic === 'carillon.dead-letters' ? null : 'carillon.dead-letters');
  });
});
