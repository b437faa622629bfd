import { streamFieldPage } from '@carillon/contracts';
import { streamTable } from '@carillon/domain';
import { formatInstant } from '@carillon/kernel';
import { mergeFields } from '@carillon/stages';
import type { ControlPorts } from '../ports.ts';
import { notFound, withName, type ApiServer } from './app.ts';

/** Fields that are shown of a stream: every partition keeps its own, and hostile events may name others in each. */
const MOST_SHOWN = 500;

export function streamRoutes(app: ApiServer, ports: Pick<ControlPorts, 'configuration' | 'readModels'>): void {
  /** `name` is the EVENT_PATH, its slash written as %2F, or what follows the slash. */
  app.get(
    '/v1/workspaces/:workspace/streams/:name/fields',
    {
      config: { permission: 'read', problems: ['not_found'] },
      schema: {
        operationId: 'listStreamFields',
        tags: ['Event streams'],
        summary:
          'Fields that events of a stream were seen to have; `name` is the EVENT_PATH with its slash as %2F, or what follows the slash',
        params: withName,
        response: { 200: streamFieldPage },
      },
    },
    async ({ params: { workspace, name } }) => {
      const path = name.includes('/') ? name : `${workspace}/${name}`;
      const stream = streamTable(ports.configuration.current()).streams.get(path);
      if (stream?.workspace !== workspace) throw notFound(`stream ${path} in workspace ${workspace}`);
      const fields = mergeFields(await ports.readModels.fields(path)).slice(0, MOST_SHOWN);
      return {
        items: fields.map(({ firstAt, lastAt, types, ...field }) => ({
          ...field,
          types: [...types],
          first_seen: formatInstant(firstAt),
          last_seen: formatInstant(lastAt),
        })),
        next: null,
      };
    },
  );
}
