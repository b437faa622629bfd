import { ERRORS } from '@carillon/kernel';
import { beforeAll, describe, expect, it } from 'vitest';
import { apiDocument, type ApiDocument, type Operation } from '../src/index.ts';

let document: ApiDocument;
let operations: readonly { readonly where: string; readonly operation: Operation }[];
beforeAll(async () => {
  document = await apiDocument('0.1.0');
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ where: `${method} ${path}`, operation })),
  );
});

/** What is a file or a stream, and no JSON: by its media type. */
const TEXTS = {
  taken: { importSuppressions: 'text/csv', importConsents: 'text/csv' },
  answered: {
    exportSuppressions: 'text/csv',
    exportConsents: 'text/csv',
    exportRunRows: 'text/csv',
    followLists: 'text/event-stream',
  },
} satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
const textOf = (of: Readonly<Record<string, string>>, name = ''): string | undefined => of[name];

describe('An operation in the description of the API', () => {
  it('has a unique operation id, a summary and one declared tag', () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { where, operation } of operations) {
      expect(operation.operationId, where).toMatch(/^[a-z]+[A-Za-z]*$/);
      expect(operation.summary?.length, where).toBeGreaterThan(10);
      expect(operation.tags, where).toHaveLength(1);
      expect(tags).toContain(operation.tags?.[0]);
    }
  });

  it('returns a named schema, so that generated clients have named types', () => {
    for (const { where, operation } of operations) {
      const [status = '', success] = Object.entries(operation.responses).find(([one]) => one.startsWith('2')) ?? [];
      expect(status, where).toMatch(/^20[012]$/);
      const text = textOf(TEXTS.answered, operation.operationId);
      if (text !== undefined) {
        expect(success, where).toMatchObject({ content: { [text]: { schema: { type: 'string' } } } });
        continue;
      }
      expect(success, where).toMatchObject({
        description: operation.summary,
        content: {
          'application/json': { schema: { $ref: expect.stringMatching(/^#\/components\/schemas\/\w+$/) as unknown } },
        },
      });
    }
  });

  it('has examples of request and response that match its own schemas', () => {
    type Body = { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> };
    const exampleOf = (body: Body | undefined, text = 'application/json') => body?.content?.[text]?.example;
    for (const { where, operation } of operations) {
      const { operationId: name = '', requestBody, responses } = operation;
      const [success] = Object.values(responses);
      const answered = textOf(TEXTS.answered, name);
      expect(exampleOf(success, answered), where).toBeTypeOf(answered === undefined ? 'object' : 'string');
      const taken = textOf(TEXTS.taken, name);
      if (requestBody)
        expect(exampleOf(requestBody, taken), where).toBeTypeOf(taken === undefined ? 'object' : 'string');
    }
  });

  it('lists its errors with the status and title that it returns', () => {
    for (const { where, operation } of operations) {
      const codes = operation['x-carillon-problems'] ?? [];
      expect(codes.length, where).toBeGreaterThan(3);
      for (const code of codes) {
        expect(operation.responses[ERRORS[code].status], `${where} ${code}`).toMatchObject({
          description: expect.stringContaining(`\`${code}\`: ${ERRORS[code].title}`) as unknown,
          content: {
            'application/problem+json': { schema: { $ref: expect.stringMatching(/\w+Problem$/) as unknown } },
          },
        });
      }
      const closed = operation['x-carillon-permission'] !== 'anybody';
      expect(codes.includes('forbidden_role'), where).toBe(closed && operation['x-carillon-permission'] !== 'self');
      expect(codes.includes('unauthorized') || !closed, where).toBe(true);
      if (where.includes('{name}') || where.includes('{id}')) expect(codes, where).toContain('not_found');
    }
  });

  it('has one named problem schema per status, with the codes of the error table for that status', () => {
    type Narrowed = { readonly allOf: readonly [object, { readonly properties: Record<'status' | 'code', object> }] };
    const statuses = new Map<string, unknown>();
    for (const { where, operation } of operations) {
      for (const [status, answer] of Object.entries(operation.responses)) {
        const { content } = answer as { readonly content: Readonly<Record<string, { readonly schema: object }>> };
        const problem = content['application/problem+json']?.schema as { readonly $ref: string } | undefined;
        if (problem === undefined) continue;
        const name = problem.$ref.split('/').at(-1) ?? '';
        expect(statuses.get(name) ?? status, where).toBe(status);
        statuses.set(name, status);
      }
    }
    expect(statuses.size).toBeGreaterThan(10);
    for (const [name, status] of statuses) {
      const [base, { properties }] = (document.components.schemas[name] as Narrowed).allOf;
      expect(base).toEqual({ $ref: '#/components/schemas/Problem' });
      expect(properties.status).toEqual({ const: Number(status) });
      const codes = Object.entries(ERRORS).filter(([, error]) => String(error.status) === status);
      expect(properties.code, name).toMatchObject({ enum: codes.map(([code]) => code) });
    }
  });

  it('declares its request and response headers, and whether its body is optional', () => {
    const named = (name: string): Operation => {
      const found = operations.find(({ operation }) => operation.operationId === name);
      if (!found) throw new Error(`no operation ${name}`);
      return found.operation;
    };
    const headers = (name: string, status: number): readonly string[] =>
      Object.keys((named(name).responses[status] as { readonly headers?: object }).headers ?? {});
    expect(headers('getNotification', 200)).toEqual(['ETag']);
    expect(headers('saveDraft', 200)).toEqual(['ETag', 'Idempotent-Replayed']);
    expect(headers('resendDeliveries', 202)).toEqual(['Location', 'Idempotent-Replayed']);
    expect(headers('listDeliveries', 401)).toEqual(['WWW-Authenticate']);
    expect(headers('listDeliveries', 429)).toEqual(['Retry-After']);
    const taken = (name: string) =>
      (named(name).parameters ?? []).map((one) => (one as { readonly name: string }).name);
    for (const name of ['putStream', 'saveDraft', 'discardWorkspaceDraft']) expect(taken(name)).toContain('if-match');
    expect(named('getStream').responses[200]).toMatchObject({
      content: { 'application/yaml': { schema: { type: 'string' } } },
    });
    expect(named('runDoctor').requestBody).toMatchObject({ required: false });
    expect(named('putStream').requestBody).toMatchObject({ required: true });
  });

  it('rejects unknown fields in requests, and allows unknown fields in responses', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const closed = JSON.stringify(schema).includes('"additionalProperties":false');
      expect({ name, closed }).toEqual({ name, closed: name.endsWith('Input') });
    }
  });

  it('refers only to schemas that exist, and no schema is unused', () => {
    const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(new Set(referred)).toEqual(new Set(Object.keys(document.components.schemas)));
  });
});
