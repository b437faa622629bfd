import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

type Media = { readonly schema?: object; readonly example?: unknown };
type Content = Readonly<Record<string, Media>>;
type Parameter = {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: object;
};
type Described = {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };

const FILE = join(import.meta.dirname, '../../../schemas/openapi/management-api.json');
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** A call as the document names it: `GET /v1/workspaces/{workspace}/drafts`. */
export type OperationName = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /v1/${string}`;

/** A request of the portal, as the validator sees it. */
export type Asked = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: unknown;
};

/** One operation of the management API, with its checks. A check returns what is wrong; an empty list: nothing. */
export type Operation = {
  readonly name: OperationName;
  /** Returns the values of the path's parameters; null if the path is not of this operation. */
  readonly match: (path: string) => Readonly<Record<string, string>> | null;
  readonly checkRequest: (asked: Asked) => readonly string[];
  readonly checkResponse: (status: number, contentType: string, body: unknown) => readonly string[];
  /** The status of the first success. */
  readonly success: number;
  /** The content type of a success with this status. */
  readonly contentTypeOf: (status: number) => string;
  /** A copy of the example of the first success. */
  readonly example: () => unknown;
};

const escaped = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Reads the description of the management API. Takes about 200 ms, so call it once per process. */
export function readApiDocument(): readonly Operation[] {
  const document = JSON.parse(readFileSync(FILE, 'utf8')) as Document;
  const bodies = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema(document, 'api');
  // Parameters arrive as text.
  const parameters = new Ajv2020({ strict: false, validateFormats: false, coerceTypes: 'array' });
  const compiled = new Map<string, ValidateFunction>();
  const compile = (...steps: readonly string[]): ValidateFunction => {
    const $ref = `api#/paths/${steps.map(escaped).join('/')}`;
    const check = compiled.get($ref) ?? bodies.compile({ $ref });
    compiled.set($ref, check);
    return check;
  };
  // A path with fewer parameters comes first: `/deliveries/count` before `/deliveries/{id}`.
  const parametersOf = (path: string): number => path.split('{').length;
  const paths = Object.entries(document.paths).toSorted(([one], [other]) => parametersOf(one) - parametersOf(other));
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, described]) => operationOf({ path, method, described, compile, parameters })),
  );
}

function operationOf({
  path,
  method,
  described,
  compile,
  parameters,
}: {
  readonly path: string;
  readonly method: string;
  readonly described: Described;
  readonly compile: (...steps: readonly string[]) => ValidateFunction;
  readonly parameters: Ajv2020;
}): Operation {
  const pattern = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
  const success = Object.entries(described.responses).find(([status]) => status.startsWith('2'));
  const checks = new Map<Parameter, ValidateFunction>();
  const checkOf = (parameter: Parameter): ValidateFunction => {
    const check =
      checks.get(parameter) ?? parameters.compile({ type: 'object', properties: { value: parameter.schema } });
    checks.set(parameter, check);
    return check;
  };
  const checkParameter = (parameter: Parameter, asked: Asked): readonly string[] => {
    const { in: place, name, required, schema } = parameter;
    if (place === 'header') return [];
    const given = place === 'path' ? [asked.params[name] ?? ''] : asked.query.getAll(name);
    if (given.length === 0) return required ? [`${name}: is missing`] : [];
    // A list is the parameter several times, or once with commas.
    const isList = (schema as { readonly type?: unknown }).type === 'array';
    return errorsOf(checkOf(parameter), { value: isList ? given.flatMap((text) => text.split(',')) : given[0] }, name);
  };
  const checkBody = ({ contentType, body }: Asked): readonly string[] => {
    const { requestBody } = described;
    if (body === undefined) return requestBody?.required ? ['body: is missing'] : [];
    if (requestBody?.content[contentType] === undefined) return [`body: takes no ${contentType}`];
    return errorsOf(compile(path, method, 'requestBody', 'content', contentType, 'schema'), body, 'body');
  };
  return {
    name: `${method.toUpperCase()} ${path}` as OperationName,
    match(asked) {
      const found = pattern.exec(asked);
      if (!found) return null;
      return Object.fromEntries(
        Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
      );
    },
    checkRequest(asked) {
      const known = new Set((described.parameters ?? []).map(({ name }) => name));
      const stray = [...asked.query.keys()].filter((name) => !known.has(name));
      return [
        ...stray.map((name) => `${name}: is no parameter`),
        ...(described.parameters ?? []).flatMap((parameter) => checkParameter(parameter, asked)),
        ...checkBody(asked),
      ];
    },
    checkResponse(status, contentType, body) {
      const response = described.responses[String(status)];
      if (response === undefined) return [`has no response with status ${status}`];
      if (response.content === undefined) return [];
      if (response.content[contentType] === undefined) return [`${status}: is not of type ${contentType}`];
      const check = compile(path, method, 'responses', String(status), 'content', contentType, 'schema');
      return errorsOf(check, body, String(status));
    },
    success: Number(success?.[0] ?? 200),
    contentTypeOf: (status) => Object.keys(described.responses[String(status)]?.content ?? {})[0] ?? 'application/json',
    example: () => structuredClone(Object.values(success?.[1].content ?? {})[0]?.example),
  };
}

function errorsOf(check: ValidateFunction, value: unknown, where: string): readonly string[] {
  if (check(value)) return [];
  return (check.errors ?? []).map(
    ({ instancePath, message, params }: ErrorObject) => `${where}${instancePath}: ${message} ${JSON.stringify(params)}`,
  );
}
