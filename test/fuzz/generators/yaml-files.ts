import type { Dice } from '../dice.ts';
import { expressionText } from './expressions.ts';
import { templateText } from './templates.ts';
import { hostileText, mutateText } from './texts.ts';

export type Files = Readonly<Record<string, string>>;

/** What YAML can say and a configuration should not have to. */
const SNIPPETS: readonly string[] = [
  'a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e, *e, *e, *e, *e, *e]\n',
  'a: &a { b: *a }\n',
  'name: *nobody\n',
  '<<: { name: Merged }\n',
  'base: &base { name: x }\n<<: *base\n',
  'name: !!js/function "function () { return 1 }"\n',
  'name: !!binary AAAA\n',
  'name: !<tag:example.com,2026:x> y\n',
  'name: !event.x\n',
  '--- a\n--- b\n',
  '%YAML 9.9\n---\nname: x\n',
  '%TAG ! tag:example.com:\n---\nname: !x y\n',
  '? [complex, key]\n: value\n',
  '? { a: 1 }\n: { b: 2 }\n',
  'name: |\n  text\n more\n',
  'name: >-9\n  x\n',
  'name:\tTabbed\n\tname: x\n',
  '\ufeffname: x\n',
  'name: "\\ud800"\n',
  'name: "\\x00"\n',
  'name: x\0y\n',
  'name: 0777\n',
  'name: 0x1F\n',
  'name: 1_000\n',
  'name: .nan\n',
  'name: -.inf\n',
  'name: 99999999999999999999999999\n',
  'name: 2026-02-30\n',
  'name: yes\nname: no\n',
  'name: ~\n',
  '~: ~\n',
  '__proto__: { admin: true }\n',
  '"__proto__":\n  admin: true\nconstructor: { prototype: { admin: true } }\n',
  'rules: { __proto__: { when: "true" } }\n',
  `${'['.repeat(2_000)}${']'.repeat(2_000)}\n`,
  `${'{a: '.repeat(1_000)}1${'}'.repeat(1_000)}\n`,
  `${Array.from({ length: 3_000 }, (_, at) => `k${at}: ${at}`).join('\n')}\n`,
  `${Array.from({ length: 400 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')}\n`,
  `name: "${'x'.repeat(60_000)}"\n`,
  '[]\n',
  '""\n',
  'null\n',
  '# nothing\n',
  '',
];

const SCALARS: readonly string[] = [
  '',
  '~',
  '[]',
  '{}',
  '0',
  '-1',
  '1e309',
  '.nan',
  'true',
  '"x"',
  '*a',
  '&a x',
  '!!str 1',
  '|',
  '>',
  '90s',
  '0s',
  '-1d',
  '999999999999w',
  '1.5h',
  '[a, a]',
  '{ secret: NAME }',
  '{ secret: "" }',
  'https://partner.invalid/x',
  'http://[::ffff:127.0.0.1]/',
  'file:///etc/passwd',
  'javascript:alert(1)',
];

const ODD_PATHS: readonly string[] = [
  '../escape.yaml',
  '/absolute.yaml',
  'workspaces/../carillon.yaml',
  'workspaces//workspace.yaml',
  'workspaces/__proto__/workspace.yaml',
  'workspaces/constructor/streams/toString.yaml',
  'workspaces/shop/streams/.yaml',
  'workspaces/shop/streams/orders.yml',
  'workspaces/shop/streams/Orders.yaml',
  'workspaces/shop/streams/a/b.yaml',
  'workspaces/shop/templates/order-paid/email.de.html',
  'workspaces/shop/templates/order-paid/sms.txt',
  'workspaces/shop/templates/__proto__/email.txt',
  'workspaces/\ud800/workspace.yaml',
  'workspaces/shop\0/workspace.yaml',
  'workspaces\\shop\\workspace.yaml',
  'carillon.yaml/x',
  '.git/config',
  '',
];

/** A line of YAML: its beginning with the name, and its value. */
const LINE = /^(\s*(?:- )?[^:#]*:)(.*)$/;

function mutateLines(dice: Dice, text: string): string {
  const lines = text.split('\n');
  const at = dice.between(0, lines.length - 1);
  const line = lines[at] ?? '';
  const [, name = line, value = ''] = LINE.exec(line) ?? [];
  switch (dice.between(0, 9)) {
    case 0:
      return lines.toSpliced(at, 1).join('\n');
    case 1:
      return lines.toSpliced(at, 0, line).join('\n');
    case 2:
      return lines.with(at, `${' '.repeat(dice.between(1, 4))}${line}`).join('\n');
    case 3:
      return lines.with(at, `${name} ${JSON.stringify(hostileText(dice))}`).join('\n');
    case 4:
      return lines.with(at, `${name} |\n    ${expressionText(dice)}`).join('\n');
    case 5:
      return lines
        .with(
          at,
          `${name.replace(/[\w-]+/, (word) => dice.pick([word.slice(1), `${word}s`, '__proto__', 'id', 'later']))}${value}`,
        )
        .join('\n');
    case 6:
      return lines.toSpliced(at, 0, dice.pick(SNIPPETS)).join('\n');
    case 7:
      return dice.pick(SNIPPETS);
    case 8:
      return mutateText(dice, text);
    default:
      return lines.with(at, `${name} ${dice.pick(SCALARS)}`).join('\n');
  }
}

/** A folder with one to three files that are not as they should be. */
export function mutateFiles(dice: Dice, files: Files): Files {
  const mutated: Record<string, string> = { ...files };
  for (let slips = dice.between(1, 3); slips > 0; slips -= 1) {
    const path = dice.pick(Object.keys(files));
    const text = mutated[path] ?? '';
    const kind = dice.between(0, 9);
    if (kind === 0) delete mutated[path];
    else if (kind === 1) mutated[dice.pick(ODD_PATHS)] = dice.chance(0.5) ? text : dice.pick(SNIPPETS);
    else if (kind === 2) mutated[path.replace(/[^/]+(?=\.\w+$)/, () => hostileText(dice).slice(0, 300))] = text;
    else mutated[path] = /\.(html|txt)$/.test(path) ? templateText(dice) : mutateLines(dice, text);
  }
  return mutated;
}
