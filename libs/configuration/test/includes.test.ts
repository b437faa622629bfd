import {
  planChanges,
  readConfigurationFolder,
  writeConfigurationFolder,
  type FileFault,
  type Plan,
} from '@carillon/configuration';
import { EMPTY_CONFIGURATION, foldConfiguration, type Configuration } from '@carillon/domain/configuration';
import { givenTemplates } from '@carillon/testing/given';
import { describe, expect, test } from 'vitest';
import { goodFolder } from './support/folder.ts';
import { smallLanguage } from './support/small-language.ts';

// The product's own templates: what matters here is what they say of texts that were put together.
const templates = givenTemplates();
type Files = Readonly<Record<string, string | null>>;
const W = 'workspaces/shop';
const MAIL = `${W}/templates/order-paid`;
const BASIC = `${W}/layouts/basic.html`;
const FOOTER = `${W}/partials/footer.hbs`;
/** A template in a layout with a partial, in two languages. */
const WHOLE: Files = {
  [`${MAIL}/email.yaml`]: 'subject: Paid {{total}}\nlayout: basic\n',
  [`${MAIL}/email.html`]: '<p>Paid {{total}}</p>\n{{> footer}}\n',
  [`${MAIL}/email.de.yaml`]: 'subject: Bezahlt {{total}}\n',
  [`${MAIL}/email.de.html`]: '<p>Bezahlt {{total}}</p>\n',
  [`${MAIL}/sms.txt`]: 'Paid {{total}}\n',
  [`${MAIL}/sms.de-AT.txt`]: 'Bezahlt {{total}}\n',
  [`${MAIL}/push.yaml`]: 'title: Paid\n',
  [`${MAIL}/push.de.yaml`]: 'title: Bezahlt\n',
  [BASIC]: '<body>{{{body}}}</body>\n',
  [`${W}/layouts/basic.txt`]: '{{{body}}}\n',
  [FOOTER]: '<i>{{shop}}</i>\n',
};
const read = (changes: Files, current: Configuration = EMPTY_CONFIGURATION) => {
  const files = Object.entries({ ...goodFolder, ...WHOLE, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return readConfigurationFolder(new Map(files), { language: smallLanguage, templates, current });
};
const shown = ({ file, line, column, message, expected, fix }: FileFault): string =>
  `${file}:${line}:${column} ${message}; expected ${expected}; ${fix}`;
const told = (changes: Files): string[] => read(changes).faults.map(shown);
let ids = 0;
const newId = (kind: 'notification' | 'rule'): string =>
  `${kind === 'rule' ? 'rul' : 'ntf'}_${String((ids += 1)).padStart(26, '0')}`;
const plan = (current: Configuration, changes: Files, prune = false): Plan =>
  planChanges(current, read(changes, current).resources, { prune, newId, language: smallLanguage, templates });
const applied = (changes: Files = {}): Configuration => {
  const changesOf = plan(EMPTY_CONFIGURATION, changes).record;
  const record = { changes: changesOf };
  return foldConfiguration(EMPTY_CONFIGURATION, record, 0).configuration;
};

describe('a template with a layout, partials and languages', () => {
  test('warns of a complete page inside a layout', () => {
    const warnings = (changes: Files): string[] =>
      read(changes)
        .warnings.filter(({ file }) => file.startsWith(MAIL))
        .map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`);
    expect(warnings({})).toEqual([]);
    expect(warnings({ [`${MAIL}/email.html`]: '<header>Paid</header>\n' })).toEqual([]);
    const page = { [`${MAIL}/email.html`]: '\n<!DOCTYPE html>\n<html><body>Paid</body></html>\n' };
    const message = 'The body has its own <!DOCTYPE>, but it is put inside the layout basic, which is a page already';
    expect(warnings(page)).toEqual([`${MAIL}/email.html:2:1 ${message}`]);
    const alone = { [`${MAIL}/email.yaml`]: 'subject: Paid {{total}}\n', [`${MAIL}/email.de.html`]: '<p>Bezahlt</p>' };
    expect(warnings({ ...page, ...alone })).toEqual([]);
  });

  test('is read from its files and written to the same files', () => {
    expect(told({})).toEqual([]);
    const current = applied();
    const written = writeConfigurationFolder(current);
    for (const [file, text] of Object.entries(WHOLE)) expect([file, written.get(file)]).toEqual([file, text]);
    const again = planChanges(
      current,
      readConfigurationFolder(written, { language: smallLanguage, templates, current }).resources,
      {
        prune: true,
        newId,
        language: smallLanguage,
        templates,
      },
    );
    expect(again.record).toEqual([]);
  });

  test('changes with its layout or partial, and with nothing else', () => {
    const current = applied();
    const notes = (changes: Files) =>
      plan(current, changes).changes.flatMap(({ ref, notes: said }) =>
        said.map((note) => `${ref.kind} ${ref.name}: ${note}`),
      );
    expect(notes({ [BASIC]: '<body class="b">{{{body}}}</body>\n' })).toEqual([
      'layout basic: changes the template order-paid',
    ]);
    expect(notes({ [FOOTER]: '<b>{{shop}}</b>\n' })).toEqual(['partial footer: changes the template order-paid']);
    expect(notes({ [`${MAIL}/sms.txt`]: 'Paid\n' })).toEqual([]);
    const unused = { [`${W}/partials/spare.hbs`]: 'x' };
    expect(
      plan(applied(unused), { [`${W}/partials/spare.hbs`]: 'y' }).changes.find(({ ref }) => ref.name === 'spare')
        ?.notes,
    ).toEqual(['no template uses it']);
  });

  test('prevents the removal of its layout and partial', () => {
    const current = applied();
    const without = (gone: string) => {
      // Of the folder all but one file; the template stays in the configuration.
      const { faults } = plan(
        current,
        Object.fromEntries(Object.keys(WHOLE).map((file) => [file, file === gone ? null : (WHOLE[file] ?? null)])),
        true,
      );
      return faults.map(({ message }) => message);
    };
    expect(without(FOOTER)).toEqual(['the partial footer would be removed and is needed here']);
    expect(
      plan(current, { [BASIC]: null, [`${W}/layouts/basic.txt`]: null }, true).faults.map(({ message }) => message),
    ).toEqual(['the layout basic would be removed and is needed here']);
  });

  test('outside the folder is checked with a layout or partial of the folder', () => {
    const current = applied();
    const alone = (changes: Readonly<Record<string, string>>): string[] => {
      const files = { [`${W}/workspace.yaml`]: 'name: Shop\n', ...changes };
      const folder = readConfigurationFolder(new Map(Object.entries(files)), {
        language: smallLanguage,
        templates,
        current,
      });
      const made = planChanges(current, folder.resources, { prune: false, newId, language: smallLanguage, templates });
      return [...folder.faults, ...made.faults.map(folder.faultAt)].map(shown);
    };
    expect(alone({ [FOOTER]: '<b>{{shop}}</b>\n' })).toEqual([]);
    expect(alone({ [FOOTER]: 'x {{{shop}}}' })).toEqual([
      `${FOOTER}:1:3 Unescaped output ({{{...}}} or {{&...}}) is refused in html; expected a template that can be rendered; Use {{...}}: event data comes from outside, and unescaped it could put its own links and forms into your mail.`,
    ]);
    expect(alone({ [`${W}/layouts/basic.txt`]: '{{{body}}}' })).toEqual([
      expect.stringContaining(
        'the template order-paid could not be rendered with this change: the layout basic has nothing for html',
      ),
    ]);
  });
});

describe('a mistake in a layout or partial is reported with file, line and fix', () => {
  test.each<[string, Files, readonly (string | RegExp)[]]>([
    [
      'a partial that holds itself',
      { [FOOTER]: 'a\n {{> footer}}' },
      [`${FOOTER}:2:2 The partial footer includes itself: footer, which includes footer`],
    ],
    [
      'two partials that hold each other',
      { [FOOTER]: '{{> other}}', [`${W}/partials/other.hbs`]: '{{> footer}}' },
      [
        `${FOOTER}:1:1 The partial other includes itself: other, which includes footer, which includes other`,
        `${W}/partials/other.hbs:1:1 The partial footer includes itself: footer, which includes other, which includes footer`,
      ],
    ],
    [
      'thirty partials',
      { [`${MAIL}/email.html`]: '<p>\n'.concat('{{> footer}}\n'.repeat(30)) },
      [`${MAIL}/email.html:22:1 The template includes more than 20 partials`],
    ],
    [
      'a partial that is not there',
      { [`${MAIL}/sms.txt`]: 'x\n{{> fooder}}\n' },
      [`${MAIL}/sms.txt:2:1 there is no partial fooder`],
    ],
    [
      'a layout without a body',
      { [BASIC]: '<body></body>\n' },
      [`${BASIC}:1:1 the layout does not say where the text of a template goes`],
    ],
    [
      'a layout with its body in two braces',
      { [BASIC]: '<body>\n  {{body}}</body>\n' },
      [
        /basic\.html:2:3 the text of a template is inserted with three braces.*write \{\{\{body\}\}\}; \{\{body\}\} is a variable named body/,
      ],
    ],
    [
      'a layout with two bodies',
      { [BASIC]: '{{{body}}}{{{body}}}' },
      [`${BASIC}:1:11 {{{body}}} occurs 2 times in this layout`],
    ],
    [
      'an empty layout',
      { [BASIC]: ' \n' },
      [`${BASIC}:1:1 basic.html is empty`, `${MAIL}/email.yaml:2:9 the layout basic has nothing for html`],
    ],
    [
      'a layout that is not there',
      { [`${MAIL}/email.yaml`]: 'subject: Paid\nlayout: basik\n' },
      [/email\.yaml:2:9 there is no layout basik; expected basic; did you mean basic\?/],
    ],
    [
      'a block that a partial does not close',
      { [FOOTER]: 'a\n{{#if shop}}b' },
      [`${FOOTER}:2:14 A block is not closed at the end of the template`],
    ],
    [
      'a block that only the layout closes',
      { [`${MAIL}/email.html`]: '{{#if a}}x', [BASIC]: '{{{body}}}{{/if}}' },
      [`${BASIC}:1:11 Did not expect the end of a block`, `${MAIL}/email.html:1:11 A block is not closed`],
    ],
    ['a partial that is unescaped in html', { [FOOTER]: '<i>\n{{{shop}}}</i>' }, [`${FOOTER}:2:1 Unescaped output`]],
    [
      'more tags than one template may have, all of them together',
      { [FOOTER]: '{{a}}'.repeat(300), [`${MAIL}/email.html`]: '{{> footer}}{{> footer}}' },
      [`${FOOTER}:1:996 The template has more than 500 tags`],
    ],
    [
      'a language of a template that is gone',
      { [`${W}/templates/gone/email.de.html`]: '<p>' },
      [
        `${W}/templates/gone/email.de.html:1:1 this is for readers of de alone, and there is nothing for everybody else; expected email.html; write ${W}/templates/gone/email.html, or remove this file`,
      ],
    ],
    [
      'a channel that is gone and still has a language',
      { [`${MAIL}/push.yaml`]: null },
      [`${MAIL}/push.de.yaml:1:1 this is for readers of de alone`],
    ],
    [
      'a locale that does not exist',
      { [`${MAIL}/sms.de_DE.txt`]: 'x', [`${MAIL}/sms.klingonisch.txt`]: 'x', [`${MAIL}/sms.de-at.txt`]: 'x' },
      [
        `${MAIL}/sms.de-at.txt:1:1 de-at is not a language; expected a tag such as de or de-AT; call it sms.de-AT.txt`,
        `${MAIL}/sms.de_DE.txt:1:1 de_DE is not a language; expected a tag such as de or de-AT; call it sms.de-DE.txt`,
        `${MAIL}/sms.klingonisch.txt:1:1 klingonisch is not a language`,
      ],
    ],
    [
      'a language without a part',
      { [`${MAIL}/email.txt`]: 'Paid\n', [`${MAIL}/push.yaml`]: 'title: Paid\ndata: { order: "1" }\n' },
      [
        `${MAIL}/email.de.yaml:1:1 the variant for de has no text, which the template without a language has; expected every part of the template in de, so that no message mixes languages; write its text in de`,
        `${MAIL}/push.de.yaml:1:1 the variant for de has no data.order`,
      ],
    ],
    [
      'a language without its head',
      { [`${MAIL}/email.de.yaml`]: null },
      [`${MAIL}/email.de.yaml:1:1 email.de.yaml is missing`],
    ],
    [
      'a setting in one language',
      { [`${MAIL}/push.de.yaml`]: 'title: x\npriority: high\n' },
      [/push\.de\.yaml:2:1 .*priority/],
    ],
    [
      'a mistake in one language',
      { [`${MAIL}/sms.de-AT.txt`]: 'x\n{{#if a}}', [`${MAIL}/email.de.html`]: '{{nope a}}' },
      [`${MAIL}/email.de.html:1:1 There is no helper nope`, `${MAIL}/sms.de-AT.txt:2:9 A block is not closed`],
    ],
    [
      'a file of no kind',
      { [`${W}/layouts/basic.yaml`]: 'x', [`${W}/partials/a.html`]: 'x' },
      [/basic\.yaml:1:1 this is no file/, /a\.html:1:1 this is no file/],
    ],
    ['a name that is none', { [`${W}/partials/Big One.hbs`]: 'x' }, [/the name "Big One" cannot be used/]],
  ])('%s', (_what, changes, expected) => {
    const found = told(changes);
    for (const [at, words] of expected.entries()) {
      if (typeof words === 'string') expect(found[at]?.slice(0, words.length)).toBe(words);
      else expect(found[at]).toMatch(words);
    }
    expect(found).toHaveLength(expected.length);
  });
});
