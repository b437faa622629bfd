import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RULE_FORMS } from '@carillon/domain/rules';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const FORMS = 'libs/domain/src/rules/forms';
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter(
    (file) => /\.tsx?$/.test(file) && !/\.(test|gen|generated|d)\.tsx?$/.test(file) && existsSync(join(root, file)),
  );
const sourcesOf = (...places: readonly string[]): readonly string[] =>
  files.filter((file) => places.some((place) => file.startsWith(`${place}/src/`)));

/** Kinds of decisions that a form makes, by its sources. */
const kindsOf = (name: string): readonly string[] =>
  files
    .filter((file) => file.startsWith(`${FORMS}/${name}/`))
    .flatMap((file) => [...read(file).matchAll(/\bkind: '(\w+)'/g)].map(([, kind = '']) => kind));

/** Words that also mean something else: the state of a run, a gate, a field of the timeline, and common words. */
const COMMON = ['cancelled', 'totals', 'unless', 'after', 'at', 'event', 'deadline', 'wait', 'waits'];
const isOwn = (word: string): boolean => !COMMON.includes(word);
const KINDS = RULE_FORMS.flatMap(({ name }) => kindsOf(name)).filter(isOwn);
const KEYS = RULE_FORMS.flatMap(({ name, keys }) => [name, ...keys]).filter(isOwn);

/** Returns the words that a source names as a text, a property or a variable. */
const named = (source: string, words: readonly string[]): readonly string[] => {
  const found = source.matchAll(new RegExp(String.raw`(?<![\w-])(?:${words.join('|')})(?![\w-])`, 'g'));
  return [...new Set([...found].map(([word]) => word))];
};

const offenders = (sources: readonly string[], words: readonly string[]): readonly string[] =>
  sources.flatMap((file) => named(read(file), words).map((word) => `${file} names ${word}`));

describe('a form of rules with state', () => {
  it.each(RULE_FORMS.map(({ name, keys }) => ({ name, keys })))(
    '$name is a folder, a shape, a line of the list and on a page about rules',
    ({ name, keys }) => {
      expect(existsSync(join(root, FORMS, name, `${name}.ts`))).toBe(true);
      expect(existsSync(join(root, 'libs/shapes/src/rule-forms', `${name}.ts`))).toBe(true);
      const pages = ['rules', 'compare-events', 'count-events', 'waiting']
        .map((page) => read(`docs/${page}.md`))
        .join('\n');
      expect(keys.filter((key) => !pages.includes(`\`${key}\``))).toEqual([]);
    },
  );

  it('is named in no part that shows decisions', () => {
    expect(KINDS).toEqual(expect.arrayContaining(['in_cooldown', 'deadline_past']));
    expect(KEYS).toEqual(expect.arrayContaining(['after_last', 'cooldown']));
    const showing = sourcesOf('libs/insight', 'apps/cli', 'apps/control').filter((file) => !file.includes('/openapi/'));
    expect(offenders(showing, KEYS)).toEqual([]);
    const withPortal = [...showing, ...sourcesOf('apps/portal')];
    const literals = KINDS.map((kind) => `'${kind}'`);
    expect(offenders(withPortal, literals)).toEqual([]);
  });

  it('is imported through the list only', () => {
    const names = RULE_FORMS.map(({ name }) => name).join('|');
    const inner = new RegExp(String.raw`from '[^']*/forms/(?:${names})/`);
    expect(files.filter((file) => !file.startsWith(`${FORMS}/`) && inner.test(read(file)))).toEqual([]);
  });

  it('is found in a source as a whole word only', () => {
    expect(named(`saw.kind === 'in_cooldown'`, ["'in_cooldown'"])).toEqual(["'in_cooldown'"]);
    expect(named('body.after_last', ['after_last', 'cooldown'])).toEqual(['after_last']);
    expect(named('cooldowns', ['cooldown'])).toEqual([]);
  });
});
