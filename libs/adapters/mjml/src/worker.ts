import { parentPort } from 'node:worker_threads';
import { messageOf } from '@carillon/kernel';
import type { MjmlOptions } from 'mjml';

/** One source to compile. */
export type MjmlOrder = { readonly job: number; readonly source: string };
export type MjmlAnswer =
  | { readonly job: number; readonly html: string }
  | { readonly job: number; readonly problem: string }
  /** The thread is unusable and must be replaced. */
  | { readonly job: number; readonly broken: string };
/** Sent once, when the compiler is loaded. Limits of time count from here. */
export type MjmlReady = { readonly ready: true };

/** A folder that does not exist: mjml looks for a `.mjmlconfig` with components of its own in the working directory. */
const NO_FOLDER = '/no-folder-for-mjml';
process.cwd = () => NO_FOLDER;
const { default: mjml2html } = await import('mjml');

/** Options of one compilation. mjml adds the fonts of a source to the object that it is given. */
const newOptions = (): MjmlOptions => ({
  // mjml links fonts from Google by default, and Google then sees who reads the mail. Authors name fonts with <mj-font>.
  fonts: {},
  ignoreIncludes: true,
  useMjmlConfigOptions: false,
  // An empty path keeps mjml's parser from reading the file system.
  filePath: '',
  // The scan before the compiler checks the elements. Unknown attributes are ignored, as the command of mjml does.
  validationLevel: 'skip',
});

/**
 * Returns random numbers that are the same for each compilation. mjml draws the ids of carousels and menus by chance, and a
 * template that did not change must compile to the same HTML.
 */
function repeatableRandom(): () => number {
  let state = 0x9e3779b9;
  return () => {
    // xorshift32
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

async function compile({ job, source }: MjmlOrder): Promise<MjmlAnswer> {
  Math.random = repeatableRandom();
  try {
    const { html } = await mjml2html(source, newOptions());
    return { job, html };
  } catch (error) {
    return { job, problem: messageOf(error) };
  }
}

function send(message: MjmlAnswer | MjmlReady): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows, this is a thread
  parentPort?.postMessage(message);
}

parentPort?.on('message', (order: MjmlOrder) => void compile(order).then(send));
send({ ready: true });
