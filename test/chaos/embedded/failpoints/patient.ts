import { join } from 'node:path';
import { launchProduct, type LaunchedProduct } from '@carillon/testing';
import { createLives } from '../../failpoints/lives.ts';
import type { OpenPatient } from '../../failpoints/patient.ts';
import { comeToRest } from '../rest.ts';
import { readUnsettledBeside } from '../unsettled.ts';

/** The whole product as one process over a data folder. */
export const openEmbeddedPatient: OpenPatient = async ({ folder, env }) => {
  const dataDir = join(folder, 'data');
  const all: LaunchedProduct[] = [];
  const launch = (): LaunchedProduct => {
    const life = launchProduct({ dataDir, env });
    all.push(life);
    return life;
  };
  let life = launch();
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    await life.kill(signal);
    life = launch();
  };
  return {
    lives: createLives(() => life.ready),
    async ready() {
      await life.ready;
    },
    logs: () => new Map([['carillon up', all.map((one) => one.stderr()).join('')]]),
    async unsettled() {
      return readUnsettledBeside(dataDir);
    },
    hasTwin: () => false,
    // Nobody starts it again: then nothing is taken any more, and that is said.
    deaths: () => [],
    restart: () => end('SIGTERM'),
    killAll: () => end('SIGKILL'),
    async revive(action) {
      if (action === 'stop') process.kill(life.pid, 'SIGCONT');
      if (action !== 'kill') return;
      await life.exited;
      life = launch();
    },
    async rest(posts, patience) {
      await life.kill('SIGTERM');
      const since = Date.now();
      return comeToRest({ dataDir, launch, posts, since, ...patience });
    },
    async close() {
      await Promise.all(all.map((one) => one.kill('SIGKILL')));
    },
  };
};
