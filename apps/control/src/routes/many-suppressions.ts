import { restoredBody, suppressionCountBody, unsuppressedManyBody } from '@carillon/contracts';
import { canonicalAddress } from '@carillon/domain';
import { CarillonError } from '@carillon/kernel';
import type { Suppression, SuppressionList } from '@carillon/ports';
import { z } from 'zod';
import { principalOf } from '../access/principal.ts';
import { audited, keyedDigest } from '../audit/facts.ts';
import { showSuppression } from '../bodies.ts';
import type { ControlPorts } from '../ports.ts';
import { inWorkspace, type ApiServer } from './app.ts';
import { addressText, AT_ONCE, channelWord, noAddress, sourceWord, toldOf } from './suppressions.ts';

const one = z.strictObject({ channel: channelWord, address: addressText, source: sourceWord });
const chosen = z.strictObject({ entries: z.array(one).min(1).max(AT_ONCE) });
type Chosen = z.infer<typeof chosen>;

const kept = one.extend({
  detail: z.string().max(500).default(''),
  delivery_id: z.string().max(100).nullable().default(null),
});

/** Entries that somebody has chosen: counted, taken back, and put back as they were. */
export function manySuppressionsRoutes(
  app: ApiServer,
  ports: Pick<ControlPorts, 'suppressions' | 'clock' | 'ids'>,
): void {
  const { suppressions, clock, ids } = ports;

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
      for (const { channel, address, source } of going) {
        await suppressions.remove(workspace, channel, address, source);
      }
      return { ...counted, items: going.map(showSuppression) };
    },
  );

  app.post(
    '/v1/workspaces/:workspace/suppressions/restore',
    {
      config: { permission: 'operate', audit: 'suppression.add' },
      schema: {
        operationId: 'restoreSuppressions',
        tags: ['Suppressions'],
        summary: 'Puts back what was taken back, under the sources that it had; what is there stays as it is',
        params: inWorkspace,
        body: z.strictObject({ entries: z.array(kept).min(1).max(AT_ONCE) }),
        response: { 200: restoredBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const by = principalOf(request).name;
      const at = clock.now();
      const entries = request.body.entries.map((entry, index): Suppression => {
        const { channel, source, detail, delivery_id: deliveryId } = entry;
        const address = canonicalAddress(channel, entry.address);
        if (address !== null) return { workspace, channel, address, source, detail, deliveryId, by, at };
        throw new CarillonError('invalid_request', noAddress(channel), { pointer: `/entries/${index}/address` });
      });
      audited(request, { after: keyedDigest(ids, entries.map(toldOf)) });
      return { restored: await suppressions.addAll(entries) };
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
