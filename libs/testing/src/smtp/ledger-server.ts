import { parseArgs } from 'node:util';
import { serveLedger } from './ledger.ts';

/**
 * The ledger as a process of its own, so that it outlives the product that a crash test kills around it:
 * `node ledger-server.ts --port N --file ledger.jsonl [--latency MS] [--tempfail P] [--drop P] [--seed TEXT]`.
 * It prints one line of JSON with its port when it listens, then one with the clients' ports of the sends that are open
 * whenever one begins or ends, and ends on SIGTERM.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    file: { type: 'string' },
    latency: { type: 'string', default: '0' },
    tempfail: { type: 'string', default: '0' },
    drop: { type: 'string', default: '0' },
    seed: { type: 'string', default: 'carillon' },
  },
});
if (values.file === undefined) throw new Error('--file is missing: where should accepted messages be recorded?');

const server = await serveLedger({
  file: values.file,
  port: Number(values.port),
  latency: Number(values.latency),
  tempfail: Number(values.tempfail),
  drop: Number(values.drop),
  seed: values.seed,
  onOpen: (ports) => void process.stdout.write(`${JSON.stringify({ open: ports })}\n`),
});
process.once('SIGTERM', () => void server.stop());
process.once('SIGINT', () => void server.stop());
process.stdout.write(`${JSON.stringify({ port: server.port })}\n`);
