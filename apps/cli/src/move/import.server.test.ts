import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRecordCodecs } from '@carillon/contracts';
import { CHANGED_BY_OWNER, type ConfigurationRecord } from '@carillon/domain/configuration';
import { formatInstant } from '@carillon/kernel';
import { readSourceRecord } from '@carillon/stages';
import { workspaceOf } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readProcessContext } from '../process/settings.ts';
import { withDeployment, type Deployment } from './deployment.ts';
import { exportMove } from './export.ts';
import { importMove } from './import.ts';

/** More configurations than one write of an import takes. */
const COUNT = 250;
const silent = { progress: () => undefined };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-move-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function inFolder<T>(name: string, work: (deployment: Deployment) => Promise<T>): Promise<T> {
  const { settings, env } = readProcessContext({ dataDir: join(folder, name) }, {});
  return withDeployment(settings, env, work);
}

async function appendConfigurations({ backend: { log, registry }, clock }: Deployment): Promise<void> {
  const { configuration: codec } = await createRecordCodecs(registry, clock.now);
  const records = Array.from({ length: COUNT }, (_, number): ConfigurationRecord => {
    const change = { ...workspaceOf({ name: `Shop ${number}` }), based_on: number === 0 ? null : number - 1 };
    return { id: `request-${number}`, at: formatInstant(clock.now()), by: CHANGED_BY_OWNER, changes: [change] };
  });
  const where = { topic: 'carillon.config', partition: 0, key: 'configuration', headers: {} } as const;
  await log.append(records.map((record) => ({ ...where, value: codec.encode(record) })));
}

/** Numbers of the markers of a partition, in their order. */
async function markersOf({ backend: { log } }: Deployment): Promise<readonly number[]> {
  const records = await log.read('carillon.events', 0, 0, 100);
  return records.flatMap((record) => {
    const read = readSourceRecord(record, log.logId);
    return read.ok && read.value.kind === 'marker' ? [read.value.configNumber] : [];
  });
}

describe('move import', () => {
  it('appends markers of the newest configuration only, because a wait must not end by an older one', async () => {
    const file = join(folder, 'shop.move');
    await inFolder('old', async (deployment) => {
      await appendConfigurations(deployment);
      await exportMove(file, join(folder, 'old'), { ...deployment, ...silent });
    });
    cpSync(join(folder, 'old', 'keys'), join(folder, 'new', 'keys'), { recursive: true });
    const markers = await inFolder('new', async (deployment) => {
      const { added } = await importMove(file, { ...deployment, ...silent });
      expect(added.configuration).toBe(COUNT);
      return markersOf(deployment);
    });
    expect(markers).toEqual([COUNT - 1]);
  });
});
