/** Loads the keys of the folder given and prints them: the tests start several of these at once. */
import { loadKeys } from '../src/index.ts';

const keys = loadKeys(process.argv[2] ?? '');
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
process.stdout.write(
  [hex(keys.ledgerKey), hex(keys.pepper), keys.masterKeys.starting().id, keys.fingerprint()].join(' '),
);
