/**
 * `node tools/bill-of-materials.ts` prints what a release is made of, as CycloneDX: the packages of npm that the program uses, in the
 * versions of the lockfile. The same checkout gives the same to the byte.
 */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '..');
const ARGUMENTS = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--omit', 'dev'];
/** A bill of thousands of packages. */
const MAX_OUTPUT = 64 * 1024 * 1024;

type Bill = { serialNumber?: string; readonly metadata: { timestamp?: string } };

/** npm gives each bill a number by chance and the time of day, both of which the format leaves open. */
export async function billOfMaterials(): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', ARGUMENTS, { cwd: root, maxBuffer: MAX_OUTPUT });
  const bill = JSON.parse(stdout) as Bill;
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  return `${JSON.stringify(bill, null, 2)}\n`;
}

if (import.meta.main) process.stdout.write(await billOfMaterials());
