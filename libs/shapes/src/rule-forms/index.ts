import { cooldownKeys } from './cooldown.ts';
import { waitKeys } from './wait.ts';

/** Keys of the forms of rules with state. */
export const ruleFormKeys = { ...waitKeys, ...cooldownKeys };
