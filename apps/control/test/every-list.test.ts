import type { ResourceBodies } from '@carillon/domain/configuration';
import { orderShop, type Wish } from '@carillon/testing/given';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import type { ApiDocument, Operation } from '../src/index.ts';
import { accessOf, openControl, type Fixture, publishWishes } from './control-fixture.ts';

/* What every operation that reads has in common, asked of each that the description has. */

type Read = { readonly path: string; readonly url: string; readonly operation: Operation };

const WORKSPACE: Wish = {
  ref: { kind: 'workspace', workspace: 'shop', name: '' },
  body: {} satisfies ResourceBodies['workspace'],
};
const PLACES: Readonly<Record<string, string>> = { workspace: 'shop', kind: 'notifications', number: '1' };

let fixture: Fixture;
let reads: readonly Read[];
let document: ApiDocument;
beforeAll(async () => {
  fixture = await openControl(accessOf(deploymentOwner('session')));
  const { control } = fixture;
  await publishWishes(fixture, [WORKSPACE, ...orderShop()]);
  document = control.description();
  reads = Object.entries(document.paths).flatMap(([path, { get: operation }]) =>
    operation
      ? [{ path, operation, url: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => PLACES[name] ?? 'some') }]
      : [],
  );
});
afterAll(() => fixture.control.app.close());

type Schema = { readonly $ref?: string; readonly properties?: Readonly<Record<string, Schema>> };
/** The fields of what an operation answers. */
function answeredBy({ responses }: Operation): readonly string[] {
  const { content } = responses['200'] as { content?: Readonly<Record<string, { readonly schema: Schema }>> };
  const schema = content?.['application/json']?.schema;
  const name = schema?.$ref?.split('/').at(-1);
  const named: Schema | undefined = name === undefined ? schema : document.components.schemas[name];
  return Object.keys(named?.properties ?? {});
}
const takenBy = ({ parameters = [] }: Operation): readonly string[] =>
  (parameters as readonly { readonly in: string; readonly name: string }[])
    .filter((one) => one.in === 'query')
    .map(({ name }) => name);

const lists = (): readonly Read[] => reads.filter(({ operation }) => answeredBy(operation).includes('items'));
const paged = (): readonly Read[] => reads.filter(({ operation }) => takenBy(operation).includes('cursor'));

async function refusalOf(url: string) {
  const answer = await fixture.control.app.inject({ method: 'GET', url });
  const { code, pointer, detail } = answer.json<{ code?: string; pointer?: string; detail?: string }>();
  return { status: answer.statusCode, code, pointer, detail };
}
const refused = (pointer: string) => ({ status: 400, code: 'invalid_request', pointer });

describe('Every list of the management API', () => {
  it('accepts limit and cursor, and returns the cursor of its next page', () => {
    expect(lists().length).toBeGreaterThan(40);
    for (const { path, operation } of lists()) {
      expect(takenBy(operation), path).toEqual(expect.arrayContaining(['limit', 'cursor']));
      expect(answeredBy(operation), path).toContain('next');
    }
  });

  it('refuses a limit below 1 or above the maximum and names the parameter', async () => {
    for (const { url, operation } of lists()) {
      for (const limit of ['0', '501', '-1', '1.5', 'all', '']) {
        const asked = `${url}?limit=${limit}${needs(operation)}`;
        expect(await refusalOf(asked), asked).toMatchObject(refused('/limit'));
      }
    }
  });

  it('refuses a cursor that it did not issue and names the parameter', async () => {
    for (const { url, operation } of paged()) {
      const taken = `${url}?cursor=${Buffer.from('["made up"]'.repeat(5)).toString('base64url')}${needs(operation)}`;
      expect(await refusalOf(taken), taken).toMatchObject(refused('/cursor'));
    }
  });
});

describe('Every operation that reads', () => {
  it('refuses an unknown query parameter, names it and lists the known ones', async () => {
    expect(reads.length).toBeGreaterThan(90);
    for (const { url, operation } of reads) {
      const asked = `${url}?colour=blue${needs(operation)}`;
      const { detail, ...refusal } = await refusalOf(asked);
      expect(refusal, asked).toEqual(refused('/colour'));
      expect(detail, asked).toMatch(takenBy(operation).length === 0 ? /takes no parameters/ : /did you mean|known: /);
    }
  });
});

/** Parameters that an operation cannot be asked without, something plausible each. */
function needs({ parameters = [] }: Operation): string {
  const needed = (parameters as readonly { in: string; name: string; required?: boolean; schema?: { type?: string } }[])
    .filter((one) => one.in === 'query' && one.required === true)
    .map(({ name, schema }) => `&${name}=${PLAUSIBLE[name] ?? (schema?.type === 'integer' ? '1' : 'some')}`);
  return needed.join('');
}
const PLAUSIBLE: Readonly<Record<string, string>> = {
  address: 'ada@example.com',
  from: '1',
  topics: 'deliveries',
  action: 'resend',
  part: 'message',
};
