/**
 * Writes what the code and the reader need from this folder: `node schemas/generate.ts`.
 * With `--check` it writes nothing and fails when a generated file is not what it would write.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOG_RECORDS, TOPIC_DEFINITIONS } from '@carillon/contracts';
import { withoutDoc } from '../libs/contracts/src/records/without-doc.ts';
import { noticeText } from '../tools/notice.ts';
import { commandsReference } from './commands-reference.ts';

const schemas = dirname(fileURLToPath(import.meta.url));
export const root = dirname(schemas);
const RELEASED = 'libs/contracts/src/generated/released-schemas.generated.ts';
/** What the portal lists and draws for each kind of account and integration. */
const KIND_FORMS = 'apps/portal/src/screens/setup/kind-forms.generated.ts';
/** The role of each kind of integration, for pages that draw no form. */
const KIND_ROLES = 'apps/portal/src/screens/setup/kind-roles.generated.ts';
const banner = '// Written by `node schemas/generate.ts` from schemas/; do not edit.\n';

const formsBanner = '// Written by `node schemas/generate.ts` from libs/shapes; do not edit.\n';

const readJson = (...path: string[]): unknown => JSON.parse(readFileSync(join(schemas, ...path), 'utf8'));
const byVersion = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Schemas of each record by its name, one per release, older first. */
function releasedSchemas(): string {
  const released = new Map<string, string[]>();
  for (const version of readdirSync(join(schemas, 'released')).toSorted(byVersion)) {
    const files = readdirSync(join(schemas, 'released', version)).filter((file) => file.endsWith('.avsc'));
    for (const file of files.toSorted()) {
      const name = file.slice(0, -'.avsc'.length);
      const schema = JSON.stringify(withoutDoc(readJson('released', version, file)));
      released.set(name, [...(released.get(name) ?? []), `    { version: '${version}', schema: ${literal(schema)} },`]);
    }
  }
  const entries = [...released].map(([name, versions]) => `  '${name}': [\n${versions.join('\n')}\n  ],`);
  const type = 'Readonly<Record<string, readonly { readonly version: string; readonly schema: string }[]>>';
  return `${banner}export const RELEASED_SCHEMAS: ${type} = {\n${entries.join('\n')}\n};\n`;
}

/** JSON on one line, with spaces between its parts. */
function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${oneLine(part)}`);
  return `{ ${parts.join(', ')} }`;
}

/** The Avro schema of a record, one field per line. */
function avroFile({ fields, ...record }: { readonly fields: readonly object[] }): string {
  const head = JSON.stringify(record, null, 2).slice(0, -'\n}'.length);
  const lines = fields.map((field) => `    ${oneLine(field)}`);
  return `${head},\n  "fields": [\n${lines.join(',\n')}\n  ]\n}\n`;
}

/** The document with its tables of roles as the permissions are now; the rest of it is written by hand. */
function withRoles(document: string, tables: string): string {
  const [before, rest] = document.split('<!-- roles -->\n');
  const [, after] = (rest ?? '').split('<!-- /roles -->\n');
  if (before === undefined || after === undefined) throw new Error('docs/roles.md has no place for its roles');
  return `${before}<!-- roles -->\n${tables}<!-- /roles -->\n${after}`;
}

/** Every generated file with its text, by path from the root of the repository. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const files = new Map([[RELEASED, releasedSchemas()]]);
  for (const { name, schema } of Object.values(LOG_RECORDS)) files.set(`schemas/records/${name}.avsc`, avroFile(schema));
  for (const [topic, { owner, description, ...facts }] of Object.entries(TOPIC_DEFINITIONS)) {
    const path = `schemas/topics/${topic.slice('carillon.'.length)}.json`;
    files.set(path, `${JSON.stringify({ topic, owner, description, ...facts }, null, 2)}\n`);
  }
  const { accountForms, configurationReference, FILE_SHAPES, fileJsonSchema, integrationForms } = await import('@carillon/configuration');
  for (const [page, text] of configurationReference()) files.set(`docs/${page}`, text);
  for (const kind of Object.keys(FILE_SHAPES) as (keyof typeof FILE_SHAPES)[]) {
    files.set(`schemas/files/${kind}.schema.json`, `${JSON.stringify(fileJsonSchema(kind), null, 2)}\n`);
  }
  const forms = { ACCOUNT_FORMS: accountForms(), INTEGRATION_FORMS: integrationForms() };
  const declarations = Object.entries(forms).map(
    ([name, kinds]) => `export const ${name} = ${JSON.stringify(kinds, null, 2)} as const;\n`,
  );
  files.set(KIND_FORMS, formsBanner + declarations.join('\n'));
  const roles = Object.fromEntries(forms.INTEGRATION_FORMS.map(({ kind, role }) => [kind, role]));
  files.set(KIND_ROLES, `${formsBanner}export const INTEGRATION_ROLES = ${JSON.stringify(roles, null, 2)} as const;\n`);
  const { apiDocument, roleTables } = await import('@carillon/control');
  files.set('NOTICE', noticeText());
  const { buildProgram } = await import('@carillon/cli');
  files.set('docs/commands.md', commandsReference(buildProgram()));
  files.set('docs/roles.md', withRoles(readFileSync(join(root, 'docs/roles.md'), 'utf8'), roleTables()));
  const { version } = readJson('..', 'package.json') as { readonly version: string };
  files.set('schemas/openapi/management-api.json', `${JSON.stringify(await apiDocument(version), null, 2)}\n`);
  return files;
}

/** Paths of generated files that are missing or differ from what would be written. */
export async function staleFiles(): Promise<readonly string[]> {
  const stale = [];
  for (const [path, text] of await generatedFiles()) {
    const file = join(root, path);
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) stale.push(path);
  }
  return stale;
}

async function run(check: boolean): Promise<void> {
  const stale = await staleFiles();
  if (check) {
    if (stale.length === 0) return;
    console.error(`Not what schemas/ says; run: node ${relative(process.cwd(), join(schemas, 'generate.ts'))}`);
    for (const path of stale) console.error(`  ${path}`);
    process.exitCode = 1;
    return;
  }
  const files = await generatedFiles();
  for (const path of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), files.get(path) ?? '');
    console.log(`wrote ${path}`);
  }
}

if (import.meta.main) await run(process.argv.includes('--check'));
