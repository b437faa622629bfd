import { CarillonError } from '@carillon/kernel';
import type { EventLoopSlice } from '@carillon/ports';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { z } from 'zod';

/** Media type of CSV in requests and responses. */
export const CSV = 'text/csv';
/** Maximum bytes of one request. A longer file is sent in parts. */
export const MAX_CSV_BYTES = 1024 * 1024;
export const MAX_CSV_ROWS = 5000;

/** Bodies of type text/csv become text. What is not UTF-8 is refused: letters of another encoding would be others. */
export function takeCsv(app: FastifyInstance): void {
  const options = { parseAs: 'buffer', bodyLimit: MAX_CSV_BYTES } as const;
  app.addContentTypeParser(CSV, options, (_request, body: Buffer, done) => {
    try {
      // The mark at the beginning is left to whoever reads rows.
      done(null, new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
    } catch {
      done(new CarillonError('invalid_request', 'the file is not UTF-8: save it as CSV UTF-8'));
    }
  });
}

export const csvBody = z
  .string(`send the file with Content-Type: ${CSV}`)
  .max(MAX_CSV_BYTES)
  .describe(`At most ${MAX_CSV_ROWS} rows and 1 MiB, in UTF-8. The first row names the columns`);

/** Query parameters of every import. */
export const importQuery = {
  first_line: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000_000)
    .default(2)
    .describe('For a part of a longer file: line number of its first data row, used in messages'),
};

/**
 * Streams rows with at most one page of them in memory. If reading fails, the connection is closed, so that a client does not
 * take part of the file for the whole. Rows are made in the async context of the request and charged to its principal.
 */
export function sendCsv(reply: FastifyReply, file: string, lines: AsyncGenerator<string>): void {
  reply
    .type(`${CSV}; charset=utf-8`)
    .header('content-disposition', `attachment; filename="${file}"`)
    .send(Readable.from(inThisContext(lines), { objectMode: false }));
}

/** Reads on in the async context of the caller, whoever asks for the next line. */
async function* inThisContext(
  lines: AsyncGenerator<string>,
  run = AsyncLocalStorage.snapshot(),
): AsyncGenerator<string> {
  try {
    for (let line = await run(() => lines.next()); !line.done; line = await run(() => lines.next())) yield line.value;
  } finally {
    await lines.return(undefined);
  }
}

/** Joins the lines of a page, and lets others have a turn between two. */
export async function joinLines<Item>(
  items: readonly Item[],
  lineOf: (item: Item) => string,
  slice: EventLoopSlice,
): Promise<string> {
  let text = '';
  for (const item of items) {
    if (slice.isExpired()) await slice.yield();
    text += lineOf(item);
  }
  return text;
}
