import { writeConfigurationFolder } from '@carillon/configuration';
import { appliedBody, configurationFiles, planBody } from '@carillon/contracts';
import { z } from 'zod';
import { applyFolder, planFolder } from '../configuration.ts';
import type { ControlContext } from '../ports.ts';
import { OWNER, type ApiServer } from './app.ts';

const folder = z.strictObject({ files: configurationFiles, prune: z.boolean().default(false) });

export function configurationRoutes(app: ApiServer, { ports }: ControlContext): void {
  const bodyLimit = 16 * 1024 * 1024;
  app.post(
    '/v1/configuration/plan',
    { bodyLimit, schema: { body: folder, response: { 200: planBody } } },
    async ({ body }) => {
      const planned = await planFolder(body, ports);
      return planned.body;
    },
  );

  app.post(
    '/v1/configuration/apply',
    { bodyLimit, schema: { body: folder, response: { 200: appliedBody } } },
    async ({ body }) => applyFolder(body, OWNER, ports),
  );

  const exported = z.object({ number: z.int(), files: configurationFiles });
  app.get('/v1/configuration/export', { schema: { response: { 200: exported } } }, async () => {
    const configuration = await ports.configuration.refresh();
    return { number: configuration.number, files: Object.fromEntries(writeConfigurationFolder(configuration)) };
  });
}
