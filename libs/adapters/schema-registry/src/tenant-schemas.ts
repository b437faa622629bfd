import { readJson } from '@carillon/domain/events';
import { err, isJsonObject, ok } from '@carillon/kernel';
import type { AvroSchemaSource, OutboundHttp, RegistryTarget } from '@carillon/ports';

/** Bytes of an answer. A table of 1,600 columns has a schema of 400 KiB. */
const MAX_BYTES = 2 * 1024 * 1024;
const LIMITS = { depth: 32, keys: 100 };
const CONNECT_TIMEOUT_MS = 5_000;
const TOTAL_TIMEOUT_MS = 10_000;

/** Reads schemas from registries that tenants name: through the address guard, with a bound on the answer. */
export const createTenantSchemas = (http: Pick<OutboundHttp, 'request'>): AvroSchemaSource => ({
  async schema(registry, id) {
    const answer = await http.request({
      method: 'GET',
      url: `${registry.url.replace(/\/+$/, '')}/schemas/ids/${id}`,
      headers: { accept: 'application/vnd.schemaregistry.v1+json, application/json', ...authorizationOf(registry) },
      body: null,
      maxBytes: MAX_BYTES,
      connectTimeout: CONNECT_TIMEOUT_MS,
      totalTimeout: TOTAL_TIMEOUT_MS,
    });
    if (!answer.ok) return err(answer.error.detail);
    const { status, body } = answer.value;
    if (status === 404) return ok(null);
    if (status === 401 || status === 403) return err('it refuses user name or password');
    if (status !== 200) return err(`its answer has status ${status}`);
    const read = readJson(body, LIMITS);
    const schema = read.ok && isJsonObject(read.value) ? read.value['schema'] : undefined;
    return typeof schema === 'string' ? ok(schema) : err('its answer has no schema: is this a schema registry?');
  },
});

function authorizationOf({ username, password }: RegistryTarget): { readonly authorization?: string } {
  if (username === null && password === null) return {};
  const credential = Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64');
  return { authorization: `Basic ${credential}` };
}
