import { parentPort } from 'node:worker_threads';
import { Engine } from 'mrml';

/** A thread in which MJML becomes HTML. Whoever watches may end it at any moment: it holds nothing. */
export type MjmlOrder = { readonly job: number; readonly source: string };
export type MjmlAnswer =
  | { readonly job: number; readonly html: string }
  | { readonly job: number; readonly problem: string }
  /** The compiler is of no use any more: its memory is not what it was. */
  | { readonly job: number; readonly broken: string };

function answer({ job, source }: MjmlOrder): MjmlAnswer {
  const engine = new Engine();
  try {
    // Files are for nobody: the compiler has none to include.
    engine.setParserOptions({ includeLoader: { type: 'noop' } });
    // A mail loads no fonts from elsewhere that its author did not name (<mj-font>): each load tells somebody who reads it.
    engine.setRenderOptions({ disableComments: false, socialIconOrigin: null, fonts: {} });
    const result = engine.toHtml(source);
    if (result.type === 'success') return { job, html: result.content };
    const { details } = result as { details?: { source?: string } };
    return { job, problem: [result.message, details?.source].filter((part) => part !== undefined).join(': ') };
  } catch (error) {
    return { job, broken: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on('message', (order: MjmlOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows, this is a thread
  parentPort?.postMessage(answer(order));
});
