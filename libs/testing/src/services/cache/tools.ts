import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs that fetching or running a service needs, and the Debian package that brings each. */
export const TOOLS = {
  java: { what: 'Java 17 or newer', debianPackage: 'default-jre-headless' },
  mvn: { what: 'Maven', debianPackage: 'maven' },
  'apt-get': { what: 'apt-get (a Debian system)', debianPackage: 'apt' },
  'dpkg-deb': { what: 'dpkg-deb (a Debian system)', debianPackage: 'dpkg' },
  flock: { what: 'flock', debianPackage: 'util-linux' },
  tar: { what: 'tar', debianPackage: 'tar' },
  'debian-archive-keyring': { what: 'the keys of Debian', debianPackage: 'debian-archive-keyring' },
} as const;
/** What Kafka 4 asks for. */
const OLDEST_JAVA = 17;

export type Tool = keyof typeof TOOLS;

export const DEBIAN_KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

const mayRun = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Where a program is on the PATH, or nothing. */
export const findProgram = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(mayRun);

/** The `java` to use: that of JAVA_HOME, as Maven does it, or that of the PATH. */
export function javaProgram(): string | undefined {
  const home = process.env['JAVA_HOME'];
  const ofHome = home === undefined || home === '' ? undefined : join(home, 'bin/java');
  return ofHome !== undefined && mayRun(ofHome) ? ofHome : findProgram('java');
}

/** `openjdk version "17.0.15"` is 17, `java version "1.8.0_392"` is 8. */
export function majorOfJava(said: string): number {
  const [, first = '0', second = '0'] = /version "(\d+)(?:\.(\d+))?/.exec(said) ?? [];
  return first === '1' ? Number(second) : Number(first);
}

const recentJava = new Set<string>();

/** Asked until it is recent: a Java takes a moment to say its version, and a newer one may be installed meanwhile. */
function hasJava(): boolean {
  const java = javaProgram();
  if (java === undefined) return false;
  if (recentJava.has(java)) return true;
  const { stderr } = spawnSync(java, ['-version'], { encoding: 'utf8' });
  if (majorOfJava(stderr ?? '') < OLDEST_JAVA) return false;
  recentJava.add(java);
  return true;
}

export function hasTool(tool: Tool): boolean {
  if (tool === 'java') return hasJava();
  if (tool !== 'debian-archive-keyring') return findProgram(tool) !== undefined;
  try {
    accessSync(DEBIAN_KEYRING, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
