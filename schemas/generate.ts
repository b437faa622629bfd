/**
 * Writes what the code and the reader need from this folder: `node schemas/generate.ts`.
 * With `--check` it writes nothing and fails when a generated file is not what it would write.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noticeText } from '../tools/notice.ts';

const schemas = dirname(fileURLToPath(import.meta.url));
export const root = dirname(schemas);
const generatedFolder = 'libs/contracts/src/generated';
/** What the portal lists and draws for each kind of account and integration. */
const KIND_FORMS = 'apps/portal/src/screens/setup/kind-forms.generated.ts';
const banner = '// Written by `node schemas/generate.ts` from schemas/; do not edit.\n';

const formsBanner = '// Written by `node schemas/generate.ts` from libs/shapes; do not edit.\n';

/** Names in code, files in schemas/records, and the topics that carry them (the subject is `<topic>-value`). */
const RECORDS = {
  cohort: { file: 'cohort-message.avsc', topic: 'carillon.cohorts' },
  trigger: { file: 'trigger.avsc', topic: 'carillon.triggers' },
  lookup: { file: 'lookup.avsc', topic: 'carillon.lookups' },
  intent: { file: 'intent.avsc', topic: 'carillon.intents' },
  outcome: { file: 'outcome.avsc', topic: 'carillon.outcomes' },
  receipt: { file: 'receipt.avsc', topic: 'carillon.receipts' },
  consent: { file: 'consent.avsc', topic: 'carillon.consents' },
  evaluation: { file: 'evaluation.avsc', topic: 'carillon.evaluations' },
  deadLetter: { file: 'dead-letter.avsc', topic: 'carillon.dead-letters' },
  audit: { file: 'audit-record.avsc', topic: 'carillon.audit' },
  configuration: { file: 'configuration-record.avsc', topic: 'carillon.config' },
};

const readJson = (...path: string[]): unknown => JSON.parse(readFileSync(join(schemas, ...path), 'utf8'));

/** Prose is for people who read schemas/; without it, a better sentence is not a new schema with a new id. */
function withoutDoc(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDoc);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([name]) => name !== 'doc');
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutDoc(value)]));
}

const schemaText = (...path: string[]): string => JSON.stringify(withoutDoc(readJson(...path)));
const byVersion = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function recordSchemas(): string {
  const versions = readdirSync(join(schemas, 'released')).toSorted(byVersion);
  const entries = Object.entries(RECORDS).map(([name, { file, topic }]) => {
    const released = versions
      .filter((version) => existsSync(join(schemas, 'released', version, file)))
      .map((version) => `      { version: '${version}', schema: ${literal(schemaText('released', version, file))} },`);
    return [
      `  ${name}: {`,
      `    subject: '${topic}-value',`,
      `    current: ${literal(schemaText('records', file))},`,
      '    released: [',
      ...released,
      '    ],',
      '  },',
    ].join('\n');
  });
  return `${banner}export const RECORD_SCHEMAS = {\n${entries.join('\n')}\n} as const;\n`;
}

function topicDefinitions(): string {
  const entries = readdirSync(join(schemas, 'topics'))
    .toSorted()
    .map((file) => {
      const { topic, ...rest } = readJson('topics', file) as { topic: string };
      const fields = Object.entries(rest).map(
        ([name, value]) => `    ${name}: ${typeof value === 'string' ? literal(value) : JSON.stringify(value)},`,
      );
      return `  '${topic}': {\n${fields.join('\n')}\n  },`;
    });
  return `${banner}export const TOPIC_DEFINITIONS = {\n${entries.join('\n')}\n} as const;\n`;
}

/** The document with its tables of roles as the permissions are now; the rest of it is written by hand. */
function withRoles(document: string, tables: string): string {
  const [before, rest] = document.split('<!-- roles -->\n');
  const [, after] = (rest ?? '').split('<!-- /roles -->\n');
  if (before === undefined || after === undefined) throw new Error('docs/people.md has no place for its roles');
  return `${before}<!-- roles -->\n${tables}<!-- /roles -->\n${after}`;
}

/** Every generated file with its text, by path from the root of the repository. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const files = new Map([
    [`${generatedFolder}/record-schemas.generated.ts`, recordSchemas()],
    [`${generatedFolder}/topics.generated.ts`, topicDefinitions()],
  ]);
  // Imported late: the package reads the two files above, which may not be there yet.
  const { accountForms, configurationReference, FILE_SHAPES, fileJsonSchema, integrationForms } = await import('@carillon/configuration');
  files.set('docs/configuration.md', configurationReference());
  for (const kind of Object.keys(FILE_SHAPES) as (keyof typeof FILE_SHAPES)[]) {
    files.set(`schemas/files/${kind}.schema.json`, `${JSON.stringify(fileJsonSchema(kind), null, 2)}\n`);
  }
  const forms = { ACCOUNT_FORMS: accountForms(), INTEGRATION_FORMS: integrationForms() };
  const declarations = Object.entries(forms).map(
    ([name, kinds]) => `export const ${name} = ${JSON.stringify(kinds, null, 2)} as const;\n`,
  );
  files.set(KIND_FORMS, formsBanner + declarations.join('\n'));
  const { apiDocument, roleTables } = await import('@carillon/control');
  files.set('NOTICE', noticeText());
  files.set('docs/people.md', withRoles(readFileSync(join(root, 'docs/people.md'), 'utf8'), roleTables()));
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
