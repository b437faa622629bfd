import { restoredBody, suppressionCountBody, unsuppressedManyBody } from '@carillon/contracts';
import { CarillonError } from '@carillon/kernel';
import type { Suppression, SuppressionList } from '@carillon/ports';
import { z } from 'zod';
import { audited, keyedDigest } from '../audit/facts.ts';
import { auditEach } from '../audit/hook.ts';
import type { ControlPorts } from '../ports.ts';
import { openTaken, sealTaken } from '../taken-back.ts';
import { inWorkspace, type ApiServer } from './app.ts';
import { addressText, channelWord, sourceWord, targetOf, toldOf } from './suppressions.ts';

const one = z.strictObject({ channel: channelWord, address: addressText, source: sourceWord });
/** Entries of one request. */
const MAX_ENTRIES = 1_000;

const chosen = z.strictObject({ entries: z.array(one).min(1).max(MAX_ENTRIES) });
type Chosen = z.infer<typeof chosen>;

/** Room for the longest reasons of as many entries as are taken back at once, sealed. */
const UNDO_LIMIT = 16 * 1024 * 1024;
const NOT_OURS = 'undo: it was not answered by a removal of this workspace; send the text as it came';

/** Entries that somebody has chosen: counted, taken back, and put back as they were. */
export function manySuppressionsRoutes(
  app: ApiServer,
  ports: Pick<ControlPorts, 'suppressions' | 'ids' | 'undoSealer'>,
): void {
  const { suppressions, ids } = ports;
  const target = (entry: Suppression): string => targetOf(ids, entry);

  app.post(
    '/v1/workspaces/:workspace/suppressions/count',
    {
      config: { permission: 'operate', audit: false },
      schema: {
        operationId: 'countSuppressions',
        tags: ['Suppressions'],
        summary:
          'How many of these entries are there, and how many addresses they hold back: asked before they are taken back',
        params: inWorkspace,
        body: chosen,
        response: { 200: suppressionCountBody },
      },
    },
    async ({ params: { workspace }, body }) => (await find(workspace, body, suppressions)).counted,
  );

  app.post(
    '/v1/workspaces/:workspace/suppressions/remove-many',
    {
      config: { permission: 'operate', audit: 'suppression.remove' },
      schema: {
        operationId: 'removeSuppressions',
        tags: ['Suppressions'],
        summary: 'Takes back what single sources say of many addresses',
        params: inWorkspace,
        body: chosen,
        response: { 200: unsuppressedManyBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const { going, counted } = await find(workspace, request.body, suppressions);
      audited(request, { before: keyedDigest(ids, going.map(toldOf)) });
      await auditEach(request, going, target, async (part) => {
        for (const { channel, address, source } of part) {
          await suppressions.remove(workspace, channel, address, source);
        }
      });
      return { ...counted, undo: sealTaken(ports, workspace, going) };
    },
  );

  app.post(
    '/v1/workspaces/:workspace/suppressions/restore',
    {
      config: { permission: 'operate', audit: 'suppression.add' },
      bodyLimit: UNDO_LIMIT,
      schema: {
        operationId: 'restoreSuppressions',
        tags: ['Suppressions'],
        summary: 'Puts back what was taken back, as it was; what is there stays as it is',
        params: inWorkspace,
        body: z.strictObject({ undo: z.string().describe('As a removal answered it') }),
        response: { 200: restoredBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const entries = openTaken(ports, workspace, request.body.undo);
      if (!entries) throw new CarillonError('invalid_request', NOT_OURS, { pointer: '/undo' });
      audited(request, { after: keyedDigest(ids, entries.map(toldOf)) });
      let restored = 0;
      await auditEach(request, entries, target, async (part) => {
        restored += await suppressions.addAll(part);
      });
      return { restored };
    },
  );
}

/** Names one entry of a workspace. */
const entryKey = ({ channel, source, address }: Suppression): string => `${channel} ${source} ${address}`;

/** Those of the named entries that are there, each once, and how many addresses stay held back without them. */
async function find(workspace: string, { entries }: Chosen, suppressions: SuppressionList) {
  const going = new Map<string, Suppression>();
  const sources = new Map<string, readonly Suppression[]>();
  for (const { channel, address, source } of entries) {
    const all = await suppressions.sources(workspace, channel, address);
    const entry = all.find((other) => other.source === source);
    if (!entry) continue;
    going.set(entryKey(entry), entry);
    sources.set(`${channel} ${entry.address}`, all);
  }
  const isHeld = (all: readonly Suppression[]): boolean => all.some((other) => !going.has(entryKey(other)));
  const counted = {
    removed: going.size,
    addresses: sources.size,
    still: [...sources.values()].filter(isHeld).length,
  };
  return { going: [...going.values()], counted };
}
