import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apiChanges, type ApiDocument } from './support/api-changes.ts';

/* Programs that use the management API of a released version go on with this one, or a decision record says what breaks. */

const ROOT = join(import.meta.dirname, '../../..');
const RELEASED = join(ROOT, 'schemas/released');
const DECISIONS = join(ROOT, 'docs/decisions');
const readDocument = (path: string): ApiDocument => JSON.parse(readFileSync(path, 'utf8')) as ApiDocument;

const today = readDocument(join(ROOT, 'schemas/openapi/management-api.json'));
const versions = readdirSync(RELEASED).filter((one) =>
  readdirSync(join(RELEASED, one)).includes('management-api.json'),
);

/** Lines of the lists below `## Breaks the API` of all decision records. */
const decided = readdirSync(DECISIONS)
  .flatMap((file) => readFileSync(join(DECISIONS, file), 'utf8').split(/^## /m))
  .filter((part) => part.startsWith('Breaks the API\n'))
  .flatMap((part) => [...part.matchAll(/^- `(.+)`$/gm)].map(([, change]) => change));

test('there is a released API to compare this one with', () => expect(versions.length).toBeGreaterThan(0));

test.each(versions)('nothing that clients of version %s use is broken without a decision record', (version) => {
  const changes = apiChanges(readDocument(join(RELEASED, version, 'management-api.json')), today);
  expect(changes.filter((change) => !decided.includes(change))).toEqual([]);
});

type Json = Record<string, unknown>;
const answer = (schema: Json): Json => ({ description: 'it', content: { 'application/json': { schema } } });

/** A small API, and its parts to change. */
function api() {
  const name: Json = { type: 'string', maxLength: 50 };
  const state: Json = { type: 'string', enum: ['on', 'off'] };
  const input: Json = {
    type: 'object',
    properties: { name, state, tree: { $ref: '#/components/schemas/Input' } },
    required: ['name'],
    additionalProperties: false,
  };
  const sent: Json = {
    type: 'object',
    properties: { by: { const: 'mail' }, to: { type: 'string' } },
    required: ['by'],
  };
  const output: Json = {
    type: 'object',
    properties: { id: { type: 'string' }, note: { type: 'string' }, how: { anyOf: [sent, { type: 'null' }] } },
    required: ['id', 'how'],
    additionalProperties: false,
  };
  const limit: Json = { in: 'query', name: 'limit', required: false, schema: { type: 'integer', maximum: 500 } };
  const path: Json = { in: 'path', name: 'id', required: true, schema: { type: 'string' } };
  const put: Json = {
    operationId: 'setThing',
    'x-carillon-permission': 'configure',
    parameters: [path, limit],
    requestBody: {
      required: false,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Input' } } },
    },
    responses: { '200': answer({ $ref: '#/components/schemas/Output' }), '404': answer({ type: 'object' }) },
  };
  const paths: Record<string, Json> = { '/things/{id}': { put } };
  const document = { paths, components: { schemas: { Input: input, Output: output } } };
  return { document, paths, put, path, limit, name, state, input, output, sent };
}
type Api = ReturnType<typeof api>;
const changed = (change: (one: Api) => unknown): readonly string[] => {
  const now = api();
  change(now);
  return apiChanges(api().document as unknown as ApiDocument, now.document as unknown as ApiDocument);
};
const fieldsOf = (schema: Json): Json => schema['properties'] as Json;

describe('a change that breaks clients is detected', () => {
  test.each<[string, (one: Api) => unknown, string]>([
    ['an operation that is gone', ({ paths }) => delete paths['/things/{id}'], 'setThing: is gone'],
    ['another name of it', ({ put }) => (put['operationId'] = 'putThing'), 'setThing: is called putThing now'],
    [
      'another permission',
      ({ put }) => (put['x-carillon-permission'] = 'people'),
      'setThing: needs the permission people now',
    ],
    [
      'a parameter that is gone',
      ({ put, path }) => (put['parameters'] = [path]),
      'setThing: the query parameter limit is gone',
    ],
    [
      'one that must be given',
      ({ limit }) => (limit['required'] = true),
      'setThing: the query parameter limit must be given now',
    ],
    [
      'a smaller bound',
      ({ limit }) => (limit['schema'] = { type: 'integer', maximum: 100 }),
      'setThing query limit: maximum is 100 now',
    ],
    [
      'a body that must be given',
      ({ put }) => ((put['requestBody'] as Json)['required'] = true),
      'setThing: a body must be given now',
    ],
    [
      'a body in another form',
      ({ put }) => ((put['requestBody'] as Json)['content'] = { 'application/yaml': {} }),
      'setThing body: has no application/json any more',
    ],
    [
      'a field that must be given',
      ({ input }) => (input['required'] = ['name', 'state']),
      'Input.state: must be given now',
    ],
    [
      'a field that is taken no longer',
      ({ input }) => delete fieldsOf(input)['state'],
      'Input.state: is taken no longer',
    ],
    [
      'a value that is taken no longer',
      ({ state }) => (state['enum'] = ['on']),
      'Input.state: "off" is taken no longer',
    ],
    ['a pattern', ({ name }) => (name['pattern'] = '^a'), 'Input.name: has the pattern ^a now'],
    ['a bound where none was', ({ name }) => (name['minLength'] = 1), 'Input.name: minLength is 1 now'],
    ['another type', ({ name }) => (name['type'] = 'integer'), 'Input.name: string is taken no longer'],
    [
      'another status',
      ({ put }) => (put['responses'] = { '201': answer({}) }),
      'setThing: is answered with 200 no longer',
    ],
    ['a field of an answer that is gone', ({ output }) => delete fieldsOf(output)['note'], 'Output.note: is gone'],
    ['one that may be missing', ({ output }) => (output['required'] = ['id']), 'Output.how: may be missing now'],
    [
      'one that may be null',
      ({ output }) => (fieldsOf(output)['id'] = { type: ['string', 'null'] }),
      'Output.id: may be null now',
    ],
    ['another variant', ({ sent }) => (fieldsOf(sent)['by'] = { const: 'sms' }), 'Output.how.by: "sms" may come now'],
  ])('%s', (_name, change, finding) => {
    expect(changed(change)).toEqual([finding]);
  });
});

describe('a change that breaks no client is accepted', () => {
  test.each<[string, (one: Api) => unknown]>([
    ['none', () => undefined],
    ['a new operation', ({ paths, put }) => (paths['/others'] = { get: put })],
    [
      'another name in a path',
      ({ document, paths, path, put }) => {
        path['name'] = 'thing';
        document.paths = { '/things/{thing}': { put } };
        return paths;
      },
    ],
    ['a new field that may be given', ({ input }) => (fieldsOf(input)['more'] = { type: 'string' })],
    ['one more permission that will do', ({ put }) => (put['x-carillon-permission'] = ['operate', 'configure'])],
    ['a wider bound', ({ name }) => (name['maxLength'] = 100)],
    ['one more value that is taken', ({ state }) => (state['enum'] = ['on', 'off', 'idle'])],
    ['a new field of an answer', ({ output }) => (fieldsOf(output)['more'] = { type: 'string' })],
    ['a field of an answer that always comes', ({ output }) => (output['required'] = ['id', 'how', 'note'])],
    ['a variant of an answer that no longer comes', ({ output, sent }) => (fieldsOf(output)['how'] = sent)],
    ['a problem that no longer comes', ({ put }) => delete (put['responses'] as Json)['404']],
  ])('%s', (_name, change) => {
    expect(changed(change)).toEqual([]);
  });
});
