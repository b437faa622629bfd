import type { EntityBody } from '@carillon/contracts';
import { describe, expect, it } from 'vitest';
import { showEntity, showForgotten } from './state.ts';

const AT = '2026-11-29T10:00:03.000Z';
const named = { rule: 'order-unpaid.not-paid', rule_id: 'shop/order-unpaid.not-paid' };
const words = ['waits until 2026-11-29T11:00:03.000Z'];
const entity: EntityBody = {
  stream: 'shop/orders',
  key: 'A-1',
  rules: [{ ...named, words, sentence: '1h after the first such event', waits_until: AT, event: 'evt_1' }],
  decisions: [{ ...named, at: AT, event: 'evt_1', waited_for: null, words }],
  events: [{ id: 'evt_1', at: AT, body: '{"status":"placed"}' }],
};

describe('state show', () => {
  it('prints the state of each rule, the newest decisions and the stored events', () => {
    const text = showEntity(entity);
    expect(text).toContain('A-1 of shop/orders');
    expect(text).toContain(
      'order-unpaid.not-paid  1h after the first such event\n    waits until 2026-11-29 11:00:03 UTC  for evt_1',
    );
    expect(text).toMatch(/Newest decisions:\n\S.* order-unpaid\.not-paid {2}waits until .* evt_1/);
    expect(text).toContain('{"status":"placed"}');
  });

  it('names the permission that a body needs', () => {
    const masked = { ...entity, events: [{ id: 'evt_1', at: AT, body: null }] };
    expect(showEntity(masked)).toContain('evt_1  not shown: this needs the permission bodies');
  });

  it('says that there is no state, and shows a removed rule by its id', () => {
    const nothing = { ...entity, rules: [], decisions: [], events: [] };
    expect(showEntity(nothing)).toBe('no rule has state for A-1 of shop/orders');
    const gone = { ...entity, rules: entity.rules.map((each) => ({ ...each, rule: null })), decisions: [] };
    expect(showEntity(gone)).toContain('shop/order-unpaid.not-paid');
  });
});

describe('state forget', () => {
  it('says when rules forget the entity', () => {
    expect(showForgotten({ stream: 'shop/orders', key: 'A-1' })).toBe(
      'rules forget A-1 of shop/orders once the engine has read the record that says so',
    );
  });
});
