import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rule } from './rule.ts';
import { isTest, pathOf, root } from './workspace.ts';

/** A sort of thing whose kinds are declared in one place, such as channels. */
type Row = {
  /** Noun for the message: `a channel by its name`. */
  readonly kind: string;
  readonly names: readonly string[];
  /** Source folders that must not contain a name. */
  readonly rooms: RegExp;
  /** Folder of the declarations and of their list, the only place for a name within the rooms. */
  readonly home: string;
  /** Objects with a property per kind: `accounts.email` counts as the name. Defaults to none. */
  readonly tables?: readonly string[];
  /**
   * Whether a name counts anywhere, or only as the value of something called `kind`: compared, in a `switch`, or in an object; and as
   * a key of an object that has another name as a key, because that is a table by kind.
   * `kind` is for names that are words of other things too, such as `lookup`. Defaults to `anywhere`.
   */
  readonly counts?: 'anywhere' | 'kind';
  /** What to do instead. */
  readonly advice: string;
};

/** Returns the names that the files of a folder define under `key`, so that a new kind needs no row here. */
function namesIn(folder: string, key: 'action' | 'kind' | 'topic'): readonly string[] {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  const declaration = new RegExp(`^ {2}${key}: '([\\w.-]+)',$`, 'gm');
  return readdirSync(path).flatMap((file) =>
    [...readFileSync(join(path, file), 'utf8').matchAll(declaration)].flatMap(([, name]) => name ?? []),
  );
}

const PROVIDERS = 'libs/shapes/src/providers/';
const INTEGRATIONS = 'libs/shapes/src/integrations/';
const RECORDS = 'libs/contracts/src/records/';
const JOBS = 'apps/control/src/jobs/kinds/';
/**
 * Rooms that treat all providers and integrations alike. Their adapters, examples of the API and CLI commands name them, and so do the
 * positions and states of sources.
 */
const GENERIC_ROOMS =
  /^(?:libs\/(?:shapes|domain(?!\/src\/changes\/)|ports|configuration|contracts|stages|stores|insight|adapters\/(?!cohorts|kafka|partner-http|postgres|providers)[\w-]+)|apps\/(?:delivery|engine|gateway|portal|control\/src(?!\/openapi\/)|cli\/src\/process))\//;

/** One row per sort of thing. To protect the names of another sort, add a row and a case in `code-rules.test.ts`. */
const ROWS: readonly Row[] = [
  {
    kind: 'a channel',
    names: ['email', 'sms', 'push'],
    rooms: /^libs\/(?:domain|ports|stages|insight)\/src\//,
    home: 'libs/domain/src/channels/',
    tables: ['channels', 'body', 'accounts'],
    advice: 'take what differs between channels from libs/domain/src/channels/channel.ts',
  },
  {
    kind: 'a provider',
    // The sandbox is a mode of the product: messages stay in its inbox.
    names: namesIn(PROVIDERS, 'kind').filter((name) => name !== 'sandbox'),
    rooms: GENERIC_ROOMS,
    home: PROVIDERS,
    counts: 'kind',
    advice: `add what differs between providers to defineProvider in ${PROVIDERS}`,
  },
  {
    kind: 'an integration',
    names: namesIn(INTEGRATIONS, 'kind'),
    rooms: GENERIC_ROOMS,
    home: INTEGRATIONS,
    counts: 'kind',
    advice: `ask for its role, or add what differs between integrations to defineIntegration in ${INTEGRATIONS}`,
  },
  {
    kind: 'a topic',
    names: namesIn(RECORDS, 'topic'),
    // Stages, apps and adapters name the topics that they read and write.
    rooms: /^libs\/(?:contracts|ports|stores)\/src\//,
    home: RECORDS,
    advice: `take it from the list of records in ${RECORDS}log-records.ts`,
  },
  {
    kind: 'a job',
    // A publication by promotion has the origin `promote`.
    names: namesIn(JOBS, 'action').filter((name) => name !== 'promote'),
    rooms: /^(?:apps\/(?!control\/src\/openapi\/)|libs\/(?!testing\/))/,
    home: JOBS,
    advice: `add what differs between kinds of jobs to jobKind in ${JOBS}`,
  },
];

/** Reports the name of a kind outside the folder that declares it, as a literal or as a property of a table. */
export const kindName: Rule = {
  meta: { type: 'problem' },
  create(context) {
    const path = pathOf(context.filename);
    if (isTest(path)) return {};
    const rows = ROWS.filter(({ rooms, home }) => rooms.test(path) && !path.startsWith(home));
    if (rows.length === 0) return {};
    const inKind = rows.filter(({ counts }) => counts === 'kind');
    const anywhere = rows.filter((row) => !inKind.includes(row));
    const check = (
      node: NonNullable<Parameters<typeof context.report>[0]['node']>,
      name: unknown,
      table?: string,
      counted = anywhere,
    ): void => {
      for (const { kind, names, tables = [], advice } of counted) {
        if (typeof name !== 'string' || !names.includes(name)) continue;
        if (table !== undefined && !tables.includes(table)) continue;
        context.report({ node, message: `${kind} by its name: ${advice}` });
      }
    };
    return {
      Literal: (node) => check(node, node.value),
      BinaryExpression({ left, right }) {
        if (isKind(left) && right.type === 'Literal') check(right, right.value, undefined, inKind);
        if (isKind(right) && left.type === 'Literal') check(left, left.value, undefined, inKind);
      },
      SwitchStatement({ discriminant, cases }) {
        if (!isKind(discriminant)) return;
        for (const { test } of cases) if (test?.type === 'Literal') check(test, test.value, undefined, inKind);
      },
      Property({ key, value }) {
        if (nameOf(key) === 'kind' && value.type === 'Literal') check(value, value.value, undefined, inKind);
      },
      ObjectExpression({ properties }) {
        const keys = properties.flatMap((property) => (property.type === 'Property' ? [property.key] : []));
        for (const row of inKind) {
          const named = keys.filter((key) => row.names.includes(nameOf(key) ?? ''));
          if (named.length > 1) for (const key of named) check(key, nameOf(key), undefined, [row]);
        }
      },
      TemplateElement: (node) => check(node, node.value.cooked),
      MemberExpression(node) {
        if (node.computed || node.property.type !== 'Identifier') return;
        check(node, node.property.name, ownerOf(node) ?? '');
      },
    };
  },
};

type Named = {
  readonly type: string;
  readonly name?: string;
  readonly property?: { readonly name?: string };
  readonly expression?: Named;
};

const nameOf = (node: { readonly type: string }): string | undefined => (node as Named).name;

/** Returns true for `kind`, `account.kind` and `account?.kind`. */
function isKind(node: { readonly type: string }): boolean {
  const { type, name, property, expression } = node as Named;
  if (type === 'ChainExpression') return expression !== undefined && isKind(expression);
  return (type === 'MemberExpression' ? property?.name : name) === 'kind';
}

/** Name of the object whose property is read: `accounts` in `accounts.email` and in `body.accounts.email`. */
function ownerOf(node: { readonly object: { readonly type: string } }): string | undefined {
  const { object } = node as { object: { type: string; name?: string; property?: { name?: string } } };
  return object.type === 'MemberExpression' ? object.property?.name : object.name;
}
