import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, vi } from 'vitest';
import { findEngine } from '../../tools/images.ts';
import { chaptersOn, type Home } from '../walkthrough/places.ts';
import { composed, findCompose, type Composed } from './composed.ts';

/* The first chapters of the walkthrough on deploy/compose, each on a deployment that was never used. Chapter 1 looks at what `npm start` prints. */

const engine = await findEngine();
const compose = engine === null ? null : await findCompose(engine);
const CHAPTERS = /^0[2-5]-.*\.product\.test\.ts$/;
const WALKTHROUGH = join(import.meta.dirname, '../walkthrough');

// Images are built, and stores are made from nothing.
vi.setConfig({ hookTimeout: 1_800_000, testTimeout: 600_000 });

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'carillon-walkthrough-'));
const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
const work = await newFolder();
let place: Composed | undefined;
afterAll(async () => {
  await place?.leave();
  await removeFolder(work);
});

async function newHome(): Promise<Home> {
  place ??= await composed(engine ?? 'podman', compose ?? [], work);
  await place.down({ volumes: true });
  await place.up();
  const folder = await newFolder();
  return {
    place: 'cluster',
    folder,
    settings: { CARILLON_URL: 'http://127.0.0.1:7401', CARILLON_TOKEN: await place.token() },
    // Known when the demo is in.
    demoNumber: Number.NaN,
    serving: { control: 'http://127.0.0.1:7401', events: 'http://127.0.0.1:7400/events' },
    stored: () => Promise.reject(new Error('nobody looks into the volumes')),
    leave: () => removeFolder(folder),
  };
}

chaptersOn('deploy/compose', compose !== null, newHome);
const files = readdirSync(WALKTHROUGH).filter((file) => CHAPTERS.test(file));
for (const file of files.toSorted()) await import(/* @vite-ignore */ join(WALKTHROUGH, file));
