import { ERRORS, type ErrorCode } from '@carillon/kernel';
import type { FastifyContextConfig } from 'fastify';
import { STRICT_JSON_PROBLEMS } from '../resources/body-json.ts';
import type { RoutePermission } from '../access/permission.ts';
import type { OperationExample } from './operation-example.ts';
import { PROBLEM_SCHEMAS, refusals } from './refusals.ts';

/** The fields of an OpenAPI operation that are used here. */
export type Operation = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
  readonly 'x-carillon-permission'?: RoutePermission;
  /** Audit action of the operation. Absent if the operation is not audited. */
  readonly 'x-carillon-audit'?: string;
  readonly 'x-carillon-problems'?: readonly ErrorCode[];
  /** Set until the document is complete. The example is then moved to the bodies. */
  readonly 'x-carillon-example'?: OperationExample;
  readonly 'x-carillon-success'?: Success;
};

/**
 * Facts about a successful response that the schema lacks, and whether its body is optional. Set until the document is
 * complete.
 */
export type Success = {
  readonly says: NonNullable<FastifyContextConfig['answers']>;
  readonly takesKey: boolean;
  readonly takesNothing: boolean;
};

export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

export type ApiDocument = {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Paths;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
  readonly security: readonly object[];
};

/**
 * Adds what no single route says: the refusals of each operation, what of it needs no credential, the list of tags. Takes
 * out the schemas that nothing refers to.
 */
export function completeDocument(described: object): ApiDocument {
  const { paths, components, ...rest } = described as ApiDocument;
  const completed: Paths = Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, one]) => [method, completeOperation(one, method !== 'get')]),
      ),
    ]),
  );
  const tags = Object.values(completed).flatMap((methods) => Object.values(methods).flatMap((one) => one.tags ?? []));
  return {
    ...rest,
    tags: [...new Set(tags)].toSorted().map((name) => ({ name })),
    paths: completed,
    components: {
      ...components,
      schemas: referredTo(completed, { ...withRoom(components.schemas), ...PROBLEM_SCHEMAS }),
    },
  };
}

function completeOperation(described: Operation, writes: boolean): Operation {
  const { 'x-carillon-example': example, 'x-carillon-success': success, ...operation } = described;
  const { 'x-carillon-permission': permission, requestBody } = operation;
  const codes = problemsOf(operation, writes);
  const taken = requestBody && {
    ...withExample(requestBody, example?.takes),
    required: success?.takesNothing !== true,
  };
  return {
    ...operation,
    ...(permission === 'anybody' && { security: [] }),
    ...(taken && { requestBody: taken }),
    responses: { ...successes(operation, example?.answers, success), ...refusals(codes) },
    'x-carillon-problems': codes,
  };
}

/** The responses that routes declare are successes. The framework describes each of them as `Default Response`. */
const successes = (
  { responses, summary = '' }: Operation,
  example: unknown,
  says: Success | undefined,
): Operation['responses'] =>
  Object.fromEntries(
    Object.entries(responses).map(([status, one]) => {
      const headers = headersOf(says);
      const body = withExample(one, example) as { readonly content?: object };
      return [
        status,
        {
          ...body,
          description: summary,
          ...(Object.keys(headers).length > 0 && { headers }),
          ...(says?.says.includes('yaml') && { content: { ...body.content, ...AS_FILE } }),
        },
      ];
    }),
  );

const header = (description: string): object => ({ description, schema: { type: 'string' } });

const headersOf = (says: Success | undefined): Readonly<Record<string, object>> => ({
  ...(says?.says.includes('etag') && { ETag: header('Value for `If-Match` of the next write') }),
  ...(says?.says.includes('location') && { Location: header('URL of the job') }),
  ...(says?.takesKey && {
    'Idempotent-Replayed': header('`true`: the answer that the same `Idempotency-Key` had before'),
  }),
});

/** Where `Accept` asks for it. */
const AS_FILE = { 'application/yaml': { schema: { type: 'string', description: 'The file of the resource' } } };

/** A body with an example of it. */
function withExample(body: object, example: unknown): object {
  const { content } = body as { readonly content?: Readonly<Record<string, object>> };
  if (content === undefined || example === undefined) return body;
  return {
    ...body,
    content: Object.fromEntries(Object.entries(content).map(([type, one]) => [type, { ...one, example }])),
  };
}

/** All codes that an operation may answer: its own, and those of what it takes and of the server. */
function problemsOf(operation: Operation, writes: boolean): readonly ErrorCode[] {
  const { 'x-carillon-permission': permission, 'x-carillon-problems': own = [] } = operation;
  const takes = operation.requestBody !== undefined;
  const codes: ErrorCode[] = [...own];
  if (takes) codes.push('invalid_json', ...STRICT_JSON_PROBLEMS, 'body_too_large', 'unsupported_media_type');
  if (operation.parameters?.some((one) => 'name' in one && one.name === 'workspace')) codes.push('not_found');
  // Every operation refuses parameters that it does not take.
  codes.push('invalid_request');
  if (permission !== 'anybody') codes.push('unauthorized', 'rate_limited');
  if (permission !== 'anybody' && permission !== 'self') codes.push('forbidden_role');
  // A session of a browser, of a page that is not ours.
  if (writes) codes.push('cross_site');
  // A refusal for lack of permission is audited as well.
  if (permission !== 'anybody' || operation['x-carillon-audit'] !== undefined) codes.push('audit_unavailable');
  codes.push('internal', 'store_unavailable', 'overloaded', 'stopping');
  return [...new Set(codes)].toSorted((a, b) => ERRORS[a].status - ERRORS[b].status || (a < b ? -1 : 1));
}

/**
 * Allows further fields in responses, because later releases may add some. Schemas of requests, which end in `Input`,
 * stay strict.
 */
const withRoom = (schemas: Readonly<Record<string, object>>): Readonly<Record<string, object>> =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, name.endsWith('Input') ? schema : opened(schema)]),
  );

const opened = (schema: object): object =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'additionalProperties' && value === false ? undefined : value,
    ),
  ) as object;

/** The schemas that the paths refer to, and those that these refer to. */
function referredTo(paths: Paths, schemas: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  const kept = new Set<string>();
  const follow = (part: object): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (kept.has(name)) continue;
      kept.add(name);
      follow(schemas[name] ?? {});
    }
  };
  follow(paths);
  return Object.fromEntries([...kept].toSorted().map((name) => [name, schemas[name] ?? {}]));
}
