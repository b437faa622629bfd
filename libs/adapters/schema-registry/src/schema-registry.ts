import { setTimeout as pause } from 'node:timers/promises';
import { CarillonError, messageOf } from '@carillon/kernel';
import type { SchemaRegistry } from '@carillon/ports';
import { COMPATIBILITY, SchemaRegistry as ConfluentRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { agentOf, type RegistryConnection, TIMEOUT } from './connection.ts';

/** Readers go out before writers: what is as strict as that, or stricter. */
const GOOD_ENOUGH: ReadonlyMap<string, COMPATIBILITY> = new Map(
  [COMPATIBILITY.BACKWARD, COMPATIBILITY.BACKWARD_TRANSITIVE, COMPATIBILITY.FULL, COMPATIBILITY.FULL_TRANSITIVE].map(
    (level) => [level, level],
  ),
);

const CONFLICT_PAUSE_MS = 100;
const ATTEMPTS = 5;

/** The library's own client of the registry: its public functions parse schemas and forget their text. */
type Api = {
  readonly Schema: { find(of: { readonly id: number }): Promise<Answer<{ readonly schema: string }>> };
  readonly Subject: {
    registered(of: {
      readonly subject: string;
      readonly body: { readonly schema: string };
    }): Promise<Answer<{ readonly id: number }>>;
    config(of: { readonly subject: string }): Promise<Answer<{ readonly compatibilityLevel: string }>>;
    updateConfig(of: {
      readonly subject: string;
      readonly body: { readonly compatibility: string };
    }): Promise<Answer<unknown>>;
  };
};
type Answer<Data> = { data(): Data };

export type KafkaSchemaRegistry = SchemaRegistry & {
  /** The id of a schema that is registered under the subject, or null; asks the registry each time and changes nothing. */
  find(subject: string, schema: string): Promise<number | null>;
  close(): void;
};

/** Schemas in a registry that speaks Confluent's interface. Every subject of ours is held to backward compatibility. */
export function createSchemaRegistry(connection: RegistryConnection): KafkaSchemaRegistry {
  const { url, username, password, timeout = TIMEOUT } = connection;
  if (!/^https?:\/\/[^/]/.test(url)) {
    throw new CarillonError(
      'invalid_configuration',
      `the schema registry needs an http or https address, not "${url}"`,
    );
  }
  const host = url.replace(/\/+$/, '');
  const agent = agentOf(connection);
  const registry = new ConfluentRegistry({
    host,
    agent,
    clientId: 'carillon',
    ...(username !== undefined && { auth: { username, password: password ?? '' } }),
  });
  const { api } = registry as unknown as { readonly api: Api };
  const texts = new Map<number, string>();
  const queues = new Map<string, Promise<unknown>>();

  /**
   * Returns the compatibility level of a subject, or null if none was set. An interrupted registration leaves `NONE`.
   */
  async function heldTo(subject: string): Promise<COMPATIBILITY | null> {
    const level = await unlessMissing(api.Subject.config({ subject }));
    const found = level?.data().compatibilityLevel.toUpperCase() ?? null;
    if (found === null) return null;
    const enough = GOOD_ENOUGH.get(found);
    if (enough) return enough;
    if (found !== 'NONE') {
      throw new CarillonError(
        'invalid_configuration',
        `subject ${subject} of the schema registry is held to ${found}; Carillon needs BACKWARD or stricter`,
      );
    }
    await api.Subject.updateConfig({ subject, body: { compatibility: COMPATIBILITY.BACKWARD } });
    return COMPATIBILITY.BACKWARD;
  }

  /**
   * A conflict is repeated: registries also say so to programs that bring a new subject at the same moment. The library
   * does where it finds the subject of another one, who has not yet said what it is held to.
   */
  async function register(subject: string, schema: string, attempts = ATTEMPTS): Promise<number> {
    try {
      return await registerOnce(subject, schema);
    } catch (error) {
      const passes = statusOf(error) === 409 || isHeldToOther(error);
      if (!passes || attempts <= 1) throw error;
    }
    await pause(CONFLICT_PAUSE_MS * (1 + Math.random()));
    return register(subject, schema, attempts - 1);
  }

  async function registerOnce(subject: string, schema: string): Promise<number> {
    const compatibility = (await heldTo(subject)) ?? COMPATIBILITY.BACKWARD;
    const { id } = await registry.register({ type: SchemaType.AVRO, schema }, { subject, compatibility });
    return id;
  }

  /** Runs work per subject in sequence, because the first registration sets the level that the next one reads. */
  function inTurn<T>(subject: string, work: () => Promise<T>): Promise<T> {
    const turn = (queues.get(subject) ?? Promise.resolve()).then(work, work);
    queues.set(subject, turn);
    return turn;
  }

  async function answered<T>(what: string, work: Promise<T>): Promise<T> {
    const ending = new AbortController();
    const late = pause(timeout, undefined, { signal: ending.signal }).then(() => {
      throw new Error(`no answer within ${timeout} ms`);
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      throw faultOf(`${what} (schema registry ${new URL(host).host})`, error);
    } finally {
      ending.abort();
    }
  }

  return {
    async register(subject, schema) {
      const text = normalized(schema);
      return answered(
        `registering ${subject}`,
        inTurn(subject, () => register(subject, text)),
      );
    },
    async schema(id) {
      const known = texts.get(id);
      if (known !== undefined) return known;
      const found = await answered(`reading schema ${id}`, unlessMissing(api.Schema.find({ id })));
      if (!found) return null;
      const text = found.data().schema;
      texts.set(id, text);
      return text;
    },
    async find(subject, schema) {
      const looked = api.Subject.registered({ subject, body: { schema: normalized(schema) } });
      const found = await answered(`looking for ${subject}`, unlessMissing(looked));
      return found ? found.data().id : null;
    },
    close: () => agent.destroy(),
  };
}

/** Text without the spaces that mean nothing, so that how a file is laid out does not make another schema of it. */
function normalized(schema: string): string {
  try {
    return JSON.stringify(JSON.parse(schema));
  } catch (error) {
    throw new CarillonError('invalid_request', `the Avro schema is not valid JSON: ${messageOf(error)}`);
  }
}

const statusOf = (error: unknown): number | null => {
  const status: unknown = error instanceof Error ? (error as unknown as Record<string, unknown>)['status'] : null;
  return typeof status === 'number' ? status : null;
};

const isHeldToOther = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ConfluentSchemaRegistryCompatibilityError';

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/**
 * Statuses that the library reports if it got no response. A registry itself answers 422 to a request it does not
 * understand.
 */
const NOBODY_ANSWERED: ReadonlySet<number> = new Set([400, 408]);
const LIBRARY_WORDS = /^carillon - (?:Error, status 40[08]: )?/;

/** An incompatible schema or a refused credential needs a person; anything else may pass. */
function faultOf(what: string, error: unknown): CarillonError {
  if (error instanceof CarillonError) return error;
  const status = statusOf(error);
  const detail = `${what}: ${messageOf(error).replace(LIBRARY_WORDS, '')}`;
  if (status === 409) {
    return new CarillonError(
      'invalid_configuration',
      `${detail}. The registered schema cannot be read with this one: is another, newer version of Carillon in use?`,
      {},
      { cause: error },
    );
  }
  const refused = status !== null && status >= 400 && status < 500 && !NOBODY_ANSWERED.has(status);
  const code = refused ? 'invalid_configuration' : 'log_unavailable';
  return new CarillonError(code, detail, {}, { cause: error });
}
