import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readConfigurationFolder } from '@carillon/configuration';
import { createCohortReaders } from '@carillon/adapter-cohorts';
import { createExpressionLanguage } from '@carillon/adapter-cel';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import { afterAll, describe, expect, it } from 'vitest';

/* docs/cohorts.md and docs/cohort-platforms.md: their files are a configuration, their message is taken, their links lead somewhere. */

const ROOT = resolve(import.meta.dirname, '../..');
const page = ['docs/cohorts.md', 'docs/cohort-platforms.md']
  .map((file) => readFileSync(resolve(ROOT, file), 'utf8'))
  .join('\n');
const blocks = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = '']) => text);
const templates = createTemplateRenderer();
afterAll(() => templates.close());

describe('docs/cohorts.md and docs/cohort-platforms.md', () => {
  it('show files that are a configuration without a mistake', () => {
    const named = blocks.filter((text) => text.startsWith('# '));
    const files = new Map(named.map((text) => [/^# (\S+)/.exec(text)?.[1] ?? '', text]));
    expect([...files.keys()]).toHaveLength(3);
    const posthog = blocks.find((text) => text.startsWith('kind: posthog')) ?? '';
    files.set('workspaces/shop/integrations/posthog.yaml', posthog);
    files.set('workspaces/shop/workspace.yaml', '');
    files.set('workspaces/shop/templates/welcome-buyer/email.yaml', 'subject: Welcome\n');
    files.set('workspaces/shop/templates/welcome-buyer/email.txt', 'Hello\n');
    const language = createExpressionLanguage();
    const reading = readConfigurationFolder(files, { current: EMPTY_CONFIGURATION, language, templates });
    expect(reading.faults).toEqual([]);
  });

  it('show a message that is taken', () => {
    const message = /-d '(\{.*\})'/.exec(page)?.[1] ?? '';
    const options = { userId: undefined, batches: false, now: 0 };
    const readers = createCohortReaders();
    const body = readers.parse(new TextEncoder().encode(message));
    if (!body.ok) throw body.error;
    const { changes } = readers.read('generic', body.value, options);
    expect(changes.ok && changes.value).toMatchObject([{ cohort: 'vip', action: 'add', userIds: ['u1', 'u2'] }]);
  });

  it('link to pages that are there', () => {
    const links = [...page.matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => link);
    for (const link of links) expect([link, existsSync(resolve(ROOT, 'docs', link))]).toEqual([link, true]);
  });
});
