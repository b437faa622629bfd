import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resultsText } from './case-text.ts';
import { runFolder } from './run-folder.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/testing-rules.md'), 'utf8');
const block = (kind: string): string => new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1] ?? '';

const FOLDER = {
  'carillon.yaml': 'backend: embedded\n',
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend] }\n',
  'workspaces/shop/templates/order-unpaid/email.yaml': 'subject: Order {{order_id}} is not paid\nfrom: a@example.com\n',
  'workspaces/shop/templates/order-unpaid/email.txt': 'Hello\n',
  'workspaces/shop/tests/not-paid.yaml': block('yaml cases'),
};

/** Returns what `carillon test` prints for the page's folder, without the time that it took. */
async function printed(notification: string): Promise<string> {
  const files = { ...FOLDER, 'workspaces/shop/notifications/order-unpaid.yaml': notification };
  const { faults, results } = await runFolder(new Map(Object.entries(files)));
  expect(faults).toEqual([]);
  return `${resultsText(results, '').replace(/ in $/, '')}\n`;
}

describe('the page about tests of rules', () => {
  it('has cases that pass, with the output that it shows', async () => {
    expect(await printed(block('yaml notification'))).toBe(block('text passes'));
  });

  it('shows the output of the failure that it describes', async () => {
    const mistaken = block('yaml notification').replace('event.type == "paid"', 'event.type != "placed"');
    expect(await printed(mistaken)).toBe(block('text fails'));
  });
});
