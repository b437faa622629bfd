import { once } from 'node:events';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startProduct } from '@carillon/testing';
import { EVENT_BYTES } from '../corpus.ts';
import type { Bench, Comparison, Side } from '../harness/bench.ts';
import { readingOf, startHttpLoad } from '../http/load.ts';
import { compareStored } from '../peers/topic.ts';
import { configure, countEmbedded, STREAM_PATH, streamFiles, type Files } from '../product.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { secondsOf } from '../warm-up.ts';

const CONNECTIONS = 64;

/** A stream and a rule that looks at each event and fires for none: each event is appended, judged and projected. */
const files: Files = {
  ...streamFiles,
  'workspaces/shop/notifications/large-order.yaml': `name: Large order
channels:
  email: { template: large-order }
rules:
  large:
    stream: orders
    when: event.status == "paid" && event.total > 1000000.0
    recipients: { from: event, to: { email: event.customer.email }, unique_id: event.order_id }
`,
  'workspaces/shop/templates/large-order/email.yaml': 'subject: Order {{ order_id }}\nfrom: Shop <shop@example.com>\n',
  'workspaces/shop/templates/large-order/email.txt': 'Order {{ order_id }}.\n',
};

/** `carillon up`, of whose new traces this part goes to a collector; null: there is none. */
function traced(name: string, ratio: number | null): Side {
  return {
    name,
    syncs: 'each commit of the writer, which takes all that waits (SQLite, WAL, synchronous = FULL)',
    async open() {
      const folder = await temporaryFolder();
      const collector = fork(fileURLToPath(new URL('../peers/collector.ts', import.meta.url)));
      const [{ port }] = (await once(collector, 'message')) as [{ port: number }];
      const env: Record<string, string> =
        ratio === null
          ? {}
          : { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, CARILLON_TRACE_RATIO: String(ratio) };
      const dataDir = `${folder.path}/data`;
      const product = await startProduct({ dataDir, cwd: folder.path, env });
      const headers = await configure(product, files);
      const load = startHttpLoad();
      const acknowledged: string[] = [];
      const refused: string[] = [];
      const url = `${product.gatewayUrl}${STREAM_PATH}`;
      return {
        processes: { carillon: product.pid, load: load.pid, collector: collector.pid ?? 0 },
        async round(round) {
          const seconds = secondsOf(round);
          const result = await load.run({ url, headers, bytes: EVENT_BYTES, load: { open: CONNECTIONS, seconds } });
          for (const id of result.acknowledged) acknowledged.push(id);
          refused.push(...Object.keys(result.refusals));
          return readingOf(result);
        },
        async verify() {
          // It sends what is left of its spans when it ends, and only then its folder can be read.
          await product.kill('SIGTERM');
          const stored = await countEmbedded(dataDir);
          collector.send('how many');
          const [{ bytes }] = (await once(collector, 'message')) as [{ bytes: number }];
          return [
            ...refused.map((what) => `requests were answered with ${what}`),
            ...compareStored(acknowledged, stored),
            ...(bytes > 0 === (ratio ?? 0) > 0 ? [] : [`the collector took ${bytes} bytes of spans`]),
          ];
        },
        async close() {
          await load.stop();
          await product.kill('SIGTERM');
          const gone = once(collector, 'exit');
          collector.disconnect();
          await gone;
          await folder.remove();
        },
      };
    },
  };
}

const OFF = 'no traces';
const above = (side: string, floor: number, goal: number): Comparison => ({
  side,
  to: OFF,
  measure: 'rate',
  wanted: 'at least',
  floor,
  goal,
});

export const tracing: Bench = {
  name: 'tracing',
  title: 'What tracing costs',
  what: `Events of ${EVENT_BYTES} bytes are posted to \`carillon up\` over ${CONNECTIONS} connections, and a rule looks at each of them. Of the traces that begin
here none, one in a hundred, or every one is recorded and sent to a collector on the same machine, which drops it. The collector's CPU
time and that of the load come off the same cores. Every event that was answered with 202 is on the log once.`,
  cases: [
    {
      title: `events over HTTP, ${CONNECTIONS} connections`,
      counted: 'events',
      delays: 'from the request to its 202',
      sides: [traced(OFF, null), traced('1 %', 0.01), traced('100 %', 1)],
      comparisons: [above('1 %', 0.97, 0.99), above('100 %', 0.8, 0.9)],
    },
  ],
};
