import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { EXAMPLES } from './examples.ts';
import type { OperationExample } from './operation-example.ts';
import { KEY_PROBLEMS, keyHeader, takesKey } from '../idempotency/declaration.ts';
import { completeDocument, type ApiDocument, type Success } from './complete-document.ts';

/**
 * Returns the example of a route, parsed by its schemas. Undefined if it is missing or invalid; a test reports
 * operations without an example.
 */
function exampleOf({ operationId = '', body, response }: FastifySchema): OperationExample | undefined {
  const example = EXAMPLES[operationId];
  const [success] = Object.values(response as Readonly<Record<string, z.ZodType>>);
  const answers = success?.safeParse(example?.answers);
  if (!answers?.success) return undefined;
  if (!(body instanceof z.ZodType)) return { answers: answers.data };
  const takes = body.safeParse(example?.takes);
  return takes.success ? { answers: answers.data, takes: takes.data } : undefined;
}

/** Whether a body may be left out. A resource is taken as any JSON, which its absence is not. */
const isOptional = (body: unknown): boolean =>
  body instanceof z.ZodType && !(body instanceof z.ZodUnknown) && body.safeParse(undefined).success;

/** Where the description is answered, for whoever may read. */
export const DOCUMENT_PATH = '/v1/openapi.json';

/**
 * Describes every route of the management API that is added after this, from the very schemas that check its requests. What
 * is answered reads the description, once all routes are there.
 */
export async function describeApi(app: FastifyInstance, version: string): Promise<() => ApiDocument> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Carillon management API',
        version,
        description: 'Everything that the portal and the command line do. Intake of events is another address.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          owner: {
            type: 'http',
            scheme: 'bearer',
            description:
              'A service token, or the token in the file owner-token of the data folder. Browsers send the cookie of their session instead',
          },
        },
      },
      security: [{ owner: [] }],
    },
    transform: (described) => {
      const { schema, url, route } = described;
      // Pages are not part of the API's description.
      if (!url.startsWith('/v1') || url === DOCUMENT_PATH) return { schema: { hide: true }, url };
      const { permission, audit, problems = [], answers = [] } = route.config ?? {};
      const takes = takesKey(route);
      const given: unknown = schema.headers;
      const named = {
        ...schema,
        'x-carillon-permission': permission,
        ...(typeof audit === 'string' && { 'x-carillon-audit': audit }),
        ...(takes && { headers: given instanceof z.ZodObject ? given.extend(keyHeader) : z.object(keyHeader) }),
        'x-carillon-problems': takes ? [...problems, ...KEY_PROBLEMS] : problems,
        'x-carillon-example': exampleOf(schema),
        'x-carillon-success': {
          says: answers,
          takesKey: takes,
          takesNothing: isOptional(schema.body),
        } satisfies Success,
      };
      return jsonSchemaTransform({ ...described, schema: named });
    },
    transformObject: jsonSchemaTransformObject,
  });
  const read = (): ApiDocument => completeDocument(app.swagger());
  app.get(DOCUMENT_PATH, { config: { permission: 'read' } }, async () => read());
  return read;
}
