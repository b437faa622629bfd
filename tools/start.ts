/** `npm start`: the portal, where its sources changed, and then the whole product with its demo in this process. */
import { main } from '../apps/cli/src/main.ts';
import { buildPortal } from './portal.ts';

await buildPortal({ say: (words) => void process.stderr.write(`${words}\n`) });
const [node = '', program = '', ...more] = process.argv;
await main([node, program, 'up', '--demo', ...more]);
