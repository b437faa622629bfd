import type { ConsentBody } from '@carillon/contracts';
import { expect, it } from 'vitest';
import { leftText } from './consents.ts';

type Word = ConsentBody['words'][number];
const word = (more: Partial<Word>): Word => ({
  target: 'category',
  name: 'orders',
  notification_id: null,
  channel: null,
  opted_out: true,
  way: 'api',
  by: 'ann',
  at: '2026-11-23T10:00:00Z',
  ...more,
});

it('lists each name still opted out after an opt-in to everything once, with the command that allows it', () => {
  const words = [
    word({}),
    word({ channel: 'sms' }),
    word({ target: 'notification', name: null, notification_id: 'ntf_1' }),
    word({ name: 'news', opted_out: false }),
    word({ target: 'all', name: null }),
  ];
  expect(leftText(words)).toBe(
    '\nstill stopped by name: category orders, notification ntf_1; allow each with --allow --category or --notification',
  );
});

it('prints nothing if no name is still opted out', () => {
  expect(leftText([word({ opted_out: false }), word({ target: 'all', name: null })])).toBe('');
});
