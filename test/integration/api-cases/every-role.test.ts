import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIds, createSealing, createSecrets, createTextSealer, loadKeys } from '@carillon/adapter-system';
import { TOKEN_SCOPES } from '@carillon/domain/people';
import { forEachConcurrently } from '@carillon/stages';
import { openTopology, type Topology } from '@carillon/testing/topology';
import {
  account,
  givenExpressions,
  givenMjml,
  givenTemplates,
  integration,
  orderShop,
  workspaceSettings,
} from '@carillon/testing/given';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  PERMISSIONS,
  ROLES_WITH,
  SCOPE_PERMISSIONS,
  type Permission,
} from '../../../apps/control/src/access/permission.ts';
import type { Stopwatches } from '../../../apps/control/src/access/processor-budget.ts';
import type { Control, ControlPorts } from '../../../apps/control/src/index.ts';
import { accessOf, openControl, personWith } from '../../../apps/control/test/control-fixture.ts';
import { readApiDocument, type Operation } from '../../e2e/screens/api-document.ts';
import { OPERATIONS, type ProperCall } from '../product/operations.ts';
import { neededBy } from '../product/permissions-table.ts';

/* Every operation of the management API, called by every role and scope, without a process. Thousands of generated cases are a proof. */

const ROLES = ['owner', 'editor', 'operator', 'viewer'] as const;
const rolePermissions = (role: (typeof ROLES)[number]): readonly Permission[] =>
  PERMISSIONS.filter((permission) => ROLES_WITH[permission].includes(role));
const CALLERS: readonly (readonly [name: string, permissions: readonly Permission[]])[] = [
  ...ROLES.map((role) => [role, rolePermissions(role)] as const),
  ...TOKEN_SCOPES.map((scope) => [`scope ${scope}`, SCOPE_PERMISSIONS[scope]] as const),
];

/** Values that replace each field of a proper body, one at a time. */
const WRONG_VALUES = [null, -1, `\u0000${'x'.repeat(5_000)}`, { a: { b: [1] } }] as const;
/** Calls that would take long as the table has them. */
const SHORT: Readonly<Record<string, ProperCall>> = {
  'GET /v1/workspaces/{workspace}/live': { query: 'topics=deliveries,events&for=1ms' },
};

const PLACES: Readonly<Record<string, string>> = { workspace: 'shop', kind: 'notifications', number: '1' };
const NAMES: Readonly<Record<string, string>> = {
  notifications: 'order-paid',
  templates: 'order-paid',
  rules: 'order-paid.paid',
  streams: 'orders',
  integrations: 'crm',
  accounts: 'mail',
  secrets: 'NONE',
  '{kind}': 'order-paid',
};
/** Returns the path with names that exist, where the fixture has any. */
function urlOf(name: string): { readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'; readonly url: string } {
  const [method = '', path = ''] = name.split(' ');
  const kind = /([^/]+)\/\{name\}/.exec(path)?.[1] ?? '';
  const url = path
    .replace('{name}', NAMES[kind] ?? 'none')
    .replaceAll(/\{(\w+)\}/g, (_, place: string) => PLACES[place] ?? 'none');
  return { method: method as 'GET', url };
}

let topology: Topology;
let ports: Partial<ControlPorts>;
let folder = '';
const [templates, mjml] = [givenTemplates(), givenMjml()];
const operations = readApiDocument();

beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(
    workspaceSettings({ name: 'Shop' }),
    ...orderShop(),
    integration('crm', {
      kind: 'lookup',
      url: 'https://crm.example.com/recipients',
      authorization: { key: { secret: 'NONE' } },
    }),
    account('mail', { kind: 'smtp', host: 'smtp.example.com', port: 587, from: 'Shop <shop@example.com>' }),
  );
  folder = mkdtempSync(join(tmpdir(), 'carillon-every-role-'));
  const { secretStore: store, people } = topology.data;
  const keys = loadKeys(folder, {});
  const parts = { store, masterKeys: keys.masterKeys, ids: createIds(keys.ledgerKey), clock: topology.clock };
  const { vault, rotation, values } = createSealing({ ...parts, ledgerKey: keys.ledgerKey, alone: (work) => work() });
  ports = {
    ...topology.data,
    ...topology.ports,
    people,
    vault,
    rotation,
    secrets: createSecrets(store, values, {}, { listed: [], own: () => new Set() }),
    undoSealer: createTextSealer(keys.pepper, 'undo'),
    runSealer: createTextSealer(keys.pepper, 'run'),
    backup: async () => ({ bytes: 1 }),
    expressions: givenExpressions,
    templates,
    mjml,
  };
});
afterAll(async () => {
  await topology.close();
  await templates.close();
  await mjml.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens the control role for callers with these permissions. Each call is of another person, because each has a rate. */
async function open(permissions: readonly Permission[]): Promise<Control> {
  const access = accessOf(personWith('ann', permissions));
  let calls = 0;
  const who = async () => personWith(`ann-${(calls += 1)}`, permissions);
  const { control } = await openControl({ ...access, who, stillWho: who }, ports, {}, { stopwatches: NO_TIME });
  return control;
}
/** Charges nothing: the budget of processor time has its own tests. */
const NO_TIME: Stopwatches = { threadMs: () => 0, wallMs: () => 0 };

/** Calls that run concurrently: a refusal is held back for 100 ms. */
const CONCURRENCY = 32;

type Answer = { readonly status: number; readonly type: string; readonly content: unknown };

async function call(control: Control, operation: Operation, { body, csv, query }: ProperCall): Promise<Answer> {
  const { method, url } = urlOf(operation.name);
  const payload = csv ?? (body && JSON.stringify(body));
  const answer = await control.app.inject({
    method,
    url: query === undefined ? url : `${url}?${query}`,
    ...(payload !== undefined && {
      headers: { 'content-type': csv === undefined ? 'application/json' : 'text/csv' },
      payload,
    }),
  });
  const [type = ''] = (answer.headers['content-type'] ?? '').split(';');
  const content: unknown = type.endsWith('json') ? JSON.parse(answer.body) : answer.body;
  return { status: answer.statusCode, type, content };
}

/** Returns what a response has that the description does not say, and failures of the server. */
function faultsOf(operation: Operation, { status, type, content }: Answer): readonly string[] {
  const faults = operation.checkResponse(status, type, content);
  return status >= 500 || status === 429 ? [`${status}: ${JSON.stringify(content)}`, ...faults] : faults;
}

const proper = ({ name }: Operation): ProperCall => SHORT[name] ?? OPERATIONS[name] ?? {};

/** Returns calls that differ from the proper one in one field of the body, or in the query. */
function wrongCalls(operation: Operation): readonly ProperCall[] {
  const { body, query, ...others } = proper(operation);
  const bodies = Object.keys(body ?? {}).flatMap((field) =>
    WRONG_VALUES.map((value): ProperCall => ({ ...others, body: { ...body, [field]: value } })),
  );
  const queries = ['limit=0&from=never', 'cursor=x', `${query ?? ''}&colour=blue`];
  return [
    ...bodies,
    ...(body ? [{ body: [] }, { body: { ...body, colour: 'blue' } }] : []),
    ...queries.map((wrong): ProperCall => ({ ...others, ...(body && { body }), query: wrong })),
  ];
}

/** Operations that give permissions to others. The caller needs those that the proper call gives, too. */
const GIVING: readonly string[] = ['POST /v1/invitations', 'POST /v1/tokens'];

/** Returns null for operations about the caller, who has to be a person that exists, and for those that need no credential. */
const isEnough = (operation: Operation, permissions: readonly Permission[]): boolean | null => {
  const [method = '', path = ''] = operation.name.split(' ');
  const needed = neededBy(method, path);
  if (needed === undefined) throw new Error(`${operation.name} has no row in permissions-table.ts`);
  if (typeof needed === 'string') return null;
  const isGiven = !GIVING.includes(operation.name) || permissions.includes('read');
  return isGiven && needed.some((permission) => permissions.includes(permission));
};

describe('Every operation of the management API', () => {
  it.each(CALLERS)('lets %s in or refuses, as the table of permissions says', async (_name, permissions) => {
    const control = await open(permissions);
    const answers = new Map<Operation, Answer>();
    await forEachConcurrently(operations, CONCURRENCY, async (operation) => {
      answers.set(operation, await call(control, operation, proper(operation)));
    });
    // Afterwards, because compiling the schemas takes longer than a server waits for a body.
    const faults = [...answers].flatMap(([operation, answer]) => {
      const isOpen = isEnough(operation, permissions);
      const isWrong = isOpen !== null && isOpen === (answer.status === 403);
      return [
        ...faultsOf(operation, answer).map((fault) => `${operation.name}: ${fault}`),
        ...(isWrong ? [`${operation.name}: ${answer.status}, but the table says ${isOpen ? 'open' : 'closed'}`] : []),
      ];
    });
    expect(faults).toEqual([]);
    await control.app.close();
  });

  it.each(['owner', 'viewer'] as const)(
    'rejects invalid values of a caller who is %s as its description says',
    async (role) => {
      const control = await open(rolePermissions(role));
      const faults: string[] = [];
      let calls = 0;
      // One after the other of an operation, so that writes of one thing do not compete.
      await forEachConcurrently(operations, CONCURRENCY, async (operation) => {
        for (const wrong of wrongCalls(operation)) {
          const answer = await call(control, operation, wrong);
          calls += 1;
          for (const fault of faultsOf(operation, answer))
            faults.push(`${operation.name} ${JSON.stringify(wrong).slice(0, 200)}: ${fault}`);
        }
      });
      expect(faults).toEqual([]);
      expect(calls).toBeGreaterThan(1_000);
      await control.app.close();
    },
  );
});
