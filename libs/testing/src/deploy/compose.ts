import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

export const COMPOSE_FOLDER = resolve(import.meta.dirname, '../../../../deploy/compose');

/** A service as its file has it, with anchors and other files of the same deployment taken in. */
export type ComposeService = {
  readonly image: string;
  readonly build?: {
    readonly context: string;
    readonly dockerfile?: string;
    readonly dockerfile_inline?: string;
    readonly target?: string;
  };
  /** Arguments of the image's own program. */
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] } & Readonly<Record<string, unknown>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly [other: string]: unknown;
};

export type ComposeFile = {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
};

type Mapping = Record<string, unknown>;
const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Merges like `docker compose -f A -f B`, as far as our files need it: mappings are merged, everything else is
 * replaced.
 */
function merged(base: unknown, over: unknown): unknown {
  if (!isMapping(base) || !isMapping(over)) return over ?? base;
  const keys = [...new Set([...Object.keys(base), ...Object.keys(over)])];
  return Object.fromEntries(keys.map((key) => [key, merged(base[key], over[key])]));
}

function readOne(file: string): Mapping {
  const read: unknown = parse(readFileSync(join(COMPOSE_FOLDER, file), 'utf8'), { merge: true });
  if (!isMapping(read)) throw new Error(`${file} is not a mapping`);
  return read;
}

/** A service that says `extends` has what that service of the other file has, and more. */
function extended(service: unknown): unknown {
  if (!isMapping(service) || !isMapping(service['extends'])) return service;
  const { extends: from, ...own } = service;
  const { file, service: name } = from as { readonly file: string; readonly service: string };
  const { services } = readOne(file);
  return merged(isMapping(services) ? extended(services[name]) : undefined, own);
}

/** Reads a deployment of `deploy/compose` from its files, the later over the earlier. */
export function readCompose(...files: readonly string[]): ComposeFile {
  const whole = files.map((file) => {
    const { services, ...rest } = readOne(file);
    const each = isMapping(services) ? Object.entries(services) : [];
    return { ...rest, services: Object.fromEntries(each.map(([name, service]) => [name, extended(service)])) };
  });
  return whole.reduce<unknown>(merged, {}) as ComposeFile;
}

/** How a role is run and asked for its health in deploy/compose: tests start the very same. */
export type ComposeRole = {
  /** Arguments of `carillon`. */
  readonly command: readonly string[];
  /** Where it names a secret by the path that it has in a container, here is the file of `deploy/compose`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Program and arguments that end with 0 when the role is ready. Files are those of the image: `/app` is the bundle. */
  readonly healthcheck: readonly string[];
};

/** The services that run `carillon`, by name. */
export function readComposeServices(...files: readonly string[]): Readonly<Record<string, ComposeRole>> {
  const { services, secrets } = readCompose(...(files.length === 0 ? ['compose.yaml'] : files));
  const here = (value: string): string => {
    const name = /^\/run\/secrets\/([\w-]+)$/.exec(value)?.[1];
    return name === undefined ? value : join(COMPOSE_FOLDER, secrets[name]?.file ?? name);
  };
  const ours = Object.entries(services).filter(([, { build }]) => build?.dockerfile !== undefined);
  return Object.fromEntries(
    ours.map(([name, { command = [], environment = {}, healthcheck }]) => {
      const [kind, ...check] = healthcheck?.test ?? [];
      if (kind !== 'CMD') throw new Error(`the health check of ${name} is not a program with its arguments`);
      const moved = Object.entries(environment).map(([variable, value]) => [variable, here(value)] as const);
      return [name, { command, environment: Object.fromEntries(moved), healthcheck: check }];
    }),
  );
}
