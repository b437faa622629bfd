/** A thread that looks at every page of a data file once, says what it found, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { lookAtPages } from './look-at-pages.ts';

const port = parentPort;
if (!port) throw new Error('internal error: this file runs only as a worker thread');
const found = lookAtPages(String(workerData));
port.postMessage(found);
