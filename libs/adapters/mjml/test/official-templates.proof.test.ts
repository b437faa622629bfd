import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import mjml2html from 'mjml';
import { afterAll, describe, expect, it } from 'vitest';
import { createMjmlCompiler } from '../src/index.ts';

/**
 * Folder `templates` of a checkout of https://github.com/mjmlio/email-templates. That repository names no licence, so its files are not
 * part of this one. Tried with commit 69b6157f1475fa20d529ee65da8f8caa00e8fa6b.
 */
const FOLDER = process.env['MJML_TEMPLATES'] ?? '/var/cache/carillon/email-templates/templates';

/** The HTML without the ids of menus and carousels, which mjml draws by chance. */
const withoutIds = (html: string): string => html.replaceAll(/\b[0-9a-f]{16}\b/g, 'ID');

const compiler = createMjmlCompiler();
afterAll(() => compiler.close());

describe.skipIf(!existsSync(FOLDER))(`the official example templates (needs a checkout: ${FOLDER})`, () => {
  const names = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => name.endsWith('.mjml')) : [];

  it('are 25 or more', () => {
    expect(names.length).toBeGreaterThanOrEqual(25);
  });

  it.each(names)('include %s, which compiles to the result of mjml, without fonts from Google', async (name) => {
    const source = readFileSync(join(FOLDER, name), 'utf8');
    const { html } = await mjml2html(source, { fonts: {} });
    const compiled = await compiler.compile(source);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
    expect(withoutIds(compiled.html)).toBe(withoutIds(html));
  });
});

it('an MJML source that takes all memory ends only its thread, and the next source is compiled', async () => {
  let threads = 0;
  const script = new URL(
    `data:text/javascript,import { parentPort } from 'node:worker_threads'; parentPort.postMessage({ ready: true }); parentPort.on('message', () => { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)); });`,
  );
  const own = createMjmlCompiler({
    workMs: 60_000,
    clockMs: 60_000,
    script: () => ((threads += 1) === 1 ? script : new URL('../src/worker.ts', import.meta.url)),
  });
  const source = '<mjml><mj-body><mj-section><mj-column><mj-text>a</mj-text></mj-column></mj-section></mj-body></mjml>';
  const [first, second] = await Promise.all([own.compile(source), own.compile(source)]);
  await own.close();
  expect(first).toMatchObject({ ok: false, stopped: true });
  expect(JSON.stringify(first)).toContain('memory');
  expect(second).toMatchObject({ ok: true });
});
