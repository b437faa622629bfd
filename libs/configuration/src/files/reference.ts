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
\`npx carillon diff -f DIR\` shows what would change, \`npx carillon export DIR\` writes the folder of a running deployment.
Applying twice changes nothing. What is gone from the folder is listed and stays; \`--prune\` takes it away.

| file | holds |
|---|---|
${FILE_SECTIONS.map(({ file, title }) => `| \`${file}\` | [${title}](${pageOf(title)}) |`).join('\n')}
| \`workspaces/<workspace>/templates/<template>/email.html\`, \`email.txt\` | the bodies of a template; one of the two is enough. \`email.mjml\` may stand for the first |
| \`workspaces/<workspace>/layouts/<layout>.html\`, \`.mjml\`, \`.txt\` | what stands around the bodies of emails, [\`{{{body}}}\`](templates.md#layouts-and-partials) in the place of each |
| \`workspaces/<workspace>/partials/<partial>.hbs\` | a text that templates and layouts put in: [\`{{> partial}}\`](templates.md#layouts-and-partials) |

Rules for every file:

- Names of workspaces, streams, notifications, rules, templates, layouts, partials, accounts, integrations and JWT providers are \`a-z\`, \`0-9\` and \`-\`. The file's name is the name.
- An **expression** is CEL. It stands unquoted on a line of its own, or after \`|\` on the next line. YAML reads \`when: !event.x\`
  as a tag and \`{ when: f(a, b) }\` as two keys; both are refused with that advice, as are unknown keys and empty values.
- A YAML file has at most 64 KiB.
- A **duration** is a number and a unit: \`90s 30m 2h 1d 1w\`. A day is 24 hours.
- A **secret** never stands in a file: write \`{ secret: NAME }\`. In a workspace it is the variable
  \`CARILLON_SECRET_<WORKSPACE>__NAME\` of the operator's environment (\`-\` becomes \`_\`), or \`NAME\` where the operator lists it
  (\`workspace_secrets\`), else what \`npx carillon secret set NAME\` stored. In \`carillon.yaml\` it is the variable \`NAME\` itself.
- All mistakes are reported at once, each with file, line, column, what was expected and what to do. A line
  that says \`warning:\` keeps nothing from being applied.
- For editors, \`schemas/files/*.schema.json\` describe each kind of file. The first line of a file can name its schema:
  \`# yaml-language-server: $schema=…/schemas/files/notification.schema.json\`
`;

/** Returns the name of the page about a kind of file, beside `configuration.md`. */
function pageOf(title: string): string {
  return `configuration-${title.toLowerCase().replaceAll(' ', '-')}.md`;
}

/** Returns the reference of all files by name of the page in `docs`, made from the same shapes that read the files. */
export function configurationReference(): ReadonlyMap<string, string> {
  return new Map([
    ['configuration.md', HEAD],
    ...FILE_SECTIONS.map((section) => [pageOf(section.title), filePage(section)] as const),
  ]);
}

/** An example comes first, then a table of keys for each variant of the file. */
function filePage({ kind, file, title, text, example }: (typeof FILE_SECTIONS)[number]): string {
  const shape = describedShape(kind);
  const tables = (shape.oneOf ?? [shape]).flatMap((option) => {
    const name = shape.oneOf ? option.properties?.['kind']?.const : undefined;
    return [typeof name === 'string' ? `## \`kind: ${name}\`` : '## Keys', tableOf(option)];
  });
  return `${[
    `${BANNER}\n# ${title}`,
    `The file \`${file}\`. [Configuration](configuration.md) has the rules of every file.`,
    `\`\`\`yaml\n${example.trimEnd()}\n\`\`\``,
    text,
    ...tables,
  ].join('\n\n')}\n`;
}

function tableOf(shape: JsonSchema): string {
  const rows = rowsOf(shape, '');
  const lines = rows.map(({ path, required, schema }) =>
    [`\`${path}\`${required ? ' **required**' : ''}`, typeOf(schema), defaultOf(schema), meaningOf(schema)].join(' | '),
  );
  return ['| key | type | default | meaning |', '|---|---|---|---|', ...lines.map((line) => `| ${line} |`)].join('\n');
}

/**
 * Returns one row per key, followed by the keys of its group. Leaves out the account of the deployment, which has a
 * separate table.
 */
function rowsOf(shape: JsonSchema, prefix: string): readonly Row[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    const row = { path, required: shape.required?.includes(name) ?? false, schema };
    const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : null;
    const inner = values?.properties ? rowsOf(values, `${path}.<name>.`) : rowsOf(schema, `${path}.`);
    return [row, ...inner, ...choiceRows(schema, `${path}.`)];
  });
}

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
      return { ...row, schema: { ...row.schema, description: `With \`from: ${from}\`: ${description}` } };
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
