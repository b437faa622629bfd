import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createExpressionLanguage } from '@carillon/adapter-cel';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { readConfigurationFolder } from '@carillon/configuration';
import type { RuleTestBody } from '@carillon/contracts';
import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import type { Wish } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Control, ControlPorts } from '@carillon/control';
import { accessOf, openControl, personWith } from '../../apps/control/test/control-fixture.ts';

/* docs/cookbook.md, executed: its files are read as `apply` reads them and published together, and each event is tried as `rule test` does. */

const page = readFileSync(join(import.meta.dirname, '../../docs/cookbook.md'), 'utf8');
const filesIn = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/^`(\S+)`\n```\w+\n([^`]*?)^```$/gm)].map(([, file = '', body = '']) => [file, body]));
const blockAfter = (text: string, begin: RegExp): string =>
  new RegExp(`${begin.source}.*:\\n\`\`\`\\w+\\n([^\`]*?)^\`\`\`$`, 'm').exec(text)?.[1] ?? '';

type Recipe = {
  readonly title: string;
  readonly files: ReadonlyMap<string, string>;
  readonly event: string;
  readonly messages: string;
};
const recipes: readonly Recipe[] = page
  .split(/^## (?=\d+\. )/m)
  .slice(1)
  .map((text) => ({
    title: text.split('\n')[0] ?? '',
    files: filesIn(text),
    event: blockAfter(text, /^The event/),
    messages: blockAfter(text, /^The message/),
  }));

let topology: Topology;
let control: Control;
let address: string;
const language = createExpressionLanguage();
const templates = createTemplateRenderer();
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  const reading = readConfigurationFolder(filesIn(page), { language, templates, current: EMPTY_CONFIGURATION });
  expect(reading.faults).toEqual([]);
  // The page says how the key is made.
  expect(reading.warnings.filter(({ path }) => path !== 'security.api_keys[0]')).toEqual([]);
  await topology.publish(...(reading.resources as readonly Wish[]));
  ({ control } = await openControl(
    accessOf(personWith('ann', ['read', 'bodies'])),
    topology.ports as unknown as Partial<ControlPorts>,
  ));
  // Not by inject: its stand-in for a connection has nothing that a request which takes long could end.
  address = await control.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await control.app.close();
  await templates.close();
  await topology.close();
});

async function tryRule(title: string, event: string): Promise<RuleTestBody> {
  const answer = await fetch(`${address}/v1/workspaces/shop/rules/${title}/test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ event }),
  });
  const told = await answer.text();
  expect(answer.status, told).toBe(200);
  return JSON.parse(told) as RuleTestBody;
}

const shown = ({ to, unique_id: uniqueId, messages }: RuleTestBody['recipients'][number]): string => {
  const [message] = messages;
  expect(message).toMatchObject({ ok: true, error: null, missing: [] });
  const once = uniqueId.replace(/^evt_\w+/, 'evt_1');
  return `To: ${to['email']}, unique_id ${once}\nSubject: ${message?.subject}\n\n${message?.text?.trim()}\n`;
};

describe('each notification of the cookbook', () => {
  it('is one of five, whole, with an event and its message', () => {
    expect(recipes).toHaveLength(5);
    for (const { title, files, event, messages } of recipes) {
      expect(files.size, title).toBe(3);
      expect(event, title).toMatch(/^\{/);
      expect(messages, title).toMatch(/^To: /);
    }
  });

  for (const { title, files, event, messages } of recipes) {
    it(`${title}: the event makes the messages shown on the page, and no other notification fires`, async () => {
      const own = [...files.keys()].flatMap((file) => /notifications\/(.+)\.yaml$/.exec(file)?.[1] ?? []);
      const told: string[] = [];
      const { resources } = topology.ports.configuration.current();
      for (const { ref, body } of resources.values()) {
        if (ref.kind !== 'notification') continue;
        for (const rule of Object.keys((body as { rules: object }).rules)) {
          const { fired, recipients } = await tryRule(`${ref.name}.${rule}`, event);
          expect(fired && !own.includes(ref.name), `${ref.name}.${rule}`).toBe(false);
          told.push(...recipients.map(shown));
        }
      }
      expect(told.join('---\n')).toBe(messages);
    });
  }
});
