import type { PlacedRule } from '@carillon/domain/configuration';
import { compileRule } from '@carillon/domain/rules';
import { describe, expect, it } from 'vitest';
import { createExpressionLanguage } from '../src/index.ts';

const language = createExpressionLanguage();

const placed = (when: string, recipients: Partial<PlacedRule['body']['recipients']>): PlacedRule =>
  ({
    body: { when, recipients: { from: 'event', to: {}, ...recipients } },
    notification: { body: {} },
  }) as unknown as PlacedRule;

describe('compiling the expressions of a rule', () => {
  it('compiles every expression for its field', () => {
    const rule = compileRule(
      placed('event.n > 1', {
        for_each: 'event.watchers',
        to: { email: 'item.email' },
        unique_id: 'item.id',
        variables: { name: 'item.name' },
        where: 'variables.name != ""',
      }),
      language,
    );
    if (!rule.ok || rule.value.from !== 'event') throw new Error(JSON.stringify(rule));
    expect(rule.value.forEach?.source).toBe('event.watchers');
    expect(rule.value.to.phone).toBeNull();
    expect(rule.value.variables.map(([name]) => name)).toEqual(['name']);
  });

  it.each(['event_id', ' trigger_id '])('treats %j as a reserved unique_id, not as an expression', (word) => {
    const rule = compileRule(placed('true', { unique_id: word }), language);
    expect(rule.ok && rule.value.uniqueId).toBe(word.trim());
  });

  it('reports all faults with the fields that contain them', () => {
    const rule = compileRule(
      placed('event.a and event.b', {
        to: { email: 'evnt.email' },
        variables: { x: 'foo(1)' },
        where: 'event.n + 1.0',
      }),
      language,
    );
    expect(rule.ok ? [] : rule.error.map(({ field }) => field)).toEqual([
      'when',
      'recipients.to.email',
      'recipients.variables.x',
      'recipients.where',
    ]);
  });
});
