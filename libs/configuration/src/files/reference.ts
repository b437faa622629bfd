import { FILE_SECTIONS } from './reference-sections.ts';
import { describedShape, type JsonSchema } from './json-schemas.ts';

type Row = {
  readonly path: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
};

const BANNER = '<!-- Written by `node schemas/generate.ts` from libs/shapes; do not edit. -->';

const HEAD = `${BANNER}
# Configuration

Everything that Carillon does is in one folder of text files. Each kind of file has a page with an example and all its keys. \`npx carillon apply -f DIR\` puts it into force,
\`npx carillon diff -f DIR\` shows what would change, \`npx carillon export DIR\` writes the folder of a running deployment. What is gone from the folder stays, unless
you add \`--prune\`.

| file | holds |
|---|---|
${FILE_SECTIONS.map(({ file, title }) => `| \`${file}\` | [${title}](${pageOf(title)}) |`).join('\n')}
| \`workspaces/<workspace>/templates/<template>/email.html\`, \`email.txt\` | the bodies of a template; one is enough. \`email.mjml\` may replace the first |
| \`workspaces/<workspace>/layouts/<layout>.html\`, \`.mjml\`, \`.txt\` | [frames of emails](templates.md#layouts-and-partials), with \`{{{body}}}\` |
| \`workspaces/<workspace>/partials/<partial>.hbs\` | [shared texts](templates.md#layouts-and-partials): \`{{> partial}}\` |

Rules for every file:

- Names are \`a-z\`, \`0-9\` and \`-\`. The file's name is the name of its resource.
- An **expression** is [CEL](expressions.md). It stands unquoted on a line of its own, or after \`|\` on the next line, because YAML reads \`when: !event.x\`
  as a tag and \`{ when: f(a, b) }\` as two keys.
- A YAML file has at most 64 KiB.
- A **duration** is a number and a unit: \`90s 30m 2h 1d 1w\`. A day is 24 hours.
- A **secret** never stands in a file: write \`{ secret: NAME }\`. [Secrets](secrets.md) says where its value comes from.
- All mistakes are reported at once, each with its place and what to do. A \`warning:\` prevents nothing.
- For editors, the first line of a file can name its schema:
  \`# yaml-language-server: $schema=…/schemas/files/notification.schema.json\`
`;

/** Returns the name of the page about a kind of file, beside `configuration.md`. */
function pageOf(title: string): string {
  return `configuration-${title.toLowerCase().replaceAll(' ', '-')}.md`;
}

/** Returns the reference of all files by name of the page in `docs`, made from the same shapes that read the files. */
export function configurationReference(): ReadonlyMap<string, string> {
  const groups: Groups = new Map();
  return new Map([
    ['configuration.md', HEAD],
    ...FILE_SECTIONS.map((section) => [pageOf(section.title), filePage(section, groups)] as const),
  ]);
}

/** Returns the page of a section: an example, the keys that several variants of the file have, and a table of keys per variant. */
function filePage(
  { kind, file, title, text, example, variant }: (typeof FILE_SECTIONS)[number],
  groups: Groups,
): string {
  const shape = describedShape(kind);
  const tables = shape.oneOf
    ? tablesOfKinds(shape.oneOf)
    : ['## Keys', tableOf(withoutRepeats(linesOf(shape), pageOf(title), groups))];
  return `${[
    `${BANNER}\n# ${title}`,
    `The file \`${file}\`. [Configuration](configuration.md) has the rules of every file.`,
    yamlBlock(example),
    text,
    ...tables,
    ...(variant ? variantParts(variant) : []),
  ].join('\n\n')}\n`;
}

const yamlBlock = (example: string): string => `\`\`\`yaml\n${example.trimEnd()}\n\`\`\``;

/** The section about a file that has some of the keys of its page. */
function variantParts({ kind, file, text, example }: NonNullable<(typeof FILE_SECTIONS)[number]['variant']>): string[] {
  const keys = Object.keys(describedShape(kind).properties ?? {});
  return [
    '## In one language',
    `The file \`${file}\`, with the keys ${keys.map((key) => `\`${key}\``).join(', ')}.`,
    yamlBlock(example),
    text,
  ];
}

/** Returns a table of the keys that two or more kinds describe alike, and a table of the other keys of each kind. */
function tablesOfKinds(shapes: readonly JsonSchema[]): readonly string[] {
  const kinds = shapes.map((shape) => ({ name: String(shape.properties?.['kind']?.const), lines: linesOf(shape) }));
  const kindsOf = new Map<string, string[]>();
  for (const { name, lines } of kinds) {
    for (const line of lines) kindsOf.set(textOf(line), [...(kindsOf.get(textOf(line)) ?? []), `\`${name}\``]);
  }
  const isShared = (line: Line): boolean => (kindsOf.get(textOf(line)) ?? []).length > 1;
  const shared = new Map(kinds.flatMap(({ lines }) => lines.filter(isShared)).map((line) => [textOf(line), line]));
  const rows = [...shared].map(([text, line]): Line => ({
    ...line,
    meaning: `${kindsOf.get(text)?.join(', ')}: ${line.meaning}`,
  }));
  return [
    '## Keys of several kinds',
    tableOf(rows),
    ...kinds.flatMap(({ name, lines }) => [`## \`kind: ${name}\``, tableOf(lines.filter((line) => !isShared(line)))]),
  ];
}

