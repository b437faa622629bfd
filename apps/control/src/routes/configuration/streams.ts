import { streamFieldPage } from '@carillon/contracts';
import { streamTable, tablesOf, type Configuration, type EventStream } from '@carillon/domain/configuration';
import { formatInstant, similarTo } from '@carillon/kernel';
import { mergeFields } from '@carillon/stages';
import { z } from 'zod';
import type { ControlPorts } from '../../ports.ts';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { insteadOf, placeOf, streamsOf, type NamesIn } from '../../names.ts';
import { listPaging, pageOfAll } from '../../whole-lists.ts';
import { notFound, withNameAcross, type ApiServer } from '../app.ts';

/** Fields that are shown of a stream: every partition keeps its own, and hostile events may name others in each. */
const MAX_SHOWN = 500;

const workspaceIn = (path: string): string => path.slice(0, path.indexOf('/'));
const endOf = (path: string): string => path.slice(path.indexOf('/') + 1);

/** A stream by its EVENT_PATH, or by what follows the slash where one workspace in sight alone has such a one. */
export function streamPath(
  name: string,
  sight: VisibleScope,
  configuration: Configuration,
  paths: NamesIn = streamsOf(configuration),
): string {
  if (name.includes('/')) {
    placeOf('stream', name, sight, paths);
    return name;
  }
  const ends = sight.names.filter((workspace) => paths(workspace).includes(`${workspace}/${name}`));
  const [only] = ends;
  if (only !== undefined && ends.length === 1) return `${only}/${name}`;
  const known = sight.names.flatMap(paths);
  const near = similarTo(name, known.map(endOf));
  const meant = near === null ? name : (known.find((path) => endOf(path) === near) ?? name);
  const hint =
    ends.length > 1
      ? `name its workspace: ${ends.map((one) => `${one}/${name}`).join(' or ')}`
      : insteadOf(meant, known);
  throw notFound(`stream ${name}`, hint);
}

export function streamRoutes(app: ApiServer, ports: Pick<ControlPorts, 'configuration' | 'readModels'>): void {
  /** `name` is the EVENT_PATH, its slash written as %2F, or what follows the slash. */
  app.get(
    '/v1/workspaces/:workspace/streams/:name/fields',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'listStreamFields',
        tags: ['Event streams'],
        summary:
          'Fields that events of a stream were seen to have; `name` is the EVENT_PATH with its slash as %2F, or what follows the slash',
        params: withNameAcross,
        querystring: z.strictObject(listPaging),
        response: { 200: streamFieldPage },
      },
    },
    async (request) => {
      const { name } = request.params;
      const configuration = ports.configuration.current();
      const path = streamPath(name, visibleScopeOf(request), configuration);
      const maySeeBodies = principalOf(request).may('bodies', workspaceIn(path));
      const fields = mergeFields(await ports.readModels.fields(path)).slice(0, MAX_SHOWN);
      const { rows, next } = pageOfAll(fields, (field) => field.path, request.query);
      return {
        stream: path,
        source: sourceOf(streamTable(configuration).streams.get(path)),
        items: rows.map(({ firstAt, lastAt, types, tables, sample, ...field }) => ({
          ...field,
          types: [...types],
          tables: [...tables],
          sample: maySeeBodies ? sample : null,
          first_seen: formatInstant(firstAt),
          last_seen: formatInstant(lastAt),
        })),
        next,
      };
    },
  );
}

/** Returns the database that a stream reads, with its tables. */
const sourceOf = (stream: EventStream | undefined) =>
  stream?.from
    ? {
        integration: stream.from.integration,
        tables: tablesOf(stream).map(({ without, ...table }) => ({ ...table, without: [...without] })),
      }
    : null;
