import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { untilFound } from '@carillon/testing';
import { planting, type Change } from '../../harness/planting.ts';
import type { OutsideServers } from '../outside-servers.ts';
import { SHOP_ENVIRONMENT } from '../shop.ts';
import type { FailpointCase } from './cases.ts';
import { failpointLine } from './failpoints.ts';
import type { Patient } from './patient.ts';
import { FAILPOINTS_IN_THE_PRODUCT } from './planted-failpoints.ts';

const REACHED_WITHIN = 120_000;
const ordersIn = (folder: string): string => join(folder, 'orders');

/** The environment of a product that fails where the file of orders says so, with these bugs in it. */
export const failpointEnvironment = (
  { folder, providers }: Pick<OutsideServers, 'folder' | 'providers'>,
  bugs: readonly Change[] = [],
): Readonly<Record<string, string>> => ({
  ...SHOP_ENVIRONMENT,
  ...providers.env,
  FAILPOINTS: `@${ordersIn(folder)}`,
  // Half of the time of a start is compiling.
  NODE_COMPILE_CACHE: join(folder, 'compiled'),
  ...planting([...FAILPOINTS_IN_THE_PRODUCT, ...bugs]),
});

/** Writes the order at which the product fails. A process that reads the file reads all of it or nothing. */
export async function armFailpoint(folder: string, order: string): Promise<void> {
  const file = ordersIn(folder);
  await writeFile(`${file}.new`, order);
  await rename(`${file}.new`, file);
}

/** Returns the process whose log says since `said` that it failed at the place, or null if none comes there within two minutes. */
export async function whoFailed(
  patient: Pick<Patient, 'logs'>,
  { at, action }: { readonly at: string; readonly action: FailpointCase['action'] },
  said: ReturnType<Patient['logs']>,
): Promise<string | null> {
  const line = failpointLine(at, action);
  const isNew = ([name, log]: readonly [string, string]): boolean =>
    log.slice(said.get(name)?.length ?? 0).includes(line);
  const find = (): Promise<string | undefined> => Promise.resolve([...patient.logs()].find(isNew)?.[0]);
  return untilFound(line, find, REACHED_WITHIN).catch(() => null);
}
