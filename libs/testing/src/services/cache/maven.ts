import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runWithRetries } from '../process/run-command.ts';
import type { Workplace } from './cache-entry.ts';

const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1';

/** `group:artifact:version` */
export type Coordinates = string;

/** Maven with a repository of its own, which is what lets a broken download go on. It refuses what has a wrong checksum. */
const runMaven = ({ downloads, log }: Workplace, args: readonly string[]): Promise<void> =>
  runWithRetries({
    command: 'mvn',
    args: ['-B', '-q', '--strict-checksums', `-Dmaven.repo.local=${join(downloads, 'maven')}`, ...args],
    cwd: downloads,
    log,
  });

const dependency = (coordinates: Coordinates): string => {
  const [group = '', artifact = '', version = ''] = coordinates.split(':');
  return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
};

/** Copies the jars that these need at run time, theirs included, to `to`. */
export async function copyJars(workplace: Workplace, wanted: readonly Coordinates[], to: string): Promise<void> {
  const project = join(workplace.downloads, 'pom.xml');
  await writeFile(
    project,
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>carillon</groupId><artifactId>services</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>${wanted.map(dependency).join('\n')}</dependencies></project>\n`,
  );
  await runMaven(workplace, [
    `${PLUGIN}:copy-dependencies`,
    '-f',
    project,
    '-DincludeScope=runtime',
    `-DoutputDirectory=${to}`,
  ]);
}

/** Copies one file, given as `group:artifact:version:type:classifier`, to `to`. */
export const copyArtifact = (workplace: Workplace, artifact: string, to: string): Promise<void> =>
  runMaven(workplace, [`${PLUGIN}:copy`, `-Dartifact=${artifact}`, `-DoutputDirectory=${to}`]);

/** What `sha256sum *` prints for a folder. */
async function checksums(folder: string): Promise<string> {
  const names = (await readdir(folder)).toSorted();
  const lines = await Promise.all(
    names.map(async (name) => {
      const hash = createHash('sha256').update(await readFile(join(folder, name)));
      return `${hash.digest('hex')}  ${name}\n`;
    }),
  );
  return lines.join('');
}

/**
 * Compares a folder with the checksums in a file as `sha256sum` prints them: the same files with the same content, and
 * no other. So whoever controls a mirror cannot slip in another program.
 */
export async function verifyChecksums(folder: string, pins: string): Promise<void> {
  const found = (await checksums(folder)).split('\n');
  const wanted = (await readFile(pins, 'utf8')).split('\n');
  const unexpected = found.filter((line) => !wanted.includes(line));
  const absent = wanted.filter((line) => !found.includes(line));
  if (unexpected.length === 0 && absent.length === 0) return;
  const list = [...unexpected.map((line) => `  came    ${line}`), ...absent.map((line) => `  awaited ${line}`)];
  throw new Error(`What was downloaded is not what ${pins} pins:\n${list.slice(0, 10).join('\n')}`);
}
