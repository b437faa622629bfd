import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { otherChaptersOnCluster } from './places.ts';

/* The chapters that take place on one file each time, on a cluster. */
otherChaptersOnCluster();
// Chapter 14 starts roles of its own on a cluster each time.
const chapters = readdirSync(import.meta.dirname).filter((file) => /^(?!14)\d\d-.*\.product\.test\.ts$/.test(file));
for (const file of chapters.toSorted()) await import(/* @vite-ignore */ join(import.meta.dirname, file));
