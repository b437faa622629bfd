/** A program of its own that asks the management API as fast as it answers, until it is ended. */
import { Agent, request } from 'node:http';
import type { ApiAttackOrders } from './api-fairness-attacks.ts';

const orders = JSON.parse(process.argv[2] ?? '{}') as ApiAttackOrders;
const CONNECTIONS = 8;
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
/** Answers by status. */
const answers: Record<string, number> = {};
let made = 0;

/** Sends one request and reads its answer to the end. A refusal with `Retry-After` is repeated at once: that is the attack. */
function ask(): Promise<void> {
  const { method, path, headers, body } = orders.requests[(made += 1) % orders.requests.length] ?? orders.requests[0];
  const url = new URL(path.replaceAll('NUMBER', String(made)), orders.control);
  return new Promise((resolve) => {
    const asked = request(url, { method, agent, headers: { authorization: `Bearer ${orders.token}`, ...headers } });
    const done = (status: string): void => {
      answers[status] = (answers[status] ?? 0) + 1;
      resolve();
    };
    asked.on('error', () => done('closed'));
    asked.on('response', (answer) => {
      answer.resume();
      answer.on('close', () => done(String(answer.statusCode)));
    });
    asked.end(body?.replaceAll('NUMBER', String(made)));
  });
}

async function keepAsking(): Promise<never> {
  for (;;) await ask();
}
for (let at = 0; at < CONNECTIONS; at += 1) void keepAsking();

process.on('message', () => process.send?.(answers));
process.on('disconnect', () => process.exit());
process.send?.('begun');
