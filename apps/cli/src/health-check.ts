/**
 * `node health-check.js URL` ends with 0 if the address answers 200 within the time, else with 1 and a word why. For
 * container health checks: our images have no curl, and a whole `carillon` every few seconds would be wasteful.
 */
import { get } from 'node:http';
import { messageOf } from '@carillon/kernel';

const ANSWERS_WITHIN = 4_000;

const [, , url = ''] = process.argv;
process.exitCode = 1;
try {
  const asked = get(url, { timeout: ANSWERS_WITHIN, agent: false }, (answer) => {
    if (answer.statusCode === 200) process.exitCode = 0;
    // What is not ready stands in the answer; the container engine keeps it.
    answer.pipe(process.stdout);
  });
  asked.once('timeout', () => asked.destroy(new Error(`no answer within ${ANSWERS_WITHIN} ms`)));
  asked.once('error', (error) => console.error(error.message));
} catch (error) {
  console.error(`${messageOf(error)}: name the address to ask, such as http://127.0.0.1:7400/readyz`);
}
