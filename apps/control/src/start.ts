import { setTimeout as pause } from 'node:timers/promises';
import fastifySwagger from '@fastify/swagger';
import fastifySwaggerUi from '@fastify/swagger-ui';
import type { Duration } from '@carillon/kernel';
import { createHttpServer, startStageConsumer, type HealthSources, type HttpLog } from '@carillon/runtime';
import { createRuleBook, projections } from '@carillon/stages';
import type { Consumption } from '@carillon/ports';
import { jsonSchemaTransform, serializerCompiler } from 'fastify-type-provider-zod';
import { createAccess, guard } from './auth.ts';
import { mailRoute, servePages, sessionRoute } from './pages.ts';
import type { ControlConfig, ControlContext, ControlPorts } from './ports.ts';
import type { ApiServer } from './routes/app.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { cohortRoutes } from './routes/cohorts.ts';
import { configurationRoutes } from './routes/configuration.ts';
import { deliveryRoutes } from './routes/deliveries.ts';
import { deadLetterRoutes, eventRoutes, suppressionRoutes } from './routes/events.ts';
import { integrationRoutes } from './routes/integrations.ts';
import { inboxRoutes, operationRoutes, secretRoutes } from './routes/operations.ts';
import { jwtProviderRoutes } from './routes/jwt-providers.ts';
import { ruleSampleRoute } from './routes/rule-sample.ts';
import { ruleRoutes } from './routes/rules.ts';
import { streamRoutes } from './routes/streams.ts';
import { compileValidator } from './validation.ts';

export type ControlRole = {
  readonly address: string;
  readonly port: number;
  close(): Promise<void>;
};

/** The reference draws with styles of its own; nothing comes from or goes to another server. */
const REFERENCE_POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

const CLOSE_DEADLINE = 3_000;

/** The control role: projections, the management API with its description, and the portal's pages. */
export async function startControl(
  config: ControlConfig,
  ports: ControlPorts,
  health: HealthSources & { readonly log?: HttpLog },
): Promise<ControlRole> {
  const context: ControlContext = { config, ports, book: createRuleBook(ports.compileRule, ports.templates) };
  const server = createHttpServer({
    host: config.host,
    port: config.port,
    portSetting: '--control-port or CARILLON_CONTROL_PORT',
    newRequestId: () => ports.ids.random('request'),
    ...health,
  });
  await addRoutes(server.app, context);
  const listening = await server.listen();
  const consumptions = await startProjections(ports);
  return {
    ...listening,
    async close() {
      await server.close(CLOSE_DEADLINE);
      await Promise.all(consumptions.map((one) => one.stop()));
    },
  };
}

async function addRoutes(app: ReturnType<typeof createHttpServer>['app'], context: ControlContext): Promise<void> {
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(serializerCompiler);
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Carillon management API', version: context.config.version },
      components: { securitySchemes: { owner: { type: 'http', scheme: 'bearer' } } },
      security: [{ owner: [] }],
    },
    // Pages are not part of the API's description.
    transform: (route) =>
      jsonSchemaTransform(route.url.startsWith('/v1') ? route : { ...route, schema: { hide: true } }),
  });
  const access = createAccess(context);
  guard(app, access);
  // The reference is a page like the others: it needs a session, and fetches nothing from elsewhere.
  await app.register(fastifySwaggerUi, { routePrefix: '/docs', staticCSP: REFERENCE_POLICY });
  await app.register(async (scope) => {
    const api = scope as unknown as ApiServer;
    sessionRoute(api, access);
    configurationRoutes(api, context);
    apiKeyRoutes(api, context);
    jwtProviderRoutes(api, context);
    secretRoutes(api, context);
    eventRoutes(api, context);
    deliveryRoutes(api, context);
    deadLetterRoutes(api, context);
    suppressionRoutes(api, context);
    ruleRoutes(api, context);
    ruleSampleRoute(api, context);
    streamRoutes(api, context);
    inboxRoutes(api, context);
    integrationRoutes(api, context);
    cohortRoutes(api, context);
    operationRoutes(api, context);
    api.get('/v1/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  });
  mailRoute(app, context.ports.inbox, access);
  servePages(app, context.config.portalFolder, access);
}

/**
 * What people look up comes up to this much later while events come all the time. Without it each batch would be the few
 * events of one commit, and projecting those costs more than taking them in.
 */
const PROJECTING_REST: Duration = 50;

function startProjections(ports: ControlPorts): Promise<readonly Consumption[]> {
  return Promise.all(
    projections(ports).map(({ topic, stage }) =>
      startStageConsumer({
        group: 'control',
        topic,
        stage,
        log: ports.log,
        checkpoints: ports.checkpoints,
        watch: ports.watch,
        rest: () => pause(PROJECTING_REST),
      }),
    ),
  );
}
