import { anAddress, OPEN, ofBodies, open, traceBody } from '@carillon/contracts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { maskAnswer } from '../src/access/masking/mask-answer.ts';
import { maskAddress, maskText } from '../src/access/masking/masked-text.ts';
import { personWith } from './control-fixture.ts';

const viewer = personWith('vic', ['read']);
const masked = <Value>(schema: z.ZodType<Value>, value: Value): Value => maskAnswer(viewer, schema, value, true);
const TOKEN = `cZx_9:APA91b${'Hq3f7Lk2'.repeat(8)}end5`;

describe('An address', () => {
  it.each([
    ['barbara@example.com', 'b•••@e•••.com'],
    ['b@x.co.uk', 'b•••@x•••.uk'],
    ['root@localhost', 'r•••@l•••'],
    ['"a@b"@example.com', '"•••@e•••.com'],
    ['😀@example.com', '😀•••@e•••.com'],
    ['+4915112345612', '+49•••12'],
    ['+12345', '+•••'],
    [TOKEN, '•••end5'],
    ['short-token', '•••'],
    ['', '•••'],
  ])('%s is shown as %s', (address, mask) => {
    expect(maskAddress(address)).toBe(mask);
  });

  it('is masked within other words, and other words stay', () => {
    expect(maskText('550 <barbara@example.com>: unknown; ask ops@example.org.')).toBe(
      '550 <b•••@e•••.com>: unknown; ask o•••@e•••.org.',
    );
    expect(maskText('wrote STOP from +49 (151) 123-456-12')).toBe('wrote STOP from +49•••12');
    expect(maskText(`token ${TOKEN} is gone`)).toBe('token •••end5 is gone');
    for (const text of [
      'carillon.events/0@17',
      'received on shop/orders, 120 bytes',
      'dlv_0GMPZQ4X7Y8W9V1T2S3R4Q5P6N',
      '2026-11-23T06:00:00.000Z',
      'a-notification-with-a-name-of-more-than-forty-letters',
      'order 100000123 + 5',
    ]) {
      expect(maskText(text)).toBe(text);
    }
  });

  it('is masked inside a text next to it, in any spelling', () => {
    expect(maskText('sent to DEVICE-7 at once', ['device-7'])).toBe('sent to ••• at once');
    expect(maskText('of (a.b+c)*', ['(a.b+c)*'])).toBe('of •••');
    expect(maskText('x', ['x'])).toBe('•••');
  });
});

describe('An answer', () => {
  const row = z.object({
    workspace: z.string(),
    to: anAddress(z.string()).nullable(),
    words: z.string(),
    detail: ofBodies(z.string()),
    item: ofBodies(z.string()).nullable(),
    state: z.enum(['SENT']),
    body: open(z.unknown()),
  });
  const given = {
    workspace: 'shop',
    to: 'tok-1',
    words: 'to tok-1 and ann@example.com',
    detail: 'said no to Ann',
    item: '{"name":"Ann"}',
    state: 'SENT' as const,
    body: { from: 'shop@example.com' },
  };

  it('is masked as its schema says: addresses, pieces of bodies, and whatever text is not described', () => {
    expect(masked(row, given)).toEqual({
      workspace: 'shop',
      to: '•••',
      words: 'to ••• and a•••@e•••.com',
      detail: '',
      item: null,
      state: 'SENT',
      body: { from: 'shop@example.com' },
    });
  });

  it('shows too little and not too much where nobody has described it', () => {
    const value = { 'ann@example.com': ['bob@example.com', { to: 'eve@example.com' }], n: 1, on: true, no: null };
    const wanted = { 'a•••@e•••.com': ['b•••@e•••.com', { to: 'e•••@e•••.com' }], n: 1, on: true, no: null };
    for (const schema of [z.unknown(), z.any(), z.record(z.string(), z.unknown()), z.custom<unknown>()]) {
      expect(masked<unknown>(schema, value)).toEqual(wanted);
    }
    expect(masked<unknown>(z.looseObject({ n: z.int() }), value)).toEqual(wanted);
    expect(masked<unknown>(z.tuple([z.string()]), ['ann@example.com'])).toEqual(['a•••@e•••.com']);
    expect(masked<unknown>(z.email(), 'ann@example.com')).toBe('a•••@e•••.com');
    expect(
      masked<unknown>(
        z.lazy(() => z.string()),
        'ann@example.com',
      ),
    ).toBe('a•••@e•••.com');
  });

  it('whose schema is a union is masked by the variant that it matches', () => {
    const either = z.union([z.object({ a: open(z.string()) }), z.object({ b: z.string() })]);
    expect(masked(either, { a: 'ann@example.com' })).toEqual({ a: 'ann@example.com' });
    expect(masked(either, { b: 'ann@example.com' })).toEqual({ b: 'a•••@e•••.com' });
  });

  it('may hold itself', () => {
    type Tree = { readonly text: string; readonly below: readonly Tree[] };
    const tree: z.ZodType<Tree> = z.lazy(() => z.object({ text: z.string(), below: z.array(tree) }));
    expect(masked(tree, { text: 'x', below: [{ text: 'ann@example.com', below: [] }] })).toEqual({
      text: 'x',
      below: [{ text: 'a•••@e•••.com', below: [] }],
    });
  });

  it('is whole where nothing is hidden from whoever asks, and a named schema can be open', () => {
    const named = z.object({ email: z.string() }).meta({ id: 'MaskingOpen', ...OPEN });
    expect(masked(named, { email: 'ann@example.com' })).toEqual({ email: 'ann@example.com' });
    expect(maskAnswer(viewer, z.object({ email: z.string() }), { email: 'ann@example.com' }, false)).toEqual({
      email: 'ann@example.com',
    });
  });

  it('of several workspaces is masked row by row, where the permission is missing', () => {
    const both = { ...viewer, may: (permission: string, at: string | null) => permission === 'read' || at === 'acme' };
    const rows = z.object({ items: z.array(row), next: z.string().nullable() });
    const answer = maskAnswer(both, rows, { items: [given, { ...given, workspace: 'acme' }], next: null }, true);
    expect(answer.items.map(({ to, item }) => [to, item])).toEqual([
      ['•••', null],
      ['tok-1', '{"name":"Ann"}'],
    ]);
  });
});

it('The person of a step is masked if it is an address, and shown if it is an id', () => {
  const step = { at: null, step: 'intent', id: null, position: null, config_number: null, rule: null };
  const named = (person: string | null) => ({
    ...step,
    rule_version: null,
    state: null,
    reason: null,
    state_words: null,
    reason_words: null,
    person,
    text: '',
    lines: [],
  });
  const people = ['ada@example.com', '+4915112345612', TOKEN, 'user-7', null];
  const trace = { kind: 'delivery' as const, id: 'dlv_1', trace_id: null, people: null, steps: people.map(named) };
  const shown = masked(traceBody, trace).steps.map(({ person }) => person);
  expect(shown).toEqual(['a•••@e•••.com', '+49•••12', '•••end5', 'user-7', null]);
});
