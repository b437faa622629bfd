import { schemaChanges, type Schema, type Schemas } from './schema-changes.ts';

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
type Parameter = { readonly in: string; readonly name: string; readonly required?: boolean; readonly schema: Schema };
type Operation = {
  readonly operationId: string;
  /** One, or several of which any one will do; none: for everybody. */
  readonly 'x-carillon-permission'?: string | readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
/** What of an OpenAPI document clients rely on. */
export type ApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
};

type Compare = ReturnType<typeof schemaChanges>;

/** What breaks clients of the API between two documents, one sentence each, in order. */
export function apiChanges(before: ApiDocument, now: ApiDocument): readonly string[] {
  const today = operationsOf(now);
  const asked = schemaChanges(before.components.schemas, now.components.schemas, 'asked');
  const answered = schemaChanges(before.components.schemas, now.components.schemas, 'answered');
  const found = [...operationsOf(before)].flatMap(([address, operation]) => {
    const other = today.get(address);
    if (!other) return [`${operation.operationId}: is gone`];
    return [
      ...identityChanges(operation, other),
      ...parameterChanges(operation, other, asked),
      ...bodyChanges(operation, other, asked),
      ...answerChanges(operation, other, answered),
    ];
  });
  return [...new Set(found)].toSorted();
}

/** By method and path; how a part of a path is called concerns nobody who sends it. */
function operationsOf({ paths }: ApiDocument): ReadonlyMap<string, Operation> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, one]) => [`${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`, one] as const,
      ),
    ),
  );
}

function identityChanges(before: Operation, now: Operation): readonly string[] {
  const { operationId: id } = before;
  const [had, needed] = [before, now].map((one) => [one['x-carillon-permission'] ?? []].flat());
  const lost = needed?.length === 0 ? [] : (had ?? []).filter((one) => needed?.includes(one) !== true);
  const isClosed = had?.length === 0 && needed?.length !== 0;
  return [
    ...(now.operationId === id ? [] : [`${id}: is called ${now.operationId} now`]),
    ...(isClosed || lost.length > 0 ? [`${id}: needs the permission ${needed?.join(' or ')} now`] : []),
  ];
}

function parameterChanges(before: Operation, now: Operation, asked: Compare): readonly string[] {
  const { operationId: id, parameters: old = [] } = before;
  const isSame = (a: Parameter, b: Parameter): boolean => a.in === b.in && a.name === b.name;
  const inPaths = (one: Operation): readonly Parameter[] => (one.parameters ?? []).filter((own) => own.in === 'path');
  const kept = old.flatMap((one) => {
    const at = inPaths(before).indexOf(one);
    const other = at === -1 ? now.parameters?.find((own) => isSame(own, one)) : inPaths(now)[at];
    if (!other) return [`${id}: the ${one.in} parameter ${one.name} is gone`];
    return asked(one.schema, other.schema, `${id} ${one.in} ${one.name}`);
  });
  const needed = (now.parameters ?? []).filter(
    (one) =>
      one.in !== 'path' && one.required === true && !old.some((own) => isSame(own, one) && own.required === true),
  );
  return [...kept, ...needed.map((one) => `${id}: the ${one.in} parameter ${one.name} must be given now`)];
}

function bodyChanges(before: Operation, now: Operation, asked: Compare): readonly string[] {
  const { operationId: id, requestBody: old } = before;
  const isNeeded = now.requestBody?.required === true && old?.required !== true;
  return [
    ...(isNeeded ? [`${id}: a body must be given now`] : []),
    ...contentChanges(old?.content, now.requestBody?.content, `${id} body`, asked, (own, other) => [own, other]),
  ];
}

function answerChanges(before: Operation, now: Operation, answered: Compare): readonly string[] {
  const { operationId: id } = before;
  return Object.entries(before.responses).flatMap(([status, { content }]) => {
    const other = now.responses[status];
    // What can go wrong is named by codes; one that no longer comes breaks nobody.
    if (!other) return Number(status) < 400 ? [`${id}: is answered with ${status} no longer`] : [];
    return contentChanges(content, other.content, `${id} ${status}`, answered, (own, today) => [today, own]);
  });
}

function contentChanges(
  before: Content = {},
  now: Content = {},
  place: string,
  compare: Compare,
  inOrder: (before: Schema, now: Schema) => readonly [inner: Schema, outer: Schema],
): readonly string[] {
  return Object.entries(before).flatMap(([type, { schema = {} }]) => {
    const other = now[type];
    if (!other) return [`${place}: has no ${type} any more`];
    return compare(...inOrder(schema, other.schema ?? {}), place);
  });
}
