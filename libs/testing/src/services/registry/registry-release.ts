import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CacheEntry } from '../cache/cache-entry.ts';
import { copyArtifact, verifyChecksums } from '../cache/maven.ts';
import { runCommand } from '../process/run-command.ts';

/** The last line that runs on Java 17. */
const VERSION = '2.6.13.Final';
const ARCHIVE = `apicurio-registry-app-${VERSION}-all.tar.gz`;

export const REGISTRY_RELEASE: CacheEntry = {
  name: `apicurio-registry-${VERSION}-1`,
  title: `Apicurio Registry ${VERSION}`,
  async build(workplace) {
    const { downloads, out, log, say } = workplace;
    say('downloading from Maven Central, about 145 MB');
    const arrived = join(downloads, 'archive');
    await rm(arrived, { recursive: true, force: true });
    await copyArtifact(workplace, `io.apicurio:apicurio-registry-app:${VERSION}:tar.gz:all`, arrived);
    await verifyChecksums(arrived, join(import.meta.dirname, `apicurio-registry-${VERSION}.sha256`));
    await runCommand({ command: 'tar', args: ['-xzf', join(arrived, ARCHIVE), '--no-same-owner', '-C', out], log });
  },
};

export const registryJar = (folder: string): string => join(folder, `apicurio-registry-app-${VERSION}-runner.jar`);
