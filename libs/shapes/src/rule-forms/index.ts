import { cooldownKeys } from './cooldown.ts';
import { waitKeys } from './wait.ts';

/**
 * Keys of the forms of rules with state. They are no keys of `ruleShape` yet: files and API refuse them until the engine
 * carries them out.
 */
export const ruleFormKeys = { ...waitKeys, ...cooldownKeys };