type Line = { readonly key: string; readonly type: string; readonly otherwise: string; readonly meaning: string };

const linesOf = (shape: JsonSchema): readonly Line[] =>
  rowsOf(shape, '').map(({ path, required, schema }) => ({
    key: `\`${path}\`${required ? ' **required**' : ''}`,
    type: typeOf(schema),
    otherwise: defaultOf(schema),
    meaning: meaningOf(schema),
  }));

/** Where the keys of a group were listed first, by their texts. */
type Groups = Map<string, { readonly page: string; readonly key: string }>;

/** Leaves out the keys of a group that an earlier group listed alike, and refers to that group. */
function withoutRepeats(lines: readonly Line[], page: string, groups: Groups): readonly Line[] {
  const kept: Line[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const path = pathOf(line);
    const prefix = `\`${path}.`;
    const below = lines.slice(at + 1);
    const end = below.findIndex(({ key }) => !key.startsWith(prefix));
    const inner = end === -1 ? below : below.slice(0, end);
    const text = inner.map((each) => textOf({ ...each, key: each.key.replace(prefix, '') })).join('\n');
    const first = groups.get(text);
    if (inner.length === 0 || !first) {
      kept.push(line);
      if (inner.length > 0) groups.set(text, { page, key: path });
      continue;
    }
    const link = first.page === page ? `\`${first.key}\`` : `[\`${first.key}\`](${first.page})`;
    kept.push({ ...line, meaning: `${line.meaning} Keys as in ${link}.` });
    at += inner.length;
  }
  return kept;
}

const pathOf = ({ key }: Line): string => /^`([^`]*)`/.exec(key)?.[1] ?? '';

const textOf = ({ key, type, otherwise, meaning }: Line): string => `| ${key} | ${type} | ${otherwise} | ${meaning} |`;

const tableOf = (lines: readonly Line[]): string =>
  ['| key | type | default | meaning |', '|---|---|---|---|', ...lines.map(textOf)].join('\n');

/**
 * Returns one row per key, followed by the keys of its group. Leaves out the account of the deployment, which has a
 * separate table.
 */
function rowsOf(shape: JsonSchema, prefix: string): readonly Row[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    const row = { path, required: shape.required?.includes(name) ?? false, schema };
    if (isSecret(schema)) return [row];
    const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : null;
    const inner = values?.properties ? rowsOf(values, `${path}.<name>.`) : rowsOf(schema, `${path}.`);
    return [row, ...inner, ...choiceRows(schema, `${path}.`)];
  });
}

/** Returns true for a reference `{ secret: NAME }`. */
const isSecret = ({ properties = {} }: JsonSchema): boolean => Object.keys(properties).join(' ') === 'secret';

/**
 * Returns the reference rows of a group with variants, such as a source. Each row's description names the value of
 * `from` that its variant needs.
 */
function choiceRows(schema: JsonSchema, prefix: string): readonly Row[] {
  return (schema.oneOf ?? []).flatMap((option) => {
    const from = option.properties?.['from']?.const;
    if (typeof from !== 'string') return [];
    return rowsOf(option, prefix).map((row) => {
      const { description = '' } = row.schema;
      return { ...row, schema: { ...row.schema, description: `\`from: ${from}\`: ${description}` } };
    });
  });
}

function typeOf(schema: JsonSchema): string {
  if (schema.kind) return schema.kind;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``.replaceAll('"', '');
  if (schema.enum) return schema.enum.map((word) => `\`${String(word)}\``).join(', ');
  if (schema.oneOf) return schema.oneOf[0]?.properties?.['from']?.const === undefined ? 'an account' : 'keys';
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.items) return `list of ${typeOf(schema.items)}`;
  if (typeof schema.additionalProperties === 'object') {
    const { additionalProperties: values } = schema;
    return values.properties ? 'keys by name' : `${typeOf(values)} by name`;
  }
  if (isSecret(schema)) return 'secret';
  if (schema.properties) return 'keys';
  const names: Readonly<Record<string, string>> = {
    string: 'text',
    integer: 'whole number',
    boolean: '`true`, `false`',
  };
  return names[String(schema.type)] ?? String(schema.type);
}

function defaultOf(schema: JsonSchema): string {
  if (schema.otherwise !== undefined) return cell(schema.otherwise);
  if (schema.default === undefined) return '';
  return `\`${typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default)}\``;
}

function meaningOf(schema: JsonSchema): string {
  const [example] = schema.examples ?? [];
  if (example === undefined) return cell(schema.description ?? '');
  const text = typeof example === 'string' ? example : JSON.stringify(example).replaceAll(/"([a-z_]+)":/g, '$1: ');
  return cell(`${schema.description ?? ''} Example: \`${text}\``);
}

/** Keeps a text inside its cell: a bar would end it, and \`<name>\` outside code would be taken for HTML. */
const cell = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '&lt;').replaceAll('>', '&gt;') : part))
    .join('`');
