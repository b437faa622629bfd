import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CacheEntry, Workplace } from '../cache/cache-entry.ts';
import { unpackDebian } from '../cache/debian.ts';
import { findProgram } from '../cache/tools.ts';
import { runWithRetries } from '../process/run-command.ts';

const MODULE = 'github.com/FerretDB/FerretDB/v2/cmd/ferretdb@v2.7.0';

/** What the go.mod of that version asks for. */
const WANTED_MINOR = 25;
/** From here on, Go can fetch a later Go for itself. */
const SELF_UPGRADING_MINOR = 21;

/** `go version go1.26.8 linux/amd64` is 26. */
export const minorOfGo = (said: string): number => Number(/go1\.(\d+)/.exec(said)?.[1] ?? 0);

type GoToUse = { readonly program: string; readonly toolchain: 'local' | 'auto' };

/** The machine's Go, or where it has none or an old one, that of a later Debian, unpacked for this one build. */
async function findGo(workplace: Workplace): Promise<GoToUse> {
  const { downloads, say } = workplace;
  const own = findProgram('go');
  if (own !== undefined) {
    const { stdout } = await promisify(execFile)(own, ['version'], { env: { ...process.env, GOTOOLCHAIN: 'local' } });
    const minor = minorOfGo(stdout);
    if (minor >= WANTED_MINOR) return { program: own, toolchain: 'local' };
    if (minor >= SELF_UPGRADING_MINOR) return { program: own, toolchain: 'auto' };
  }
  say('no recent Go here; taking that of Debian forky for this build, about 45 MB');
  const root = join(downloads, 'go-root');
  const wish = { suite: 'forky', packages: ['golang-go'], leaveOut: /^(?!golang)/ };
  await unpackDebian(workplace, wish, root);
  return { program: join(root, 'usr/lib/go/bin/go'), toolchain: 'local' };
}

/** FerretDB speaks the protocol of MongoDB and keeps its documents in PostgreSQL. Go verifies it against its public log. */
export const FERRETDB_RELEASE: CacheEntry = {
  name: 'ferretdb-2.7.0-1',
  title: 'FerretDB 2.7.0',
  async build(workplace) {
    const { downloads, out, log, say } = workplace;
    const { program, toolchain } = await findGo(workplace);
    say('building with Go, one to two minutes');
    await runWithRetries({
      command: program,
      args: ['install', MODULE],
      cwd: downloads,
      log,
      env: {
        GOBIN: out,
        GOMODCACHE: join(downloads, 'go-modules'),
        GOCACHE: join(downloads, 'go-build'),
        // Go writes its modules so that they could not be removed afterwards.
        GOFLAGS: '-modcacherw -trimpath -buildvcs=false',
        GOTOOLCHAIN: toolchain,
        GOWORK: 'off',
        CGO_ENABLED: '0',
      },
    });
  },
};

export const ferretDbProgram = (folder: string): string => join(folder, 'ferretdb');
