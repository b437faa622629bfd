import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCES = resolve(import.meta.dirname, '../src');

/** What is asked without any action of a person, or by somebody who is nobody yet: each with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  'POST /v1/session': 'signs in: a password has no place in a shell',
  'DELETE /v1/session': 'signs out of this browser, whose session a shell has not',
  'POST /v1/me/identities': 'leads to an identity provider by way of the browser',
  'POST /v1/invitations/look': 'reads what a link invites to, before anybody is signed in',
  'POST /v1/invitations/accept': 'signs in by the word of a link',
  'POST /v1/mailed-links/open': 'uses the word of a mailed link, before anybody is signed in',
  'POST /v1/workspaces/{}/onboarding': 'notes how far somebody came with the guide',
  'POST /v1/workspaces/{}/expressions/check': 'reads: asked as somebody types',
  'POST /v1/workspaces/{}/templates/{}/preview': 'reads: asked as somebody types',
  'POST /v1/workspaces/{}/cadence/simulate': 'reads: asked as somebody types',
  'POST /v1/workspaces/{}/suppressions/count': 'reads: asked before the question about them, which has its own',
  'POST /v1/workspaces/{}/promote': 'reads: asked as a promotion is shown',
  'POST /v1/workspaces/{}/suppressions/restore': 'the way back, within ten seconds, from what has its own',
  'POST /v1/workspaces/{}/{}/{}/check': 'reads: asked as somebody looks at the files of what is not saved yet',
  'POST /v1/workspaces/{}/consents/count': 'reads: asked before the question about them, which has its own',
  'POST /v1/workspaces/{}/drafts/plan': 'reads: asked as a review is shown',
  'POST /v1/workspaces/{}/deliveries/count': 'reads: asked before the question about an action, which has its own',
};

type Source = { readonly file: string; readonly text: string };
const sources: readonly Source[] = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.generated.ts'))
  .map((file) => ({ file, text: readFileSync(join(SOURCES, file), 'utf8') }));

const STRING = "`[^`]*`|'[^']*'";

/** What a name stands for, where it is an address, by the file that declares it and for all. */
const constants = new Map<string, string>();
for (let round = 0; round < 3; round += 1) {
  for (const { file, text } of sources) {
    for (const [, name = '', written = ''] of text.matchAll(new RegExp(`const (\\w+) = (${STRING})`, 'g'))) {
      const path = filled(written.slice(1, -1), file);
      if (!path.startsWith('/v1')) continue;
      constants.set(`${file} ${name}`, path);
      constants.set(name, path);
    }
  }
}

/** An address with `{}` in the place of whatever is put into it. */
function filled(written: string, file: string): string {
  const known = (name: string): string | undefined => constants.get(`${file} ${name}`) ?? constants.get(name);
  return written
    .replaceAll(/\$\{(\w+)\}/g, (_, name: string) => known(name) ?? '{}')
    .replaceAll(/\$\{[^}]*\}/g, '{}')
    .replaceAll(/\{\w+\}|<\w+>/g, '{}')
    .replace(/\?.*$/s, '');
}

/** The addresses that an expression can be: text, a name of one, or a table or a function that has several. */
function pathsOf(expression: string, file: string): readonly string[] {
  if (/^[`']/.test(expression)) return [filled(expression.slice(1, -1), file)];
  const known = constants.get(`${file} ${expression}`) ?? constants.get(expression);
  if (known !== undefined) return [known];
  const declared =
    new RegExp(`const ${expression}\\b[^;]*;`).exec(sources.map(({ text }) => text).join('\n'))?.[0] ?? '';
  return [...declared.matchAll(new RegExp(STRING, 'g'))].map(([word]) => filled(word.slice(1, -1), file));
}

const found = (pattern: RegExp): readonly { readonly call: string; readonly file: string }[] =>
  sources.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].flatMap(([, method = '', expression = '']) =>
      pathsOf(expression, file).map((path) => ({ call: `${method} ${path}`, file })),
    ),
  );

/** What the portal asks that may change something. */
const asked = found(new RegExp(`\\bapi\\.(POST|PUT|DELETE)\\(\\s*(${STRING}|\\w+)`, 'g'));
/** What it says for a shell. */
const said = found(new RegExp(`method: '(POST|PUT|DELETE)',\\s*path: (${STRING}|\\w+)`, 'g'));

/** Whether what stands for a shell is this call: a part of it may be chosen when it is shown. */
function isOf(shown: string, call: string): boolean {
  const [parts, wanted] = [shown.split('/'), call.split('/')];
  return parts.length === wanted.length && parts.every((part, at) => part === wanted[at] || part === '{}');
}
/** `screens/deliveries`; what the API's room asks for drafts is said where drafts are shown. */
const room = (file: string): string =>
  file.startsWith('api/') ? 'screens/drafts' : file.split('/').slice(0, 2).join('/');

describe('each action of the portal', () => {
  it('is found by the walk over its sources', () => {
    expect(asked.length).toBeGreaterThan(40);
    expect(said.length).toBeGreaterThan(30);
  });

  it('has an equivalent curl command in its folder, or a reason for none', () => {
    const without = asked.filter(
      ({ call, file }) =>
        WITHOUT[call] === undefined && !said.some((one) => room(one.file) === room(file) && isOf(one.call, call)),
    );
    expect(without.map(({ call, file }) => `${call} (${file})`)).toEqual([]);
  });

  it('has no reason that nothing needs', () => {
    expect(Object.keys(WITHOUT).filter((call) => !asked.some((one) => one.call === call))).toEqual([]);
  });

  it('leaves required fields empty instead of sending a placeholder, so that the server refuses them', () => {
    const held = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/body: \{[^}]*'(?:…|\.\.\.)'[^}]*\}/g)].map(([body]) => `${body} (${file})`),
    );
    expect(held).toEqual([]);
  });

  it('names no call for a shell that is never shown', () => {
    const shown = sources.map(({ text }) => text).join('\n');
    for (const { file, text } of sources) {
      for (const [, name = ''] of text.matchAll(/export const (\w+Calls?) = /g)) {
        expect(shown.match(new RegExp(`\\b${name}\\(`, 'g'))?.length ?? 0, `${name} of ${file}`).toBeGreaterThan(0);
      }
    }
  });
});
