/**
 * `node health-check.js URL` exits with 0 if the URL returns 200 in time, else with 1 and a reason. For container
 * health checks, because our images have no curl, and a full `carillon` every few seconds would be wasteful.
 */
import { get } from 'node:http';
import { messageOf } from '@carillon/kernel';

const TIMEOUT_MS = 4_000;

const [, , url = ''] = process.argv;
process.exitCode = 1;
try {
  const asked = get(url, { timeout: TIMEOUT_MS, agent: false }, (answer) => {
    if (answer.statusCode === 200) process.exitCode = 0;
    // The response lists what is not ready, and the container engine stores it.
    answer.pipe(process.stdout);
  });
  asked.once('timeout', () => asked.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
  asked.once('error', (error) => console.error(error.message));
} catch (error) {
  console.error(`${messageOf(error)}: name the address to ask, such as http://127.0.0.1:7400/readyz`);
}
